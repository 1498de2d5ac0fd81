#include "device/opencl/group_numbers.hpp"

#include <algorithm>

#include "device/device.hpp"

namespace kw::opencl {
namespace {

/// As the compiler's own header declares them.
constexpr const char* k_declared = "__attribute__((overloadable, const)) size_t";

}  // namespace

Result<std::string> with_group_numbers(const std::string& source, std::span<const PlannedLaunch> launches) {
  if (std::ranges::none_of(launches, [](const PlannedLaunch& one) { return one.only.has_value(); })) return source;
  const auto& grid = launches.front().grid;
  for (const PlannedLaunch& launch : launches) {
    if (std::ranges::equal(launch.grid, grid)) continue;
    return fail(errc::device_refused,
                "some groups of '{}' and of '{}' are launched, whose grids differ: build them apart",
                launches.front().kernel, launch.kernel);
  }
  return fmt::format(
      "{0} get_group_id(uint d) {{ return get_global_id(d) / get_local_size(d); }}\n"
      "{0} get_num_groups(uint d) {{ return d == 0 ? {1} : d == 1 ? {2} : d == 2 ? {3} : 1; }}\n"
      "{0} get_global_size(uint d) {{ return get_num_groups(d) * get_local_size(d); }}\n"
      "{0} get_global_offset(uint d) {{ return 0; }}\n"
      "#line 1\n{4}",
      k_declared, grid[0], grid[1], grid[2], source);
}

}  // namespace kw::opencl
