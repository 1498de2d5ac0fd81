#pragma once
// The text that gives a feature of a sequence its new states, for kernels that have the sums of its gates.

#include <functional>
#include <string>
#include <vector>

#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/program_bundle.hpp"
#include "operators/program/kernels/recurrence_shape.hpp"

namespace kw {

class StateTexts {
 public:
  /// A work-item has `parts` features or sequences, of which `part` is the one that lines are for.
  StateTexts(const GroupContext& context, const StepShape& shape, KernelScope& scope, const std::string& parts);

  /// Declarations of variables for what waits for no sum of this step, and statements that read it.
  [[nodiscard]] const std::vector<std::string>& declared() const { return declared_; }
  [[nodiscard]] const std::vector<std::string>& known() const { return known_; }
  /// Statements that store the states; `sum` is what the sum of a gate is called. `kept`, if it is not empty, becomes
  /// another name for the value that goes to that buffer.
  [[nodiscard]] std::vector<std::string> states(const std::function<std::string(std::size_t gate)>& sum,
                                                std::size_t kept_buffer = 0, const std::string& kept = "");

 private:
  void name_known(const StageExpr& node);
  [[nodiscard]] bool waits(const StageExpr& node) const;
  [[nodiscard]] std::vector<std::string> stored(const Stage& stage, const StageExpr& value, const std::string& kept);

  const GroupContext& context_;
  const StepShape& shape_;
  KernelScope& scope_;
  std::string parts_;
  std::vector<StageExpr> sums_;  ///< of each gate what its sum becomes
  std::vector<std::string> declared_;
  std::vector<std::string> known_;
};

}  // namespace kw
