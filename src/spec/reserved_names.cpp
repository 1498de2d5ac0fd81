#include "spec/reserved_names.hpp"

#include <algorithm>

#include "spec/problem.hpp"

namespace kw {
namespace {

constexpr std::size_t k_longest = 40;

// Each name between spaces.
constexpr std::string_view k_opencl =
    " atomic_int auto bool break case char const constant continue default do double else enum event_t extern false "
    "float for generic global goto half if inline int kernel local long main pipe private ptrdiff_t read_only "
    "read_write register restrict return short signed size_t sizeof static struct switch true typedef uchar uint ulong "
    "uniform union unsigned ushort void volatile while write_only "
    // Functions and macros that generated code calls.
    "INFINITY NAN abs barrier ceil clamp cos dot erf exp exp2 fabs floor fma fmax fmin fmod log log2 mad max min pow "
    "printf round rsqrt select sign sin sqrt tanh ";
constexpr std::string_view k_python =
    " F False None True and as assert async await class def del elif except finally from functools import in is lambda "
    "math nonlocal not or pass raise torch try with yield ";
constexpr std::string_view k_bundles =
    " ceil_div compute_units l1_cache_bytes l2_cache_bytes max_block_items round_up shared shared_bytes_per_block "
    "vector_floats ";
// Operands, axes, parameters of mods; macros, tunables and scratch buffers of the bundles we generate.
constexpr std::string_view k_kernels =
    " B BLOCK_KV D Dv HEAD_DIM Hkv Hq K LSE O PANELS Q ROWS ROW_TILES S Skv Sq UNROLL_D UNROLL_EXP UNROLL_KV V "
    "VALUE_DIM VALUE_TILE b batch block_map h head key kv_idx mask_mod packed_keys packed_values q_idx query score "
    "score_mod ";
constexpr std::string_view k_lists[] = {k_opencl, k_python, k_bundles, k_kernels};

bool is_reserved(std::string_view name) {
  const auto word = fmt::format(" {} ", name);
  return std::any_of(std::begin(k_lists), std::end(k_lists),
                     [&](std::string_view list) { return list.find(word) != std::string_view::npos; });
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "t12" and "float4": generated temporaries and OpenCL's vectors and conversions are named like this.
bool is_letters_then_digits(std::string_view name) {
  const auto last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == name.size()) return false;
  const auto stem = name.substr(0, last + 1);
  return stem.size() <= 2 || is_reserved(stem);
}

}  // namespace

Result<void> check_own_name(std::string_view name, NamedThing thing) {
  const bool axis = thing == NamedThing::axis;
  const bool first = !name.empty() && (axis ? is_letter(name.front()) : name.front() >= 'a' && name.front() <= 'z');
  const bool rest =
      std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
  if (!first || !rest || name.size() > k_longest) {
    return fail(Error{errc::problem_value,
                      fmt::format("'{}' cannot be the name of a{}", name, axis ? "n axis" : " tensor"),
                      fmt::format("start with a {}letter and use at most {} letters, digits and '_'",
                                  axis ? "" : "small ", k_longest)});
  }
  if (!is_reserved(name) && !is_letters_then_digits(name)) return {};
  return fail(Error{errc::problem_value, fmt::format("'{}' already means something in kernels", name),
                    axis ? "choose another name, such as Documents" : "choose another name, such as document_id"});
}

}  // namespace kw
