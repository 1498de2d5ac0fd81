#include "operators/program/kernels/rising.hpp"

#include <algorithm>

namespace kw {
namespace {

bool names_result(const StageExpr& node) {
  return node->op == StageOp::result || std::ranges::any_of(node->operands, names_result);
}

bool is_positive(const StageExpr& node) {
  return node->op == StageOp::real && node->real > 0.0;
}

}  // namespace

bool rises_with_result(const StageExpr& epilogue) {
  if (!names_result(epilogue)) return true;
  if (epilogue->type != StageType::real) return false;
  const auto& operands = epilogue->operands;
  switch (epilogue->op) {
    case StageOp::result:
      return true;
    case StageOp::add:
    case StageOp::maximum:
    case StageOp::minimum:
    case StageOp::tanh:
    case StageOp::exp:
    case StageOp::atan:
    case StageOp::erf:
    case StageOp::floor:
    case StageOp::ceil:
      return std::ranges::all_of(operands, rises_with_result);
    case StageOp::subtract:
      return rises_with_result(operands[0]) && !names_result(operands[1]);
    case StageOp::multiply:
      return (rises_with_result(operands[0]) && is_positive(operands[1])) ||
             (is_positive(operands[0]) && rises_with_result(operands[1]));
    case StageOp::divide:
      return rises_with_result(operands[0]) && is_positive(operands[1]);
    default:
      return false;
  }
}

}  // namespace kw
