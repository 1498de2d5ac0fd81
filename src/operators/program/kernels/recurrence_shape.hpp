#pragma once
// The stages of a recurrence whose features follow from their own gates, as those of nn.LSTM, nn.GRU and nn.RNN do: a
// product of weights with the states of the step before, and maps of its rows.

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "program/stages/stage.hpp"

namespace kw {

/// Whether the index goes along the axis. Along one of a single element it is 0.
[[nodiscard]] bool is_index_along(const StageExpr& index, const StageAxis& axis);

/// The stage at the first step, or at the others, where what it reads follows no condition.
[[nodiscard]] Stage stage_at_step(const Stage& stage, bool first);

class StepShape {
 public:
  /// `stages` are of one recurrence, in their order. Nothing where a feature needs what others have in the same step.
  /// The program must outlive the shape.
  [[nodiscard]] static std::optional<StepShape> of(const StageProgram& program, const std::vector<std::size_t>& stages);

  [[nodiscard]] const Stage& product() const { return *stages_.front(); }
  [[nodiscard]] std::span<const Stage* const> maps() const { return std::span(stages_).subspan(1); }
  [[nodiscard]] const std::vector<const Stage*>& stages() const { return stages_; }
  /// The axes of the states.
  [[nodiscard]] const StageAxes& axes() const { return stages_.back()->axes; }
  /// Rows of the product that a feature needs, as indices; its own where the product is the new state.
  [[nodiscard]] const StageIndices& gates() const { return gates_; }
  /// An expression of the product's row, for the row of that gate.
  [[nodiscard]] StageExpr of_gate(const StageExpr& expression, std::size_t gate) const;
  /// What a gate's sum becomes: the epilogue of reduction_result().
  [[nodiscard]] StageExpr after_sum(std::size_t gate) const;
  /// Of a load of the product's buffer, which gate it is; nothing for other loads.
  [[nodiscard]] std::optional<std::size_t> gate_of(const StageNode& load) const;
  /// Whether the load is of what this step writes.
  [[nodiscard]] bool waits(const StageNode& load) const;
  /// Buffers that memory holds: all but that of a product that only maps read.
  [[nodiscard]] std::set<std::size_t> stored() const;

 private:
  bool find(const StageProgram& program);
  [[nodiscard]] bool reads_before(const Stage& stage) const;
  bool takes(const Stage& map);
  [[nodiscard]] bool is_read_elsewhere(const StageProgram& program, std::size_t buffer) const;

  std::vector<const Stage*> stages_;
  std::set<std::size_t> written_;
  StageIndices gates_;
};

}  // namespace kw
