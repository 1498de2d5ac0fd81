#pragma once
// The names of one kernel that is written from a stage: its buffers, extents, axes and values, and the text of stage
// expressions in them. One text serves OpenCL C and CUDA C++ through the dialect.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/dialect.hpp"
#include "codegen/kernel_helpers.hpp"
#include "program/stages/expression_text.hpp"
#include "program/stages/stage.hpp"

namespace kw {

/// How a buffer of the program is called and stored.
struct KernelBuffer {
  std::string name;      ///< in the kernel's text
  std::string argument;  ///< in the bundle: a tensor of the problem, or scratch
  DType dtype = DType::f32;
  bool is_private = false;  ///< an array of the work-item's own, which is no parameter
};

class KernelScope {
 public:
  /// `reserved` are names of the text around, which no axis or value gets.
  KernelScope(const std::vector<KernelBuffer>& buffers, const Stage& stage, Dialect dialect,
              const std::vector<std::string>& reserved = {});
  /// Of a kernel that computes several stages; axes of the same name are the same variable.
  KernelScope(const std::vector<KernelBuffer>& buffers, const std::vector<const Stage*>& stages, Dialect dialect,
              const std::vector<std::string>& reserved = {});

  [[nodiscard]] Dialect dialect() const { return dialect_; }
  /// A literal, or the parameter that holds the extent.
  [[nodiscard]] std::string extent(const Extent& extent);
  [[nodiscard]] std::string axis(const std::string& name) const;
  /// The product of the extents as a long.
  [[nodiscard]] std::string element_count(const StageAxes& axes);
  /// The place of an element in a dense tensor; a long where it has several axes.
  [[nodiscard]] std::string offset(const std::vector<std::string>& indices, const Shape& shape);
  /// `result` is what reduction_result() is called here.
  [[nodiscard]] std::string text(const StageExpr& expression, Binding least = Binding::choice);
  void call_result(const std::string& name) { result_ = name; }
  /// The place of a load in its buffer.
  [[nodiscard]] std::string place_text(const StageNode& load);
  [[nodiscard]] const KernelBuffer& buffer(std::size_t index) const { return buffers_[index]; }
  /// What the text calls besides what text() prints.
  void need(KernelHelper helper) { helpers_.insert(helper); }
  void need_own(const std::string& section) { own_helpers_.insert(section); }
  /// Statements that name what is used more than once in `roots`, and can be computed before it is known which of them
  /// are needed. With `loads`, elements of tensors too, where they are read in any case.
  [[nodiscard]] std::vector<std::string> shared_values(const std::vector<StageExpr>& roots, bool loads);
  /// A variable holds the value of the node.
  void call_value(const StageNode* node, const std::string& name) { values_[node] = name; }
  /// At the end of the block that they were defined in.
  void forget_values() { values_.clear(); }
  /// A variable of the kernel holds the one element of the buffer that its work-item reads.
  void hold(std::size_t buffer, const std::string& variable) { held_[buffer] = variable; }
  /// From here on the program's quotients that need no correct rounding are divided by fewer instructions, where the
  /// dialect has such a division; quick_quotients.hpp says which. Not for plain kernels: others are judged by theirs.
  void divide_quickly(const StageProgram& program);
  /// A name that nothing in the kernel has yet.
  [[nodiscard]] std::string new_name(const std::string& wanted);
  /// Where the element's own place is known under a name: text() uses it for other tensors of the same shape.
  void name_place(const StageAxes& axes, const std::string& name);

  /// The index along an axis is a parameter, of which the bundle passes `expression`.
  void pass_axis(const std::string& name, const std::string& expression) {
    integers_.emplace_back(axis(name), expression);
  }

  /// Kernel parameters after the buffers: names and the expressions that the bundle passes.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& integers() const { return integers_; }
  [[nodiscard]] const std::set<std::size_t>& loaded() const { return loaded_; }
  [[nodiscard]] const std::set<std::string>& used_axes() const { return used_axes_; }
  [[nodiscard]] const std::set<KernelHelper>& helpers() const { return helpers_; }
  /// Of our own: "larger", "smaller".
  [[nodiscard]] const std::set<std::string>& own_helpers() const { return own_helpers_; }

 private:
  [[nodiscard]] std::string leaf(const StageExpr& node);
  [[nodiscard]] std::string load_text(const StageNode& node);
  [[nodiscard]] std::string call(const StageNode& node, const std::vector<std::string>& operands);
  [[nodiscard]] std::string quick_quotient(const StageNode& node);
  [[nodiscard]] std::string quotient(const StageNode& node, const std::vector<std::string>& operands);
  [[nodiscard]] std::string converted_text(const StageNode& node, const std::string& operand);
  [[nodiscard]] std::string free_name(std::string wanted) const;

  const std::vector<KernelBuffer>& buffers_;
  Dialect dialect_;
  std::set<std::string> taken_;
  std::map<std::string, std::string> axes_;     ///< names by those of the stage
  std::map<std::string, std::string> extents_;  ///< parameters by their text
  std::vector<std::pair<std::string, std::string>> integers_;
  std::map<const StageNode*, std::string> values_;
  std::map<std::size_t, std::string> held_;              ///< variables by buffer
  std::optional<std::set<std::size_t>> quick_divisors_;  ///< buffers; absent where divisions are as they are
  StageAxes place_axes_;
  std::string place_;
  std::string result_;
  std::set<std::size_t> loaded_;
  std::set<std::string> used_axes_;
  std::set<KernelHelper> helpers_;
  std::set<std::string> own_helpers_;
  int value_count_ = 0;
};

/// "float", "int"; sums and products of integers are longs.
[[nodiscard]] const char* kernel_type(StageType type);

}  // namespace kw
