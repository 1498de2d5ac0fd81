#pragma once
// The modules of torch.nn: how each is constructed, which operator its call is, and which parameters it has. The rows
// stand in module_rows.cpp.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/errors.hpp"
#include "program/graph/graph.hpp"

namespace kw {

/// A parameter or buffer that a constructor makes.
struct MadeTensor {
  std::string name;
  Shape shape;
  ElementDistribution distribution;
  ParameterKind kind = ParameterKind::parameter;
  ElementType dtype = ElementType::float32;
};

/// The arguments of a constructor, and what the row makes of them.
class ModuleMaker {
 public:
  explicit ModuleMaker(const std::vector<Argument>& arguments) : arguments_(arguments) {}

  // Arguments by name, as in OperatorCall.
  [[nodiscard]] const ArgumentValue& value(std::string_view name) const;
  [[nodiscard]] const Extent& integer(std::string_view name) const { return std::get<Extent>(value(name)); }
  [[nodiscard]] const Shape& integers(std::string_view name) const { return std::get<Shape>(value(name)); }
  [[nodiscard]] bool truth(std::string_view name) const { return std::get<bool>(value(name)); }
  [[nodiscard]] double real(std::string_view name) const { return std::get<double>(value(name)); }

  void make(MadeTensor tensor) { tensors_.push_back(std::move(tensor)); }
  /// A parameter that this module could have and has not.
  void leave_out(std::string name) { absent_.push_back(std::move(name)); }
  [[nodiscard]] const std::vector<MadeTensor>& tensors() const { return tensors_; }
  [[nodiscard]] const std::vector<std::string>& absent() const { return absent_; }

 private:
  const std::vector<Argument>& arguments_;
  std::vector<MadeTensor> tensors_;
  std::vector<std::string> absent_;
};

enum class ModuleKind : std::uint8_t {
  plain,        ///< its call is one operator
  sequential,   ///< nn.Sequential
  module_list,  ///< nn.ModuleList
  module_dict,  ///< nn.ModuleDict
  parameter_list,
  identity,  ///< gives its argument back
};

struct ModuleRow {
  std::string_view name;                               ///< "Conv2d"
  std::string_view schema;                             ///< of the constructor (operators/schema.hpp)
  std::string_view op;                                 ///< whose arguments have the names of the constructor's
  Result<void> (*make)(ModuleMaker& maker) = nullptr;  ///< null where it has no parameters
  ModuleKind kind = ModuleKind::plain;
  std::string_view renamed = {};  ///< "padding:pad": an argument that the operator calls otherwise
};

[[nodiscard]] std::span<const ModuleRow> module_rows();
/// Null when torch.nn has no such module, or it is not read.
[[nodiscard]] const ModuleRow* find_module_row(std::string_view name);
/// What to write instead of a module that is not read; empty when nothing is known.
[[nodiscard]] std::string_view instead_of_module(std::string_view name);

}  // namespace kw
