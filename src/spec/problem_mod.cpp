#include "spec/problem_mod.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "spec/mod_file.hpp"
#include "spec/problem_reader.hpp"

namespace kw {
namespace {

/// What a problem's name may hold of a function's: "<lambda>" becomes "lambda".
std::string as_name(const std::string& function) {
  std::string name;
  std::copy_if(function.begin(), function.end(), std::back_inserter(name), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return name;
}

}  // namespace

Result<Problem> with_mod(Problem problem, std::string_view module_text, const std::string& file,
                         std::string_view wanted) {
  auto* attention = std::get_if<AttentionSpec>(&problem.detail);
  if (attention == nullptr) {
    return fail(Error{errc::problem_unknown_op, fmt::format("operator {} takes no mods", problem.op),
                      "choose a problem of operator attention, such as attention/full"});
  }
  auto found = parse_mod_file(module_text, wanted, mod_scope(problem));
  if (!found) {
    auto error = std::move(found).error();
    if (error.where.file.empty()) error.where.file = file;
    return with_context(std::move(error), fmt::format("reading {} from {}", wanted, file));
  }
  problem.name += "." + as_name(found->function.name);
  (found->role == ModRole::score_mod ? attention->score_mod : attention->mask_mod) = std::move(found->function);
  return problem;
}

}  // namespace kw
