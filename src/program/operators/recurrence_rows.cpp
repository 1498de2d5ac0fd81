// A layer of a recurrent network over the steps of sequences, behind the product that its inputs are. PyTorch has no
// function for it; program/library/recurrent.py makes its layers of it.

#include <array>

#include "program/operators/operator_table.hpp"
#include "program/operators/recurrence_mode.hpp"

namespace kw {
namespace {

tl::unexpected<Error> wrong_shapes(const OperatorCall& call) {
  return call.shape_error(
      fmt::format("{} of input {}, hidden {} and weight {}", call.shown(), argument_text(call.tensor("input").shape),
                  argument_text(call.tensor("hidden").shape), argument_text(call.tensor("weight").shape)),
      "input [sequences, steps, gates * features], hidden and cell [sequences, features], weight "
      "[gates * features, features], bias [gates * features]");
}

Result<void> recurrence_rule(OperatorCall& call) {
  const auto mode = recurrence_mode(call.text("mode"));
  if (!mode) {
    return call.value_error(fmt::format("{} with the mode '{}'", call.shown(), call.text("mode")),
                            "LSTM, GRU, RNN_TANH or RNN_RELU");
  }
  const bool has_cell = *mode == RecurrenceMode::lstm;
  if (has_cell != call.given("cell"))
    return call.value_error(fmt::format("{} of an LSTM has a cell, and of nothing else", call.shown()));
  KW_TRY_VOID(call.require_rank("input", 3, 3));
  KW_TRY_VOID(call.require_rank("hidden", 2, 2));
  KW_TRY_VOID(call.require_rank("weight", 2, 2));
  const auto& [type, shape] = call.tensor("input");
  const auto& hidden = call.tensor("hidden");
  const auto& weight = call.tensor("weight");
  const auto& features = hidden.shape[1];
  const auto* bias = call.optional_tensor("bias");
  const auto* cell = call.optional_tensor("cell");
  const bool fits = hidden.shape[0] == shape[0] && weight.shape[0] == shape[2] && weight.shape[1] == features &&
                    weight.shape[0].value() == gates_of(*mode) * features.value() &&
                    (bias == nullptr || bias->shape == Shape{weight.shape[0]}) &&
                    (cell == nullptr || cell->shape == hidden.shape);
  if (!fits) return wrong_shapes(call);
  const bool one_type = is_floating(type) && hidden.dtype == type && weight.dtype == type &&
                        (bias == nullptr || bias->dtype == type) && (cell == nullptr || cell->dtype == type);
  if (!one_type) return call.type_error(fmt::format("{} of tensors of different types", call.shown()));
  call.output(type, {shape[0], shape[1], features});
  if (has_cell) call.output(type, {shape[0], shape[1], features});
  call.as_tuple();
  return {};
}

constexpr std::array k_recurrence_rows = {
    OperatorRow{"recurrence",
                "Tensor input, Tensor hidden, Tensor weight, str mode, Tensor? bias=None, Tensor? cell=None, bool "
                "backwards=False",
                " kernelwright.recurrence", recurrence_rule},
};

}  // namespace

std::span<const OperatorRow> recurrence_rows() {
  return k_recurrence_rows;
}

}  // namespace kw
