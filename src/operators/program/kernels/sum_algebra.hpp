#pragma once
// What rules about sums of sums of products share (exchange_sums.hpp, pool_products.hpp).

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "program/stages/rewrite.hpp"
#include "program/stages/stage.hpp"

namespace kw {

/// Whether an epilogue's value names what was reduced.
[[nodiscard]] bool has_result(const StageExpr& node);

/// The sum of `count` values of an expression that is linear in the result, where the result is then their sum. Absent
/// where it is not linear.
[[nodiscard]] std::optional<StageExpr> sum_of_linear_in_result(const StageExpr& node, const StageExpr& count);
/// `outer` with `inner` in the place of its result; `inner` where there is no outer one.
[[nodiscard]] StageExpr with_result(const StageExpr& outer, const StageExpr& inner);

/// A sum of reals, whatever its guards are.
[[nodiscard]] bool is_real_sum(const Stage& stage);
/// The body's factors where it is a product of two elements of tensors.
struct TwoFactors {
  StageExpr first, second;
};
[[nodiscard]] std::optional<TwoFactors> two_factors(const Stage& stage);

/// The one element of the buffer that an expression reads; absent where it reads none, or several.
[[nodiscard]] StageExpr only_element(const StageExpr& expression, std::size_t buffer);
/// Whether what follows the reduction reads the buffer.
[[nodiscard]] bool epilogue_reads(const Stage& stage, std::size_t buffer);
/// `by` in the place of each element of the buffer.
[[nodiscard]] StageExpr with_elements(const StageExpr& expression, std::size_t buffer, const StageExpr& by);

[[nodiscard]] const StageAxis* axis_named(const StageAxes& axes, const std::string& name);
[[nodiscard]] bool have_common(const std::set<std::string>& a, const std::set<std::string>& b);
/// Gives axes of `inner` names that no axis of `axes` has; the result has them by the old names.
[[nodiscard]] AxisValues with_free_names(StageAxes& inner, const StageAxes& axes);
/// The only stage that reads the buffer.
[[nodiscard]] std::optional<std::size_t> only_reader(const StageProgram& program, std::size_t buffer);

/// Where a rule has rewritten two stages: names of buffers.
struct RewrittenPair {
  std::string between;  ///< what the first stage gave and the second one read
  std::string result;   ///< of the second one
};
/// Offers a rule every stage whose scratch buffer one other stage alone reads, and that reader. The rule says whether
/// it has rewritten the two.
[[nodiscard]] std::vector<RewrittenPair> rewrite_pairs(StageProgram& program,
                                                       bool (*rule)(StageProgram& program, std::size_t first,
                                                                    std::size_t second));

}  // namespace kw
