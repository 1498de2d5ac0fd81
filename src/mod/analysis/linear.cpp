#include "mod/analysis/linear.hpp"

#include <algorithm>
#include <cstddef>

namespace kw {
namespace {

constexpr ExprId k_none = -1;

}  // namespace

LinearForms::LinearForms(ModFunction& mod, ExprBuilder& builder, ExprOp variable)
    : mod_(mod), builder_(builder), variable_(variable) {}

bool LinearForms::depends_on_variable(ExprId node) {
  extend_dependencies(mod_, depends_);
  const auto& on = depends_[node_index(node)];
  // The score belongs to one key, so what depends on it depends on the key in a way nobody knows.
  return on.score || (variable_ == ExprOp::key && on.key) || (variable_ == ExprOp::query && on.query);
}

/// Operands first, with a stack of our own: mods may be thousands of nodes deep.
std::optional<LinearForm> LinearForms::of(ExprId root) {
  std::vector<ExprId> open = {root};
  while (!open.empty()) {
    const auto id = open.back();
    done_.resize(std::max(done_.size(), node_index(id) + 1), false);
    forms_.resize(done_.size());
    const bool needs_operands = !done_[node_index(id)] && depends_on_variable(id);
    const auto before = open.size();
    if (needs_operands) {
      for (const auto arg : mod_.nodes[node_index(id)].args) {
        if (!done_[node_index(arg)]) open.push_back(arg);
      }
    }
    if (open.size() > before) continue;
    if (!done_[node_index(id)]) forms_[node_index(id)] = needs_operands ? form(id) : LinearForm{k_none, id};
    done_[node_index(id)] = true;
    open.pop_back();
  }
  return forms_[node_index(root)];
}

ExprId LinearForms::number(ScalarType type, std::int64_t value) {
  return builder_.convert(builder_.integer(value), type);
}

std::optional<LinearForm> LinearForms::form(ExprId id) {
  const ModExpr node = mod_.nodes[node_index(id)];  // a copy: building moves the nodes
  if (node.op == variable_) return LinearForm{number(node.type, 1), k_none};
  std::vector<LinearForm> args;
  for (const auto arg : node.args) {
    if (!forms_[node_index(arg)]) return std::nullopt;
    args.push_back(*forms_[node_index(arg)]);
  }
  builder_.set_place(node.where);
  switch (node.op) {
    case ExprOp::add:
      return LinearForm{sum(args[0].coefficient, args[1].coefficient), sum(args[0].rest, args[1].rest)};
    case ExprOp::subtract:
      return LinearForm{difference(args[0].coefficient, args[1].coefficient), difference(args[0].rest, args[1].rest)};
    case ExprOp::negate:
      return LinearForm{difference(k_none, args[0].coefficient), difference(k_none, args[0].rest)};
    case ExprOp::multiply:
      if (args[0].coefficient != k_none && args[1].coefficient != k_none) return std::nullopt;
      return args[1].coefficient == k_none ? scaled(ExprOp::multiply, args[0], node.args[1])
                                           : scaled(ExprOp::multiply, args[1], node.args[0]);
    case ExprOp::divide:
      if (args[1].coefficient != k_none) return std::nullopt;
      return scaled(ExprOp::divide, args[0], node.args[1]);
    case ExprOp::to_real:
      return widened(args[0]);
    case ExprOp::select:
      return chosen(node, args);
    default:
      return std::nullopt;
  }
}

ExprId LinearForms::sum(ExprId left, ExprId right) {
  if (left == k_none) return right;
  return right == k_none ? left : builder_.binary(ExprOp::add, left, right);
}

ExprId LinearForms::difference(ExprId left, ExprId right) {
  if (right == k_none) return left;
  if (left == k_none) return builder_.unary(ExprOp::negate, right);
  return builder_.binary(ExprOp::subtract, left, right);
}

LinearForm LinearForms::scaled(ExprOp op, const LinearForm& form, ExprId factor) {
  const auto part = [&](ExprId id) { return id == k_none ? k_none : builder_.binary(op, id, factor); };
  return {part(form.coefficient), part(form.rest)};
}

bool LinearForms::is_exact(const LinearForm& form) {
  extend_ranges(mod_, all_indices(), ranges_);
  const auto slope = form.coefficient == k_none ? ValueRange{} : ranges_[node_index(form.coefficient)];
  const auto rest = form.rest == k_none ? ValueRange{} : ranges_[node_index(form.rest)];
  const auto last = static_cast<double>(all_indices().tile.key.last);
  return fits_int32(std::min(slope.low * last, 0.0) + rest.low, std::max(slope.high * last, 0.0) + rest.high);
}

/// The form of an integer, as reals.
std::optional<LinearForm> LinearForms::widened(const LinearForm& form) {
  const bool integers = form.coefficient != k_none && builder_.type(form.coefficient) == ScalarType::integer;
  if (!integers || !is_exact(form)) return std::nullopt;
  const auto rest = form.rest == k_none ? k_none : builder_.unary(ExprOp::to_real, form.rest);
  return LinearForm{builder_.unary(ExprOp::to_real, form.coefficient), rest};
}

std::optional<LinearForm> LinearForms::chosen(const ModExpr& node, const std::vector<LinearForm>& args) {
  // A condition that depends on the variable makes a kink, a branch that does not makes a jump; neither is linear.
  if (depends_on_variable(node.args[0]) || args[1].coefficient == k_none || args[2].coefficient == k_none) {
    return std::nullopt;
  }
  const auto part = [&](ExprId if_true, ExprId if_false) {
    if (if_true == if_false) return if_true;
    const auto zero = number(node.type, 0);
    return builder_.select(node.args[0], if_true == k_none ? zero : if_true, if_false == k_none ? zero : if_false);
  };
  return LinearForm{part(args[1].coefficient, args[2].coefficient), part(args[1].rest, args[2].rest)};
}

std::optional<AffineInScore> affine_in_score(ModFunction& score_mod) {
  ExprBuilder builder(score_mod);
  const auto form = LinearForms(score_mod, builder, ExprOp::score).of(score_mod.root);
  if (!form) return std::nullopt;
  const auto multiplier = form->coefficient == k_none ? builder.real(0.0) : form->coefficient;
  const bool is_one = builder.is_constant(multiplier) && builder.constant_value(multiplier) == 1.0;
  return AffineInScore{is_one ? k_none : multiplier, form->rest};
}

std::optional<AffineInScore> affine_in_score(const ModFunction& score_mod) {
  auto copy = score_mod;
  const auto affine = affine_in_score(copy);
  const auto count = static_cast<ExprId>(score_mod.nodes.size());
  if (!affine || affine->multiplier >= count || affine->offset >= count) return std::nullopt;
  return affine;
}

namespace {

std::optional<LinearInIndex> linear_in(ExprOp index, ModFunction& mod, ExprId node) {
  ExprBuilder builder(mod);
  const auto type = builder.type(node);
  if (type == ScalarType::boolean) return std::nullopt;
  const auto form = LinearForms(mod, builder, index).of(node);
  if (!form) return std::nullopt;
  const auto or_zero = [&](ExprId id) { return id == k_none ? builder.convert(builder.integer(0), type) : id; };
  return LinearInIndex{or_zero(form->coefficient), or_zero(form->rest)};
}

}  // namespace

std::optional<LinearInIndex> linear_in_key(ModFunction& mod, ExprId node) {
  return linear_in(ExprOp::key, mod, node);
}

std::optional<LinearInDistance> linear_in_distance(ModFunction& mod, ExprId node) {
  const auto in_key = linear_in_key(mod, node);
  if (!in_key) return std::nullopt;
  const auto in_query = linear_in(ExprOp::query, mod, in_key->intercept);
  if (!in_query || dependencies(mod)[static_cast<std::size_t>(in_key->slope)].query) return std::nullopt;
  ExprBuilder builder(mod);
  // Equal nodes are one node, so what the forms build of -x is found again.
  const auto minus_one = builder.convert(builder.integer(-1), builder.type(in_key->slope));
  const auto is_minus = [&](ExprId a, ExprId b) {
    return builder.unary(ExprOp::negate, b) == a || builder.binary(ExprOp::multiply, minus_one, b) == a;
  };
  const bool opposite = is_minus(in_key->slope, in_query->slope) || is_minus(in_query->slope, in_key->slope);
  return opposite ? std::optional(LinearInDistance{in_query->slope, in_query->intercept}) : std::nullopt;
}

}  // namespace kw
