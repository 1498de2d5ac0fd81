// Activation functions of torch.nn.functional, written out in the operations there are.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mod/frontend/call_table.hpp"

namespace kw {
namespace {

using Site = CallSite;
using Value = Result<ModValue>;

/// Shorthand for formulas of floats.
class Formula {
 public:
  explicit Formula(Site& site) : builder_(site.tracer.builder()) {}
  ExprId number(double value) { return builder_.real(value); }
  ExprId add(ExprId a, ExprId b) { return builder_.binary(ExprOp::add, a, b); }
  ExprId times(ExprId a, ExprId b) { return builder_.binary(ExprOp::multiply, a, b); }
  ExprId times(double a, ExprId b) { return times(number(a), b); }
  ExprId of(ExprOp op, ExprId a) { return builder_.unary(op, a); }
  ExprId within(ExprId a, double low, double high) {
    const auto raised = builder_.binary(ExprOp::maximum, a, number(low));
    return builder_.binary(ExprOp::minimum, raised, number(high));
  }
  ExprId where_positive(ExprId a, ExprId positive, ExprId otherwise) {
    return builder_.select(builder_.binary(ExprOp::greater, a, number(0.0)), positive, otherwise);
  }

 private:
  ExprBuilder& builder_;
};

Value relu(Site& site) {
  KW_TRY(const auto node, site.node(0));
  auto& builder = site.tracer.builder();
  const auto type = std::max(builder.type(node), ScalarType::integer);
  const auto zero = builder.convert(builder.integer(0), type);
  return node_value(builder.binary(ExprOp::maximum, builder.convert(node, type), zero));
}

Value silu(Site& site) {
  KW_TRY(const auto x, site.real(0));
  Formula f(site);
  return node_value(f.times(x, f.of(ExprOp::sigmoid, x)));
}

Value gelu(Site& site) {
  KW_TRY(const auto x, site.real(0));
  Formula f(site);
  const auto* form = site.arguments[1].as<std::string>();
  if (site.arguments[1].is_none() || (form != nullptr && *form == "none")) {
    const auto area = f.of(ExprOp::erf, f.times(1.0 / std::numbers::sqrt2, x));
    return node_value(f.times(f.times(0.5, x), f.add(f.number(1.0), area)));
  }
  if (form == nullptr || *form != "tanh") {
    return site.error(errc::mod_unsupported, fmt::format("{} has no such approximation", site.shown),
                      "write approximate=\"none\" or approximate=\"tanh\"");
  }
  const double scale = std::sqrt(2.0 / std::numbers::pi);
  const auto cube = f.times(x, f.times(x, x));
  const auto inner = f.times(scale, f.add(x, f.times(0.044715, cube)));
  return node_value(f.times(f.times(0.5, x), f.add(f.number(1.0), f.of(ExprOp::tanh, inner))));
}

Value leaky_relu(Site& site) {
  KW_TRY(const auto x, site.real(0));
  KW_TRY(const double slope, site.number(1, 0.01));
  Formula f(site);
  return node_value(f.where_positive(x, x, f.times(slope, x)));
}

Value elu(Site& site) {
  KW_TRY(const auto x, site.real(0));
  KW_TRY(const double alpha, site.number(1, 1.0));
  Formula f(site);
  const auto below = f.times(alpha, f.add(f.of(ExprOp::exp, x), f.number(-1.0)));
  return node_value(f.where_positive(x, x, below));
}

/// log(1 + exp(beta x)) / beta, and x where that is so near to it that exp might overflow.
Value softplus(Site& site) {
  KW_TRY(const auto x, site.real(0));
  KW_TRY(const double beta, site.number(1, 1.0));
  KW_TRY(const double threshold, site.number(2, 20.0));
  if (beta == 0.0) return site.error(errc::mod_type, fmt::format("'beta' of {} is 0", site.shown));
  Formula f(site);
  const auto grown = f.times(beta, x);
  const auto soft = f.of(ExprOp::log, f.add(f.number(1.0), f.of(ExprOp::exp, grown)));
  const auto beyond = f.add(grown, f.number(-threshold));
  return node_value(f.where_positive(beyond, x, f.times(1.0 / beta, soft)));
}

Value hardtanh(Site& site) {
  KW_TRY(const auto x, site.real(0));
  KW_TRY(const double low, site.number(1, -1.0));
  KW_TRY(const double high, site.number(2, 1.0));
  return node_value(Formula(site).within(x, low, high));
}

Value relu6(Site& site) {
  KW_TRY(const auto x, site.real(0));
  return node_value(Formula(site).within(x, 0.0, 6.0));
}

Value hardsigmoid(Site& site) {
  KW_TRY(const auto x, site.real(0));
  Formula f(site);
  return node_value(f.within(f.add(f.times(1.0 / 6.0, x), f.number(0.5)), 0.0, 1.0));
}

Value softsign(Site& site) {
  KW_TRY(const auto x, site.real(0));
  auto& builder = site.tracer.builder();
  Formula f(site);
  return node_value(builder.binary(ExprOp::divide, x, f.add(f.number(1.0), f.of(ExprOp::absolute, x))));
}

constexpr CallRow k_activation_rows[] = {
    {"torch.relu", "input", relu},
    {"torch.relu6", "input", relu6},
    {"torch.silu", "input", silu},
    {"torch.gelu", "input approximate?", gelu},
    {"torch.leaky_relu", "input negative_slope?", leaky_relu},
    {"torch.elu", "input alpha?", elu},
    {"torch.softplus", "input beta? threshold?", softplus},
    {"torch.softsign", "input", softsign},
    {"torch.hardtanh", "input min_val? max_val?", hardtanh},
    {"torch.hardsigmoid", "input", hardsigmoid},
};

}  // namespace

std::span<const CallRow> activation_rows() {
  return k_activation_rows;
}

}  // namespace kw
