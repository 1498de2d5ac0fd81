#pragma once
// Stage expressions in OpenCL C with sixteen neighbouring values of one axis at once: float16 and int16 for what
// depends on the axis, scalars for the rest. A truth that depends on it is a mask, -1 where it holds.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "operators/program/kernels/kernel_scope.hpp"

namespace kw {

inline constexpr int k_lane_count = 16;

/// How elements of neighbouring lanes may lie.
enum class LaneLoads : std::uint8_t {
  side_by_side,
  with_strides,  ///< or a small constant number of elements apart, of f32
};

/// Whether the expression can be written so: every element that depends on the axis is read whatever conditions hold,
/// and lies as `loads` allow.
[[nodiscard]] bool has_lanes(const StageExpr& expression, const std::string& axis,
                             LaneLoads loads = LaneLoads::side_by_side);

class LaneScope {
 public:
  /// Prints what does not depend on `axis` through `scope`, where the axis's variable is the first lane's value.
  LaneScope(KernelScope& scope, std::string axis) : scope_(scope), axis_(std::move(axis)) {}

  [[nodiscard]] bool varies(const StageExpr& expression);
  /// A float16 or an int16 for what varies, widened where it does not and `wide` asks for it.
  [[nodiscard]] std::string text(const StageExpr& expression, bool wide);
  /// Statements that name what is used more than once.
  [[nodiscard]] std::vector<std::string> shared_values(const std::vector<StageExpr>& roots);
  /// A variable holds sixteen elements of the buffer.
  void hold(std::size_t buffer, const std::string& variable) { held_[buffer] = variable; }
  /// What reduction_result() is called; a vector.
  void call_result(const std::string& name) { result_ = name; }
  /// A variable has the value.
  void call_value(const StageExpr& node, const std::string& name) { values_[node.get()] = name; }
  /// Arguments of exponentials are below 89 from here on.
  void bound_exponents(bool are_bounded) { bounded_exponents_ = are_bounded; }
  /// Stores sixteen values from the place of `place` on, a load of the buffer that is contiguous along the axis.
  [[nodiscard]] std::string store(const StageNode& place, const std::string& value);
  /// The same past the caches, where the condition says that the place is a multiple of 64 bytes; of f32 numbers.
  [[nodiscard]] std::string stream(const StageNode& place, const std::string& value, const std::string& at_a_line);
  /// Has the line of the load's first element fetched some bytes further on; see lane_streams.hpp.
  [[nodiscard]] std::string fetch(const StageNode& load);

 private:
  [[nodiscard]] std::string print(const StageExpr& expression, Binding least);
  [[nodiscard]] std::string own_text(const StageExpr& node);
  [[nodiscard]] std::string load_text(const StageNode& node);
  [[nodiscard]] std::string address_text(const StageNode& place);
  [[nodiscard]] std::string select_text(const StageNode& node);
  /// For a divisor that is the same for all lanes.
  [[nodiscard]] std::string quotient_text(const StageNode& node);
  [[nodiscard]] std::string call(const StageNode& node, const std::vector<std::string>& operands);
  [[nodiscard]] std::string converted_text(const StageNode& node, const std::string& operand);
  [[nodiscard]] std::string integer_quotient(const StageNode& node, const std::vector<std::string>& operands);

  KernelScope& scope_;
  std::string axis_;
  std::map<const StageNode*, bool> varies_;
  std::map<const StageNode*, std::string> values_;
  std::map<std::size_t, std::string> held_;
  std::string result_;
  bool bounded_exponents_ = false;
  int value_count_ = 0;
};

/// "float16" or "int16".
[[nodiscard]] const char* lane_type(StageType type);

}  // namespace kw
