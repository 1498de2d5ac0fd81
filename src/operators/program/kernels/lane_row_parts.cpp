#include "operators/program/kernels/lane_row_parts.hpp"

#include <algorithm>
#include <functional>

#include "operators/program/kernels/lane_streams.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

constexpr double k_least_columns_of_parts = 512;

bool is_load_of(const StageExpr& node, std::size_t buffer) {
  return node->op == StageOp::load && node->tensor.buffer == buffer;
}

/// Whether the value is NaN wherever the buffer's element is.
bool carries_nan(const StageExpr& node, std::size_t buffer) {
  switch (node->op) {
    case StageOp::load:
      return node->tensor.buffer == buffer;
    case StageOp::add:
    case StageOp::subtract:
    case StageOp::multiply:
    case StageOp::divide:
    case StageOp::minimum:
    case StageOp::maximum:
    case StageOp::negate:
    case StageOp::exp:
    case StageOp::log:
      return std::any_of(node->operands.begin(), node->operands.end(),
                         [&](const StageExpr& operand) { return carries_nan(operand, buffer); });
    default:
      return false;
  }
}

/// Whether it is the sum of exp(x - maximum) to the maximum of x.
bool sums_exponentials(const Stage& sum, const Stage& largest) {
  if (sum.op != ReduceOp::sum || sum.epilogue || sum.body->op != StageOp::exp) return false;
  const StageExpr& difference = sum.body->operands[0];
  return difference->op == StageOp::subtract && is_load_of(difference->operands[1], largest.buffer) &&
         same_expression(difference->operands[0], largest.body);
}

/// Quotients of kept elements by the sum become what `by` makes of the two.
StageExpr with_quotients(const StageExpr& body, std::size_t kept, std::size_t sum,
                         const std::function<StageExpr(const StageExpr& kept, const StageExpr& sum)>& by) {
  return rewritten(body, [&](const StageExpr& node) {
    const bool normalises =
        node->op == StageOp::divide && is_load_of(node->operands[0], kept) && is_load_of(node->operands[1], sum);
    return normalises ? by(node->operands[0], node->operands[1]) : StageExpr();
  });
}

}  // namespace

Tunable part_tunable() {
  return {"PART_COLUMNS", {256, 512, 1024, 2048}, 1024};
}

bool parts_pay(double columns, const DeviceFacts& device) {
  return columns >= k_least_columns_of_parts && !has_room_for_turns(device);
}

std::optional<Stage> map_of_parts(const std::vector<RowStage>& stages) {
  if (stages.size() != 3 || stages[0].kept) return std::nullopt;
  const Stage &largest = stages[0].stage, &sum = stages[1].stage, &map = stages[2].stage;
  const bool finds_maximum =
      largest.op == ReduceOp::maximum && !largest.epilogue && largest.body->type == StageType::real;
  if (!finds_maximum || largest.inner.size() != 1 || !sums_exponentials(sum, largest)) return std::nullopt;
  if (!carries_nan(map.body, sum.buffer)) return std::nullopt;
  if (!stages[1].kept) return map;
  const auto kept = stages[1].kept->tensor.buffer;
  Stage rest = map;
  rest.body = with_quotients(map.body, kept, sum.buffer, [](auto&&...) { return StageExpr(1.0); });
  const auto read = buffers_read(rest);
  if (read.count(kept) + read.count(sum.buffer) + read.count(largest.buffer) > 0) return std::nullopt;
  Stage changed = map;
  changed.body =
      with_quotients(map.body, kept, sum.buffer, [](auto& element, auto& factor) { return element * factor; });
  return changed;
}

}  // namespace kw
