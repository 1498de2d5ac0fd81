#include "hardware/host_cpu.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "base/text.hpp"
#include "hardware/device_facts.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Cores this process may use, which in a container is fewer than the machine has.
std::int64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
  return std::max<std::int64_t>(sysconf(_SC_NPROCESSORS_ONLN), 1);
}

std::int64_t host_vector_floats() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return 16;
  return __builtin_cpu_supports("avx2") ? 8 : 4;
#else
  return 4;  // NEON and every other vector unit worth the name has at least 128 bits
#endif
}

}  // namespace

std::optional<std::int64_t> parse_cache_size(std::string_view text) {
  text = trimmed(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr std::int64_t k_most_bytes = std::int64_t{1} << 40;
  if (error != std::errc{} || number < 0 || number > k_most_bytes) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit.empty()) return number;
  if (unit == "K") return number * 1024;
  if (unit == "M") return number * 1024 * 1024;
  return std::nullopt;
}

HostCaches read_caches(const fs::path& cache_dir) {
  HostCaches caches;
  for (int index = 0; index < 8; ++index) {
    const fs::path dir = cache_dir / ("index" + std::to_string(index));
    const std::string type(trimmed(read_text(dir / "type")));
    if (type.empty() || type == "Instruction") continue;
    const std::int64_t bytes = parse_cache_size(read_text(dir / "size")).value_or(0);
    const std::string level(trimmed(read_text(dir / "level")));
    if (level == "1") caches.l1_data_bytes = bytes;
    if (level == "2") caches.l2_bytes = bytes;
    caches.last_level_bytes = std::max(caches.last_level_bytes, bytes);
  }
  return caches;
}

std::string cpu_model_name(std::string_view cpuinfo) {
  const std::size_t at = cpuinfo.find("model name");
  if (at == std::string_view::npos) return "unknown CPU";
  std::string_view line = cpuinfo.substr(at, cpuinfo.find('\n', at) - at);
  const std::size_t colon = line.find(':');
  return colon == std::string_view::npos ? "unknown CPU" : std::string(trimmed(line.substr(colon + 1)));
}

DeviceFacts host_cpu_facts() {
  const HostCaches caches = read_caches("/sys/devices/system/cpu/cpu0/cache");
  DeviceFacts facts;
  facts.id = "host";
  facts.name = cpu_model_name(read_text("/proc/cpuinfo"));
  facts.driver = "none";
  facts.kind = DeviceKind::cpu;
  facts.compute_units = usable_cores();
  facts.max_block_items = 4096;
  facts.shared_bytes_per_block = caches.l2_bytes;
  facts.memory_bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  facts.last_level_cache_bytes = caches.last_level_bytes;
  facts.l2_cache_bytes = caches.l2_bytes;
  facts.l1_cache_bytes = caches.l1_data_bytes;
  facts.vector_floats = host_vector_floats();
  return facts;
}

}  // namespace kw
