// Names that a problem gives its axes and captured tensors become parameters of our kernels, whose text has names too.
#include <algorithm>
#include <cctype>
#include <string_view>

#include "codegen/kernel_helpers.hpp"
#include "language/taken_names.hpp"

namespace kw {
namespace {

/// Names between spaces that we write ourselves, beside those that stand in the files of kernels/.
constexpr std::string_view k_written =
    " "
    "K LSE O Q S V anchor apart behind attend attention attention_group batch bias chunk classify "
    "classify_group column columns counted dropped_term "
    "exchanged "
    "finish_scores "
    "first_allowed fours group_x group_y group_z groups_x groups_y groups_z lane_bias "
    "last_allowed line place "
    "lower_bound mask_mod mean merge most pack pack_group packed_row places positions row_limits_group scale score_mod "
    "part_factor part_factors part_term part_terms part_maxima part_maximum part_sum part_sums scores shift slope "
    "softmax "
    "squares "
    "stored thread_query stacks tap tiles together top upper_bound "
    "weighted_sum ";

/// t1, m2, m2_column, and types such as float16: families rather than words. So are names with an underscore in front,
/// which belong to compilers and their headers.
bool in_family(std::string_view name) {
  if (name.starts_with('_')) return true;
  constexpr std::string_view k_stems[] = {"t",    "m",    "char",  "uchar", "short", "ushort", "int",
                                          "uint", "long", "ulong", "float", "half",  "double"};
  for (const std::string_view stem : k_stems) {
    if (!name.starts_with(stem)) continue;
    const std::string_view rest = name.substr(stem.size());
    if (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0) return true;
  }
  constexpr std::string_view k_helpers[] = {"gather16_", "load16_", "lower_bound_", "upper_bound_", "cl_"};
  return std::any_of(std::begin(k_helpers), std::end(k_helpers),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::string kernel_name(const std::string& name) {
  const std::string word = " " + name + " ";
  const bool taken = is_taken_in_kernels(name) || k_written.find(word) != std::string_view::npos || in_family(name);
  // A name that ends so already moves on too, or "row" and "row_" would become one.
  const std::string_view stem = std::string_view(name).substr(0, name.find_last_not_of('_') + 1);
  const bool follows = stem.size() < name.size() && kernel_name(std::string(stem)) != stem;
  return taken || follows ? name + "_" : name;
}

}  // namespace kw
