// Losses: a value per element or per row, then the reduction that the user chose.

#include <array>

#include "program/operators/operator_table.hpp"

namespace kw {
namespace {

Result<void> reduce_loss(OperatorCall& call, ElementType type, Shape shape) {
  const auto& reduction = call.text("reduction");
  if (reduction == "mean" || reduction == "sum" || (reduction == "batchmean" && call.node().op == "kl_div")) {
    call.output(type, {});
  } else if (reduction == "none") {
    call.output(type, std::move(shape));
  } else {
    return call.value_error(fmt::format("reduction '{}' of {}", reduction, call.shown()),
                            "write 'mean', 'sum' or 'none'");
  }
  return {};
}

/// One value per element of what the operands broadcast to.
Result<void> pointwise_loss(OperatorCall& call, std::initializer_list<const char*> names) {
  Shape shape;
  for (const auto* name : names) {
    const auto* type = call.optional_tensor(name);
    if (type == nullptr) continue;
    KW_TRY(shape, broadcast(shape, type->shape));
  }
  return reduce_loss(call, as_float(call.tensor(*names.begin()).dtype), std::move(shape));
}

Result<void> pair_loss_rule(OperatorCall& call) {
  return pointwise_loss(call, {"input", "target"});
}

Result<void> weighted_pair_loss_rule(OperatorCall& call) {
  return pointwise_loss(call, {"input", "target", "weight"});
}

Result<void> variance_loss_rule(OperatorCall& call) {
  return pointwise_loss(call, {"input", "target", "var"});
}

Result<void> ranking_loss_rule(OperatorCall& call) {
  return pointwise_loss(call, {"input1", "input2", "target"});
}

Result<void> cosine_loss_rule(OperatorCall& call) {
  KW_TRY_VOID(call.require_rank("input1", 1, 2));
  const auto& shape = call.tensor("input1").shape;
  return reduce_loss(call, call.tensor("input1").dtype, Shape(shape.begin(), shape.end() - 1));
}

Result<void> triplet_rule(OperatorCall& call) {
  Shape shape;
  for (const auto* name : {"anchor", "positive", "negative"}) {
    KW_TRY(shape, broadcast(shape, call.tensor(name).shape));
  }
  if (!shape.empty()) shape.pop_back();
  return reduce_loss(call, as_float(call.tensor("anchor").dtype), std::move(shape));
}

/// [N, C, ...] against classes of [N, ...], or against probabilities of the same shape.
Result<void> class_loss_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  const auto& target = call.tensor("target");
  KW_TRY_VOID(call.require_rank("input", 1, 16));
  Shape rows = input.shape;
  const auto class_axis = static_cast<std::ptrdiff_t>(input.shape.size() > 1 ? 1 : 0);
  rows.erase(rows.begin() + class_axis);
  const bool probabilities = is_floating(target.dtype) && call.node().op == "cross_entropy";
  const bool fits =
      probabilities ? target.shape == input.shape : target.shape == rows && category_of(target.dtype) == 1;
  if (!fits) {
    return call.shape_error(fmt::format("{} of {} with a target of {} ({})", call.shown(), argument_text(input.shape),
                                        argument_text(target.shape), to_string(target.dtype)),
                            "give class numbers (int64) of the same shape without axis 1");
  }
  return reduce_loss(call, as_float(input.dtype), std::move(rows));
}

constexpr std::string_view k_pair_loss = "Tensor input, Tensor target, str reduction='mean'";

constexpr std::array k_loss_rows = {
    OperatorRow{"mse_loss", k_pair_loss, "f", pair_loss_rule},
    OperatorRow{"l1_loss", k_pair_loss, "f", pair_loss_rule},
    OperatorRow{"smooth_l1_loss", "Tensor input, Tensor target, str reduction='mean', float beta=1.0", "f",
                pair_loss_rule},
    OperatorRow{"huber_loss", "Tensor input, Tensor target, str reduction='mean', float delta=1.0", "f",
                pair_loss_rule},
    OperatorRow{"kl_div", "Tensor input, Tensor target, str reduction='mean', bool log_target=False", "f",
                pair_loss_rule},
    OperatorRow{"soft_margin_loss", k_pair_loss, "f", pair_loss_rule},
    OperatorRow{
        "poisson_nll_loss",
        "Tensor input, Tensor target, bool log_input=True, bool full=False, float eps=1e-08, str reduction='mean'", "f",
        pair_loss_rule},
    OperatorRow{"gaussian_nll_loss",
                "Tensor input, Tensor target, Tensor var, bool full=False, float eps=1e-06, str reduction='mean'", "f",
                variance_loss_rule},
    OperatorRow{"hinge_embedding_loss", "Tensor input, Tensor target, float margin=1.0, str reduction='mean'", "f",
                pair_loss_rule},
    OperatorRow{"binary_cross_entropy", "Tensor input, Tensor target, Tensor? weight=None, str reduction='mean'", "f",
                weighted_pair_loss_rule},
    OperatorRow{"binary_cross_entropy_with_logits",
                "Tensor input, Tensor target, Tensor? weight=None, str reduction='mean', Tensor? pos_weight=None", "f",
                weighted_pair_loss_rule},
    OperatorRow{"cross_entropy",
                "Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean', float "
                "label_smoothing=0.0",
                "f", class_loss_rule},
    OperatorRow{"nll_loss",
                "Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean'", "f",
                class_loss_rule},
    OperatorRow{"margin_ranking_loss",
                "Tensor input1, Tensor input2, Tensor target, float margin=0.0, str reduction='mean'", "f",
                ranking_loss_rule},
    OperatorRow{"cosine_embedding_loss",
                "Tensor input1, Tensor input2, Tensor target, float margin=0.0, str reduction='mean'", "f",
                cosine_loss_rule},
    OperatorRow{"triplet_margin_loss",
                "Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float eps=1e-06, bool "
                "swap=False, str reduction='mean'",
                "f", triplet_rule},
};

constexpr std::array k_refused_operators = {
    RefusedOperator{"torch.nonzero", "the size of its result depends on values",
                    "use torch.where with three arguments"},
    RefusedOperator{"Tensor.nonzero", "the size of its result depends on values",
                    "use torch.where with three arguments"},
    RefusedOperator{"torch.masked_select", "the size of its result depends on values", "use torch.where(mask, x, 0.0)"},
    RefusedOperator{"Tensor.masked_select", "the size of its result depends on values",
                    "use torch.where(mask, x, 0.0)"},
    RefusedOperator{"torch.unique", "the size of its result depends on values", "leave it out of forward()"},
    RefusedOperator{"Tensor.unique", "the size of its result depends on values", "leave it out of forward()"},
    RefusedOperator{"Tensor.item", "a number that depends on values cannot be known before the module runs",
                    "keep it a tensor"},
    RefusedOperator{"Tensor.tolist", "numbers that depend on values cannot be known before the module runs",
                    "keep them a tensor"},
    RefusedOperator{"Tensor.numpy", "NumPy is not read", "use torch functions"},
    RefusedOperator{"Tensor.backward", "gradients are not read", "describe the backward pass as a module of its own"},
    RefusedOperator{"torch.nn.functional.multi_head_attention_forward", "it is not read",
                    "use projections by nn.Linear and F.scaled_dot_product_attention"},
    RefusedOperator{"torch.nn.functional.ctc_loss", "it is not read", "use another loss"},
    RefusedOperator{"torch.fft.fft", "Fourier transforms are not read",
                    "use a matrix product with the transform's matrix"},
    RefusedOperator{"torch.fft.rfft", "Fourier transforms are not read",
                    "use a matrix product with the transform's matrix"},
    RefusedOperator{"torch.linalg.inv", "solving is not read", "leave it out of forward()"},
    RefusedOperator{"Tensor.uniform_", "it gives random values", "read it with --mode eval, if it drops something out"},
    RefusedOperator{"Tensor.normal_", "it gives random values", "read it with --mode eval, if it drops something out"},
    RefusedOperator{"Tensor.bernoulli_", "it gives random values",
                    "read it with --mode eval, if it drops something out"},
    RefusedOperator{"torch.bernoulli", "it gives random values", "use nn.Dropout, read with --mode eval"},
    RefusedOperator{"torch.multinomial", "it gives random values", "leave it out of forward()"},
};

}  // namespace

std::span<const OperatorRow> loss_rows() {
  return k_loss_rows;
}

std::span<const RefusedOperator> refused_operators() {
  return k_refused_operators;
}

}  // namespace kw
