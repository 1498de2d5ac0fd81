#include "operators/program/primary_size.hpp"

#include <algorithm>

#include "operators/program/steps.hpp"
#include "program/reader/program_reader.hpp"
#include "program/stages/same_program.hpp"

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

FittingAxes fitting_axes(const ModuleSource& module, const std::vector<std::string>& axes, const Program& primary,
                         const ModuleLimits& most) {
  FittingAxes fitting;
  Axes& extents = fitting.extents;
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
    if (halved[*largest] < 1 || !program || !check_same_program(primary, *program, halved)) {
      movable.erase(largest);
      continue;
    }
    fitting.before[*largest].push_back(extents.at(*largest));
    extents = std::move(halved);
    size = size_of_program(*program);
  }
  return fitting;
}

std::vector<Axes> larger_sizes(const FittingAxes& fitting) {
  std::vector<Axes> sizes;
  for (std::size_t undone = 1; true; ++undone) {
    const std::size_t known = sizes.size();
    for (const auto& [axis, extents] : fitting.before) {
      if (undone > extents.size()) continue;
      Axes& one = sizes.emplace_back(fitting.extents);
      one[axis] = extents[extents.size() - undone];
    }
    if (sizes.size() == known) return sizes;
  }
}

}  // namespace kw
