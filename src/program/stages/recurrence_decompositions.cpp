// Recurrent layers: the stages of one step, which read what the step before left. See
// program/operators/recurrence_mode.hpp for the formulas.

#include <array>

#include "program/operators/recurrence_mode.hpp"
#include "program/stages/decomposition_table.hpp"
#include "program/stages/formulas.hpp"

namespace kw {
namespace {

class RecurrentStep {
 public:
  explicit RecurrentStep(Decomposition& d)
      : d_(d),
        mode_(recurrence_mode(d.text("mode")).value()),
        states_(named_axes(d.result().shape, {"sequence", "step", "feature"})),
        gates_(named_axes(d.tensor("input").type.shape, {"sequence", "step", "gate"})),
        hidden_(d.declare(to_output(), states_, StageType::real)) {}

  void add() {
    switch (mode_) {
      case RecurrenceMode::rnn_tanh:
      case RecurrenceMode::rnn_relu:
        return add_rnn();
      case RecurrenceMode::gru:
        return add_gru();
      case RecurrenceMode::lstm:
        return add_lstm();
    }
  }

 private:
  /// weight @ h + bias for an element of `axes`, with the last of them as the row.
  Stage product(const StageAxes& axes) {
    const auto row = axis_index(axes.back().name);
    Stage stage = step(axes);
    stage.inner = {{"k", states_.back().extent}};
    stage.body = before("hidden", hidden_, axis_index("k")) * load(d_.tensor("weight"), {row, axis_index("k")});
    auto sum = reduction_result(StageType::real);
    stage.epilogue = d_.given("bias") ? sum + load(d_.tensor("bias"), {row}) : sum;
    return stage;
  }

  void add_rnn() {
    Stage stage = product(states_);
    const auto sum = stage.epilogue + read(d_.tensor("input"), states_);
    stage.epilogue = mode_ == RecurrenceMode::rnn_tanh ? apply(StageOp::tanh, sum) : maximum(sum, 0.0);
    d_.define(hidden_, std::move(stage));
  }

  void add_gru() {
    const auto products = d_.declare(to_scratch("products"), gates_, StageType::real);
    d_.define(products, product(gates_));
    const auto reset = logistic(input(0) + gate(products, 0));
    const auto update = logistic(input(1) + gate(products, 1));
    const auto fresh = apply(StageOp::tanh, input(2) + reset * gate(products, 2));
    Stage stage = step(states_);
    stage.body = (1.0 - update) * fresh + update * before("hidden", hidden_, axis_index("feature"));
    d_.define(hidden_, std::move(stage));
  }

  void add_lstm() {
    const auto sums = d_.declare(to_scratch("sums"), gates_, StageType::real);
    Stage all = product(gates_);
    all.epilogue = all.epilogue + read(d_.tensor("input"), gates_);
    d_.define(sums, std::move(all));
    const auto cell = d_.declare(to_output(1), states_, StageType::real);
    Stage stage = step(states_);
    stage.body = logistic(gate(sums, 1)) * before("cell", cell, axis_index("feature")) +
                 logistic(gate(sums, 0)) * apply(StageOp::tanh, gate(sums, 2));
    d_.define(cell, stage);
    stage.body = logistic(gate(sums, 3)) * apply(StageOp::tanh, load(cell, indices_of(states_)));
    d_.define(hidden_, std::move(stage));
  }

  [[nodiscard]] Stage step(const StageAxes& axes) const {
    Stage stage;
    stage.kind = StageKind::step;
    stage.axes = axes;
    stage.backwards = d_.flag("backwards");
    return stage;
  }

  /// A feature of the state behind the step before; at the first step of the one that the layer is given.
  [[nodiscard]] StageExpr before(const char* given, const TensorView& state, const StageExpr& feature) const {
    const auto sequence = axis_index("sequence");
    const auto at = axis_index("step");
    const bool backwards = d_.flag("backwards");
    const auto first = backwards ? StageExpr(states_[1].extent) - 1 : StageExpr(0);
    return select(at == first, load(d_.tensor(given), {sequence, feature}),
                  load(state, {sequence, backwards ? at + 1 : at - 1, feature}));
  }

  /// Of the gate of that number, in a tensor with all gates side by side.
  [[nodiscard]] StageExpr gate(const TensorView& tensor, int number) const {
    const auto feature = axis_index("feature");
    const auto row = number == 0 ? feature : StageExpr(number) * StageExpr(states_.back().extent) + feature;
    return load(tensor, {axis_index("sequence"), axis_index("step"), row});
  }
  [[nodiscard]] StageExpr input(int number) const { return gate(d_.tensor("input"), number); }

  Decomposition& d_;
  RecurrenceMode mode_;
  StageAxes states_;
  StageAxes gates_;
  TensorView hidden_;
};

Result<void> recurrence(Decomposition& d) {
  RecurrentStep(d).add();
  return {};
}

constexpr std::array k_recurrence_decompositions = {DecompositionRow{"recurrence", recurrence}};

}  // namespace

std::span<const DecompositionRow> recurrence_decompositions() {
  return k_recurrence_decompositions;
}

}  // namespace kw
