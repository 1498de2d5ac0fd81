#include "operators/program/primary_size.hpp"

#include <algorithm>
#include <optional>

#include "operators/program/steps.hpp"
#include "program/reader/program_reader.hpp"
#include "program/stages/same_program.hpp"

namespace kw {
namespace {

double bytes_of(const GraphValue& value) {
  return elements_of(value.type) * static_cast<double>(bytes_per_element(value.type.dtype));
}

/// Of tensors that are as large whatever the axes are, as most parameters of a whole network.
double fixed_bytes(const Program& program) {
  double bytes = 0;
  for (const auto& value : program.graph.values) {
    const bool fixed = !value.node && std::ranges::all_of(value.type.shape, &Extent::is_constant);
    bytes += fixed ? bytes_of(value) : 0.0;
  }
  return bytes;
}

/// Whether halving did something against what is too large, and not to the number of classes of a network alone.
bool is_worth_halving(const ModuleLimits& before, const ModuleLimits& after, const ModuleLimits& most) {
  constexpr double k_least = 1.0 / 64;
  return (before.bytes > most.bytes && after.bytes <= (1.0 - k_least) * before.bytes) ||
         (before.steps > most.steps && after.steps <= (1.0 - k_least) * before.steps);
}

bool fits(const ModuleLimits& size, const ModuleLimits& most) {
  return size.bytes <= most.bytes && size.steps <= most.steps;
}

struct HalvedModule {
  Axes axes;
  ModuleLimits size;
};

/// With these axes half as large; nothing where the module is not the same program then.
std::optional<HalvedModule> read_halved(const ModuleSource& module, const std::vector<std::string>& axes,
                                        const Program& primary, const Axes& extents,
                                        const std::vector<std::string>& names) {
  HalvedModule halved{extents, {}};
  for (const auto& name : names) {
    halved.axes[name] /= 2;
    if (halved.axes[name] < 1) return std::nullopt;
  }
  ProgramOptions options{module.class_name, module.settings, module.mode, axes};
  options.set.insert(halved.axes.begin(), halved.axes.end());
  const auto program = read_program(module.text, module.file, options);
  if (!program || !check_same_program(primary, *program, halved.axes)) return std::nullopt;
  halved.size = size_of_program(*program);
  return halved;
}

std::vector<std::string> equal_axes(const Axes& extents, const std::string& as) {
  std::vector<std::string> names;
  for (const auto& [name, extent] : extents) {
    if (extent == extents.at(as)) names.push_back(name);
  }
  return names;
}

}  // namespace

ModuleLimits size_of_program(const Program& program) {
  // A run holds inputs and answers of many cases, but what lies between them of one or two.
  constexpr double k_between = 0.25;
  ModuleLimits size{0, 0};
  for (std::size_t i = 0; i < program.graph.values.size(); ++i) {
    const auto& value = program.graph.values[i];
    const bool kept = !value.node || std::ranges::count(program.outputs, i) > 0;
    size.bytes += (kept ? 1.0 : k_between) * bytes_of(value);
  }
  for (const auto& node : program.graph.nodes) size.steps += steps_of(program.graph, node);
  return size;
}

FittingAxes fitting_axes(const ModuleSource& module, const std::vector<std::string>& axes, const Program& primary,
                         ModuleLimits most) {
  // What no halving can take away does not make the rest smaller than itself.
  most.bytes = std::max(most.bytes, 2.0 * fixed_bytes(primary));
  FittingAxes fitting;
  for (const auto& axis : primary.axes) {
    if (std::find(axes.begin(), axes.end(), axis.name) != axes.end()) fitting.extents[axis.name] = axis.extent;
  }
  ModuleLimits size = size_of_program(primary);
  std::vector<std::string> movable = axes;
  while (!fits(size, most) && !movable.empty()) {
    const auto largest = std::max_element(movable.begin(), movable.end(), [&](const auto& a, const auto& b) {
      return fitting.extents.at(a) < fitting.extents.at(b);
    });
    // A module may need two axes to be the same, as a product of a matrix with itself does.
    auto smaller = read_halved(module, axes, primary, fitting.extents, {*largest});
    if (!smaller) smaller = read_halved(module, axes, primary, fitting.extents, equal_axes(fitting.extents, *largest));
    if (!smaller || !is_worth_halving(size, smaller->size, most)) {
      movable.erase(largest);
      continue;
    }
    for (const auto& [name, extent] : smaller->axes) {
      if (fitting.extents.at(name) != extent) fitting.before[name].push_back(fitting.extents.at(name));
    }
    fitting.extents = std::move(smaller->axes);
    size = smaller->size;
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
