#include "record/dispatch.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "hardware/device_match.hpp"
#include "record/launch_plan.hpp"

namespace kw {
namespace {

bool assigns_everything(const Candidate& candidate) {
  return std::all_of(candidate.bundle.tunables.begin(), candidate.bundle.tunables.end(),
                     [&](const Tunable& tunable) { return candidate.tunables.contains(tunable.name); });
}

Result<bool> fits(const Bundle& bundle, std::size_t index, const IntBindings& names, const DeviceFacts& device) {
  const DispatchRow& row = bundle.dispatch[index];
  if (!row.device.empty() && !names_device(row.device, device)) return false;
  for (const auto& condition : row.when) {
    const auto value = evaluate_int_expr(condition, names);
    if (!value) {
      return fail(Error{errc::plan_value,
                        fmt::format("'when' of dispatch {}: {}", row_label(bundle, index), value.error().message),
                        value.error().hint});
    }
    if (*value == 0) return false;
  }
  return true;
}

Result<std::optional<std::size_t>> first_fitting_row(const Bundle& bundle, const Axes& axes,
                                                     const DeviceFacts& device) {
  IntBindings names = device.bindings();
  for (const auto& [name, extent] : axes) names[name] = extent;
  for (std::size_t i = 0; i < bundle.dispatch.size(); ++i) {
    KW_TRY(const bool found, fits(bundle, i, names, device));
    if (found) return i;
  }
  return std::nullopt;
}

}  // namespace

Result<ResolvedTunables> resolve_tunables(const Candidate& candidate, const Axes& axes, const DeviceFacts& device) {
  const Bundle& bundle = candidate.bundle;
  ResolvedTunables resolved{candidate.tunables, {}};
  if (bundle.dispatch.empty() || assigns_everything(candidate)) return resolved;
  KW_TRY(resolved.row, first_fitting_row(bundle, axes, device));
  // emplace: what the candidate assigns stays, then what the row assigns.
  if (resolved.row) {
    for (const auto& [name, value] : bundle.dispatch[*resolved.row].tunables) resolved.values.emplace(name, value);
  }
  for (const auto& tunable : bundle.tunables) resolved.values.emplace(tunable.name, tunable.default_value);
  return resolved;
}

std::string assignment_text(const Candidate& candidate) {
  const std::string text = join(candidate.tunables, " ", [](const auto& assigned) {
    return fmt::format("{}={}", assigned.first, assigned.second);
  });
  std::string left;
  for (const auto& tunable : candidate.bundle.tunables)
    if (!candidate.tunables.contains(tunable.name)) left += " " + tunable.name;
  if (left.empty()) return text;
  return fmt::format("{}{}by row:{}", text, text.empty() ? "" : ", ", left);
}

std::string row_label(const Bundle& bundle, std::size_t row) {
  const DispatchRow& found = bundle.dispatch[row];
  std::string label = fmt::format("row {} ({}", row + 1, found.device.empty() ? "any device" : found.device);
  for (const auto& condition : found.when) label += ", " + condition;
  return label + ")";
}

Bundle with_row(Bundle bundle, DispatchRow row) {
  const auto same = std::find_if(bundle.dispatch.begin(), bundle.dispatch.end(), [&](const DispatchRow& other) {
    return other.device == row.device && other.when == row.when;
  });
  if (same != bundle.dispatch.end()) {
    *same = std::move(row);
    return bundle;
  }
  const auto narrower = [&](const DispatchRow& other) {
    return other.device == row.device && other.when.size() > row.when.size();
  };
  const auto last = std::find_if(bundle.dispatch.rbegin(), bundle.dispatch.rend(), narrower);
  bundle.dispatch.insert(last.base(), std::move(row));
  return bundle;
}

Bundle with_defaults(const Candidate& candidate) {
  Bundle bundle = candidate.bundle;
  for (auto& tunable : bundle.tunables) {
    const auto assigned = candidate.tunables.find(tunable.name);
    if (assigned == candidate.tunables.end()) continue;
    tunable.default_value = assigned->second;
    for (auto& row : bundle.dispatch) row.tunables.erase(tunable.name);
  }
  // A row without tunables still keeps later ones from being taken, so that it goes only when all do.
  const auto says_nothing = [](const DispatchRow& row) { return row.tunables.empty(); };
  if (std::all_of(bundle.dispatch.begin(), bundle.dispatch.end(), says_nothing)) bundle.dispatch.clear();
  return bundle;
}

}  // namespace kw
