#include "operators/program/primary_size.hpp"

#include <algorithm>

#include "operators/program/steps.hpp"
#include "program/graph/same_structure.hpp"
#include "program/reader/program_reader.hpp"

namespace kw {
namespace {

bool fits(const ModuleLimits& size, const ModuleLimits& most) {
  return size.bytes <= most.bytes && size.steps <= most.steps;
}

}  // namespace

ModuleLimits size_of_program(const Program& program) {
  ModuleLimits size{0, 0};
  for (const auto& value : program.graph.values) {
    size.bytes += elements_of(value.type) * static_cast<double>(bytes_per_element(value.type.dtype));
  }
  for (const auto& node : program.graph.nodes) size.steps += steps_of(program.graph, node);
  return size;
}

Axes fitting_axes(const ModuleSource& module, const std::vector<std::string>& axes, const Program& primary,
                  const ModuleLimits& most) {
  Axes extents;
  for (const auto& axis : primary.axes) {
    if (std::find(axes.begin(), axes.end(), axis.name) != axes.end()) extents[axis.name] = axis.extent;
  }
  ModuleLimits size = size_of_program(primary);
  std::vector<std::string> movable = axes;
  while (!fits(size, most) && !movable.empty()) {
    const auto largest = std::max_element(movable.begin(), movable.end(),
                                          [&](const auto& a, const auto& b) { return extents.at(a) < extents.at(b); });
    Axes halved = extents;
    halved[*largest] /= 2;
    ProgramOptions options{module.class_name, module.settings, module.mode, axes};
    options.set.insert(halved.begin(), halved.end());
    const auto program = read_program(module.text, module.file, options);
    if (halved[*largest] < 1 || !program || !check_same_structure(primary, *program, halved)) {
      movable.erase(largest);
      continue;
    }
    extents = std::move(halved);
    size = size_of_program(*program);
  }
  return extents;
}

}  // namespace kw
