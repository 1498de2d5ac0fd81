#include "codegen/device_list.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "hardware/device_match.hpp"

namespace kw {
namespace {

/// Takes the values that only `other` has. False when the two do not have the same tunables.
bool merge_values(std::vector<Tunable>& tunables, const std::vector<Tunable>& other) {
  const auto same_name = [](const Tunable& a, const Tunable& b) { return a.name == b.name; };
  if (!std::equal(tunables.begin(), tunables.end(), other.begin(), other.end(), same_name)) return false;
  for (std::size_t i = 0; i < tunables.size(); ++i) {
    for (const std::int64_t value : other[i].values) {
      auto& values = tunables[i].values;
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
  }
  return true;
}

/// But for what tunables may be and are.
bool same_text(Bundle a, Bundle b) {
  a.tunables.clear();
  b.tunables.clear();
  return a == b;
}

DispatchRow row_of(const DeviceFacts& device, const Bundle& alone) {
  DispatchRow row{table_name(device), {}, {}};
  for (const Tunable& tunable : alone.tunables) row.tunables[tunable.name] = tunable.default_value;
  return row;
}

/// A row that names an architecture would also be taken on the devices of that architecture that have their own.
void put_architectures_last(std::span<const DeviceFacts> devices, std::vector<DispatchRow>& rows) {
  std::stable_partition(rows.begin(), rows.end(), [&](const DispatchRow& row) {
    return std::none_of(devices.begin(), devices.end(),
                        [&](const DeviceFacts& device) { return device.gpu && device.gpu->arch == row.device; });
  });
}

Result<void> check_each_takes_its_own(std::span<const DeviceFacts> devices, const std::vector<DispatchRow>& rows) {
  for (const DeviceFacts& device : devices) {
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const DispatchRow& row) { return names_device(row.device, device); });
    const auto same = [&](const DispatchRow& row) { return row.device == found->device; };
    if (found->device == table_name(device) && std::count_if(rows.begin(), rows.end(), same) == 1) continue;
    return fail(Error{errc::codegen_unsupported,
                      fmt::format("a row for \"{}\" would also be taken on another listed device", found->device),
                      "list each device once, and give device files a \"name\" of their own"});
  }
  return {};
}

}  // namespace

std::string fastest_common_style(const Problem& problem, std::string_view target,
                                 std::span<const DeviceFacts> devices) {
  const auto writes = [&](const Style& style) {
    return style.op == problem.op && style.target == target &&
           std::all_of(devices.begin(), devices.end(),
                       [&](const DeviceFacts& device) { return style.emit(problem, device, {}).has_value(); });
  };
  const auto found = std::find_if(styles_of(problem.op).rbegin(), styles_of(problem.op).rend(), writes);
  return found == styles_of(problem.op).rend() ? "" : found->name;
}

Result<Bundle> emit_for_devices(const Problem& problem, std::string_view target, std::string_view style,
                                std::span<const DeviceFacts> devices, const IntBindings& structure) {
  KW_CHECK(!devices.empty(), "a bundle needs a device to be written for");
  if (devices.size() == 1) return emit_bundle(problem, target, style, devices.front(), structure);
  const auto smallest = std::min_element(
      devices.begin(), devices.end(),
      [](const DeviceFacts& a, const DeviceFacts& b) { return a.shared_bytes_per_block < b.shared_bytes_per_block; });
  KW_TRY(Bundle bundle, emit_bundle(problem, target, style, *smallest, structure));
  std::vector<DispatchRow> rows;
  for (const DeviceFacts& device : devices) {
    KW_TRY(const Bundle alone, emit_bundle(problem, target, style, device, structure));
    if (!same_text(bundle, alone) || !merge_values(bundle.tunables, alone.tunables)) {
      return fail(Error{
          errc::codegen_unsupported,
          fmt::format("style \"{}\" writes another kernel for {} than for {}", style, device.name, smallest->name),
          "emit a bundle for each of them"});
    }
    rows.push_back(row_of(device, alone));
  }
  if (bundle.tunables.empty()) return bundle;
  put_architectures_last(devices, rows);
  KW_TRY_VOID(check_each_takes_its_own(devices, rows));
  bundle.dispatch = std::move(rows);
  return bundle;
}

}  // namespace kw
