#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "mod/analysis/analysis.hpp"
#include "mod/analysis/row_evaluator.hpp"
#include "mod/expression/semantics.hpp"

namespace kw {
namespace {

/// A number so large that a float lacks some of its digits is the float that kernels and PyTorch make of it: where two
/// masking values cancel, what is left must not be made of the digits that only a double has.
double constant_value(const ModExpr& node) {
  constexpr double k_exact_integers = 1 << 24;
  if (node.type != ScalarType::real) return static_cast<double>(node.integer);
  const bool coarse =
      std::abs(node.real) > k_exact_integers && std::abs(node.real) <= std::numeric_limits<float>::max();
  return coarse ? static_cast<double>(static_cast<float>(node.real)) : node.real;
}

double axis_value(const ModExpr& node, const Axes& axes) {
  const auto axis = axes.find(node.name);
  KW_CHECK(axis != axes.end(), "the mod needs axis {}", node.name);
  return static_cast<double>(axis->second);
}

/// Comparisons compute on the type of their operands, everything else on its own.
ScalarType operand_type(const ModFunction& mod, const ModExpr& node) {
  const bool compares = node.op >= ExprOp::less && node.op <= ExprOp::not_equal;
  return compares ? mod.nodes[static_cast<std::size_t>(node.args[0])].type : node.type;
}

const CapturedTensor& tensor_of(const ModExpr& node, const CaptureData& captures) {
  const auto found = captures.find(node.name);
  KW_CHECK(found != captures.end(), "the mod needs the captured tensor {}", node.name);
  return found->second;
}

/// `arguments` are the values of the node's arguments.
double read_capture(const ModExpr& node, const CapturedTensor& tensor, std::span<const double> arguments) {
  if (node.op == ExprOp::gather) return tensor.element(arguments);
  return tensor.bound(node.op, arguments.first(arguments.size() - 1), arguments.back());
}

}  // namespace

double evaluate(const ModFunction& mod, const Axes& axes, const ModPoint& point, const CaptureData& captures) {
  std::vector<double> values(mod.nodes.size());
  std::vector<double> indices;
  for (std::size_t i = 0; i < mod.nodes.size(); ++i) {
    const auto& node = mod.nodes[i];
    const auto arg = [&](std::size_t k) {
      return k < node.args.size() ? values[static_cast<std::size_t>(node.args[k])] : 0.0;
    };
    switch (node.op) {
      case ExprOp::constant:
        values[i] = constant_value(node);
        break;
      case ExprOp::axis:
        values[i] = axis_value(node, axes);
        break;
      case ExprOp::score:
        values[i] = point.score;
        break;
      case ExprOp::batch:
        values[i] = static_cast<double>(point.batch);
        break;
      case ExprOp::head:
        values[i] = static_cast<double>(point.head);
        break;
      case ExprOp::query:
        values[i] = static_cast<double>(point.query);
        break;
      case ExprOp::key:
        values[i] = static_cast<double>(point.key);
        break;
      case ExprOp::gather:
      case ExprOp::lower_bound:
      case ExprOp::upper_bound:
        indices.clear();
        for (const auto id : node.args) indices.push_back(values[static_cast<std::size_t>(id)]);
        values[i] = read_capture(node, tensor_of(node, captures), indices);
        break;
      default:
        values[i] = semantics::apply(node.op, operand_type(mod, node), arg(0), arg(1), arg(2));
    }
  }
  return values[static_cast<std::size_t>(mod.root)];
}

ModRowEvaluator::ModRowEvaluator(const ModFunction& mod, const Axes& axes, const CaptureData& captures)
    : mod_(mod), captures_(captures), values_(mod.nodes.size()), fixed_(mod.nodes.size(), false) {
  for (std::size_t i = 0; i < mod.nodes.size(); ++i) {
    const auto& node = mod.nodes[i];
    if (node.op != ExprOp::constant && node.op != ExprOp::axis) continue;
    fixed_[i] = true;
    values_[i].fill(node.op == ExprOp::axis ? axis_value(node, axes) : constant_value(node));
  }
}

void ModRowEvaluator::run(const Row& row, std::int64_t first_key, std::span<double> values) {
  for (std::size_t begin = 0; begin < values.size(); begin += k_lanes) {
    const auto count = std::min<std::size_t>(k_lanes, values.size() - begin);
    run_lanes(row, first_key + static_cast<std::int64_t>(begin), values.subspan(begin, count));
  }
}

void ModRowEvaluator::run_lanes(const Row& row, std::int64_t first_key, std::span<double> values) {
  for (std::size_t i = 0; i < mod_.nodes.size(); ++i) {
    auto& lanes = values_[i];
    switch (mod_.nodes[i].op) {
      case ExprOp::constant:
      case ExprOp::axis:
        break;
      case ExprOp::score:
        std::copy(values.begin(), values.end(), lanes.begin());
        break;
      case ExprOp::batch:
        lanes.fill(static_cast<double>(row.batch));
        break;
      case ExprOp::head:
        lanes.fill(static_cast<double>(row.head));
        break;
      case ExprOp::query:
        lanes.fill(static_cast<double>(row.query));
        break;
      case ExprOp::key:
        for (std::size_t k = 0; k < lanes.size(); ++k) {
          lanes[k] = static_cast<double>(first_key + static_cast<std::int64_t>(k));
        }
        break;
      case ExprOp::gather:
      case ExprOp::lower_bound:
      case ExprOp::upper_bound:
        run_gather(i);
        break;
      default:
        run_node(i);
    }
  }
  const auto& result = values_[static_cast<std::size_t>(mod_.root)];
  std::copy_n(result.begin(), values.size(), values.begin());
}

void ModRowEvaluator::run_gather(std::size_t index) {
  const auto& node = mod_.nodes[index];
  const auto& tensor = tensor_of(node, captures_);
  std::array<double, 4> arguments{};
  KW_CHECK(node.args.size() <= arguments.size(), "a gather with {} arguments", node.args.size());
  for (std::size_t k = 0; k < values_[index].size(); ++k) {
    for (std::size_t a = 0; a < node.args.size(); ++a) {
      arguments[a] = values_[static_cast<std::size_t>(node.args[a])][k];
    }
    values_[index][k] = read_capture(node, tensor, std::span(arguments).first(node.args.size()));
  }
}

void ModRowEvaluator::run_node(std::size_t index) {
  const auto& node = mod_.nodes[index];
  const auto lanes_of = [&](std::size_t k) -> const Lanes& {
    return values_[static_cast<std::size_t>(node.args[std::min(k, node.args.size() - 1)])];
  };
  const Lanes& a = lanes_of(0);
  const Lanes& b = lanes_of(1);
  const Lanes& c = lanes_of(2);
  Lanes& out = values_[index];
  semantics::with_function(node.op, operand_type(mod_, node), [&](auto function) {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = function(a[k], b[k], c[k]);
  });
}

}  // namespace kw
