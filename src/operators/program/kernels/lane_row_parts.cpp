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

/// exp(x - M) / S, of which the exponential is read from where it is kept.
bool is_quotient(const StageExpr& node, const RowStage& sum) {
  return node->op == StageOp::divide && is_load_of(node->operands[0], sum.kept->tensor.buffer) &&
         is_load_of(node->operands[1], sum.stage.buffer);
}

/// x - M - log(S).
bool is_logarithm(const StageExpr& node, const RowStage& sum) {
  if (node->op != StageOp::subtract) return false;
  const StageExpr &difference = node->operands[0], &logarithm = node->operands[1];
  return logarithm->op == StageOp::log && is_load_of(logarithm->operands[0], sum.stage.buffer) &&
         same_expression(difference, sum.stage.body->operands[0]);
}

}  // namespace

Tunable part_tunable() {
  return {"PART_COLUMNS", {256, 512, 1024, 2048}, 1024};
}

bool parts_pay(double columns, const DeviceFacts& device) {
  return columns >= k_least_columns_of_parts && !has_room_for_turns(device);
}

std::optional<RowParts> row_parts(const std::vector<RowStage>& stages, const StageExpr& kept) {
  if (stages.size() != 3 || stages[0].kept) return std::nullopt;
  const Stage& largest = stages[0].stage;
  const RowStage& sum = stages[1];
  const bool finds_maximum =
      largest.op == ReduceOp::maximum && !largest.epilogue && largest.body->type == StageType::real;
  if (!finds_maximum || largest.inner.size() != 1 || !sums_exponentials(sum.stage, largest)) return std::nullopt;
  RowParts parts{stages[2].stage, !sum.kept.has_value()};
  const auto with_results = [&](const std::function<StageExpr(const StageExpr& of_sum)>& result) {
    return rewritten(stages[2].stage.body, [&](const StageExpr& node) {
      if (!(parts.are_logarithms ? is_logarithm(node, sum) : is_quotient(node, sum))) return StageExpr();
      return result(parts.are_logarithms ? node->operands[1]->operands[0] : node->operands[1]);
    });
  };
  // What is left without them may not read what only they read.
  parts.map.body = with_results([](auto&) { return StageExpr(1.0); });
  const auto read = buffers_read(parts.map);
  if (read.count(kept->tensor.buffer) + read.count(sum.stage.buffer) + read.count(largest.buffer) > 0)
    return std::nullopt;
  parts.map.body = with_results([&](auto& of_sum) { return parts.are_logarithms ? kept + of_sum : kept * of_sum; });
  return carries_nan(parts.map.body, sum.stage.buffer) ? std::optional(parts) : std::nullopt;
}

}  // namespace kw
