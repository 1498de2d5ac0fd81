#pragma once
// Random modules of PyTorch as Python text, for differential testing: as data that can be made smaller while it still
// fails. A module is a list of values, each an expression of earlier ones; its results are those that no other reads.

#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.hpp"

namespace kw {

/// An extent: its value for the axes as they are, and the Python expression over them that gives it.
struct ModuleDim {
  std::int64_t value = 1;
  std::string text = "1";
};

struct ModuleAxis {
  std::string name;
  std::int64_t extent = 1;
};

/// What a value's elements are. Only exact ones may be compared or rounded: f32 and float64 agree on them to the bit.
enum class ModuleElements : std::uint8_t { rounded, exact, integers };

/// An argument of forward(), or a statement of it.
struct ModuleValue {
  /// A Python expression with "{0}", "{1}" for the operands and "{s}" for the name of its own members; of an argument,
  /// what get_inputs() gives: "torch.randn".
  std::string text;
  std::vector<std::size_t> operands;  ///< earlier values
  std::vector<std::string> members;   ///< of the module: "nn.Linear(na, 5)" becomes self.{s}_0
  std::vector<ModuleDim> shape;
  bool is_input = false;
  ModuleElements elements = ModuleElements::rounded;
  double most = 8.0;  ///< about the largest magnitude of an element
};

struct RandomModule {
  std::vector<ModuleAxis> axes;
  std::vector<ModuleValue> values;
  std::vector<std::size_t> outputs;  ///< none: all values that no other reads
  std::uint64_t data_seed = 0;
  bool as_drawn = true;  ///< the axes: the values of extents hold, and the module is valid

  /// The file: axes, class Model, get_inputs(). It can be pasted into a file and given to the tool.
  [[nodiscard]] std::string to_python() const;
  [[nodiscard]] std::vector<std::size_t> results() const;
};

/// Of `steps` statements, valid by construction: a reader that refuses it is wrong.
[[nodiscard]] RandomModule draw_module(Rng& rng, int steps);

/// Smaller variants to try, boldest first: a single result, an operand in place of its result, an argument in place of
/// a statement, smaller extents. Some of them are no valid module.
[[nodiscard]] std::vector<RandomModule> smaller(const RandomModule& module);

}  // namespace kw
