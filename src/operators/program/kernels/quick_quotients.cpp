#include "operators/program/kernels/quick_quotients.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "operators/program/kernels/row_pairs.hpp"

namespace kw {
namespace {

bool is_one(const StageExpr& value) {
  return value->op == StageOp::real && value->real == 1.0;
}

bool is_one_and_exponential(const StageExpr& value) {
  if (value->op != StageOp::add) return false;
  const StageExpr &a = value->operands[0], &b = value->operands[1];
  return (is_one(a) && b->op == StageOp::exp) || (is_one(b) && a->op == StageOp::exp);
}

bool is_quick_divisor(const StageExpr& value, const std::set<std::size_t>& buffers) {
  constexpr double k_least = 1e-37, k_most = 1e37;
  switch (value->op) {
    case StageOp::real:
      return std::abs(value->real) >= k_least && std::abs(value->real) <= k_most;
    case StageOp::sqrt:
    case StageOp::rsqrt:
      return true;
    case StageOp::maximum:
    case StageOp::minimum:
      return std::ranges::all_of(value->operands, [&](const StageExpr& one) { return is_quick_divisor(one, buffers); });
    case StageOp::load:
      return buffers.count(value->tensor.buffer) > 0;
    default:
      return false;
  }
}

/// Whether `stage` sums exponentials of the differences from the maximum that one of `before` is.
bool sums_exponentials(const Stage& stage, const std::vector<const Stage*>& before) {
  if (stage.kind != StageKind::reduce || stage.op != ReduceOp::sum || stage.body->op != StageOp::exp) return false;
  return !stage.epilogue &&
         std::ranges::any_of(before, [&](const Stage* one) { return row_pair(*one, stage).has_value(); });
}

}  // namespace

std::set<std::size_t> quick_divisors(const std::vector<Stage>& stages) {
  std::map<std::size_t, int> writers;  // of a part each, as of tensors one behind the other
  for (const auto& stage : stages) ++writers[stage.buffer];
  std::set<std::size_t> buffers;
  std::vector<const Stage*> maxima;
  for (const auto& stage : stages) {
    const bool reduces = stage.kind == StageKind::reduce;
    const auto& value = reduces ? stage.epilogue : stage.body;
    const bool is_whole = writers[stage.buffer] == 1 && (reduces || (stage.kind == StageKind::map && !stage.place));
    const bool is_quick = value && value->type == StageType::real && is_quick_divisor(value, buffers);
    if (is_whole && (is_quick || sums_exponentials(stage, maxima))) buffers.insert(stage.buffer);
    if (reduces && stage.op == ReduceOp::maximum) maxima.push_back(&stage);
  }
  return buffers;
}

bool is_quick_quotient(const StageNode& quotient, const std::set<std::size_t>& buffers) {
  const StageExpr &dividend = quotient.operands[0], &divisor = quotient.operands[1];
  if (dividend->op == StageOp::real && is_one_and_exponential(divisor)) return true;
  return is_quick_divisor(divisor, buffers);
}

}  // namespace kw
