#pragma once
// From the Python text of a FlexAttention mod to its typed expression. Accepts the subset listed in docs/formats.md;
// everything outside is refused by name, with line, column and what to write instead. Never executes anything.

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "mod/expression/expr.hpp"
#include "python/errors.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode mod_unknown_name{"mod.unknown_name"};  ///< a name nobody defined
inline constexpr ErrorCode mod_type{"mod.type"};                  ///< operands or result of the wrong type
inline constexpr ErrorCode mod_signature{"mod.signature"};        ///< wrong number of parameters for its role
}  // namespace errc

enum class ModRole : std::uint8_t { score_mod, mask_mod };

/// What free names in a mod may refer to.
struct ModScope {
  std::map<std::string, std::variant<std::int64_t, double>, std::less<>> constants;  ///< the problem's [constants]
  std::vector<std::string> axes;                                                     ///< become ExprOp::axis
  std::vector<ModCapture> captures = {};                                             ///< become ExprOp::gather
  Axes fixed_axes = {};  ///< extents that are the same in every workload: Python code may use the numbers
  /// Of `axes`, those that the operator brings and nobody declared for the mod: what a file assigns to such a name
  /// wins.
  std::vector<std::string> implied_axes = {};
};

class ModuleFiles;

/// Limits on hostile input: 64 KiB of text, 200 levels of nesting, 10,000 expression nodes. `beside` as in
/// parse_mod_file (file.hpp).
[[nodiscard]] Result<ModFunction> parse_mod(std::string_view text, ModRole role, const ModScope& scope,
                                            ModuleFiles* beside = nullptr);

/// A function of up to four indices, such as "lambda i, j: i >= j", for the elements of a tensor. The parameters become
/// the leaves batch, head, query and key in this order. The result has the type the text gives it.
[[nodiscard]] Result<ModFunction> parse_formula(std::string_view text, std::size_t parameters, const ModScope& scope);

}  // namespace kw
