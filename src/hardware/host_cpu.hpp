#pragma once
// Reading the host CPU's facts from the kernel's text files. Split from host_cpu_facts() so that a test can feed it a
// made-up /sys and /proc.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kw {

/// "32K", "1024K", "16M" as sysfs writes cache sizes; nothing when it is not such a text.
[[nodiscard]] std::optional<std::int64_t> parse_cache_size(std::string_view text);

struct HostCaches {
  std::int64_t l1_data_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t last_level_bytes = 0;
};
/// `cache_dir` holds index0, index1, ... as /sys/devices/system/cpu/cpu0/cache does. Zero where nothing is known.
[[nodiscard]] HostCaches read_caches(const std::filesystem::path& cache_dir);

/// The "model name" line of a cpuinfo text; "unknown CPU" when it has none.
[[nodiscard]] std::string cpu_model_name(std::string_view cpuinfo);

}  // namespace kw
