#pragma once
// Small workloads for a module whose file only says the primary's sizes: extents are drawn until the module is the same
// program with them.

#include <vector>

#include "operators/program/program_detail.hpp"

namespace kw {

/// Up to `count` bindings of these axes, unlike each other and the primary, of a few ten thousand elements where the
/// module has any so small; fewer, or none, where hardly any binding fits. Deterministic for the module's text.
[[nodiscard]] std::vector<Axes> derived_workloads(const ModuleSource& module, const std::vector<std::string>& axes,
                                                  const Program& primary, std::size_t count);

}  // namespace kw
