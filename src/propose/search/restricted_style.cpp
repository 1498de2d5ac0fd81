#include "propose/search/restricted_style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "propose/search/search_space.hpp"

namespace kw {
namespace {

/// A tunable that is left without a value keeps its default: require_known_values has refused what is never allowed.
void restrict_values(std::vector<Tunable>& tunables, const AllowedValues& allowed) {
  for (Tunable& tunable : tunables) {
    const auto values = allowed.find(tunable.name);
    if (values == allowed.end()) continue;
    std::erase_if(tunable.values, [&](std::int64_t value) { return std::ranges::count(values->second, value) == 0; });
    if (tunable.values.empty()) tunable.values = {tunable.default_value};
    const bool keeps_default = std::ranges::count(tunable.values, tunable.default_value) > 0;
    if (!keeps_default) tunable.default_value = tunable.values.front();
  }
}

}  // namespace

Style restricted_style(Style style, AllowedValues allowed) {
  if (allowed.empty()) return style;
  restrict_values(style.structure, allowed);
  style.emit = [emit = std::move(style.emit), allowed = std::move(allowed)](
                   const Problem& problem, const DeviceFacts& device, const IntBindings& structure) -> Result<Bundle> {
    KW_TRY(auto bundle, emit(problem, device, structure));
    restrict_values(bundle.tunables, allowed);
    return bundle;
  };
  return style;
}

Result<void> require_known_values(const Style& style, const Problem& problem, const DeviceFacts& device,
                                  const AllowedValues& allowed) {
  if (allowed.empty()) return {};
  KW_TRY(auto space, SearchSpace::open(style, problem, device));
  const auto known = space.values();
  for (const auto& [name, values] : allowed) {
    const auto of_style = known.find(name);
    if (of_style == known.end()) {
      return fail(Error{errc::restricted_values, fmt::format("style {} has no tunable \"{}\" here", style.name, name),
                        "one of: " + join(known, ", ", [](const auto& one) { return one.first; })});
    }
    for (const auto value : values) {
      if (of_style->second.contains(value)) continue;
      return fail(Error{errc::restricted_values, fmt::format("{} of style {} is never {}", name, style.name, value),
                        "one of: " + join(of_style->second)});
    }
  }
  return {};
}

}  // namespace kw
