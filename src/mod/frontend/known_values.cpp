// Values that follow from fixed extents, and what a mod promises of the others.

#include <algorithm>
#include <utility>

#include "mod/expression/semantics.hpp"
#include "mod/frontend/tracer.hpp"

namespace kw {
namespace {

constexpr std::size_t k_most_assertions = 64;

}  // namespace

std::optional<double> ModTracer::known(ExprId id) {
  while (known_.size() < builder_.count()) {
    const auto& node = builder_.node(static_cast<ExprId>(known_.size()));
    std::optional<double> value;
    const bool reads = node.op == ExprOp::gather || node.op == ExprOp::lower_bound || node.op == ExprOp::upper_bound;
    if (node.op == ExprOp::constant) {
      value = builder_.constant_value(static_cast<ExprId>(known_.size()));
    } else if (node.op == ExprOp::axis) {
      const auto fixed = problem_.fixed_axes.find(node.name);
      if (fixed != problem_.fixed_axes.end()) value = static_cast<double>(fixed->second);
    } else if (!node.args.empty() && !reads) {
      double operands[3] = {};
      const bool all = std::all_of(node.args.begin(), node.args.end(),
                                   [&](ExprId arg) { return known_[node_index(arg)].has_value(); });
      for (std::size_t i = 0; all && i < node.args.size(); ++i) operands[i] = *known_[node_index(node.args[i])];
      if (all) value = semantics::apply(node.op, node.type, operands[0], operands[1], operands[2]);
    }
    known_.push_back(value);
  }
  return known_[node_index(id)];
}

Result<void> ModTracer::promise(ExprId condition, std::string text, const SourcePlace& where) {
  builder_.set_place(where);
  const auto root = builder_.convert(condition, ScalarType::boolean);
  if (!promised_.insert(root).second) return {};
  if (promised_.size() > k_most_assertions) {
    return fail_at(errc::mod_limit, where, fmt::format("more than {} asserts on axes", k_most_assertions));
  }
  ModFunction part;
  part.nodes = mod_.nodes;
  part.root = root;
  mod_.assertions.push_back({in_normal_order(part).nodes, std::move(text)});
  return {};
}

}  // namespace kw
