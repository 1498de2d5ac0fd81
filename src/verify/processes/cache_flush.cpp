#include "verify/processes/cache_flush.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <span>
#include <string>

namespace kw {
namespace {

constexpr std::int64_t k_line_bytes = 64;
/// Machines exist that report caches of gigabytes; emptying more than this would take longer than most kernels.
constexpr std::int64_t k_most_bytes = std::int64_t{1} << 30;
/// When the machine does not say: larger than the last-level cache of most.
constexpr std::int64_t k_guessed_cache_bytes = std::int64_t{64} << 20;

/// Names the last-level cache of a core: the cores that share it.
std::string last_level_cache_of(int core) {
  std::string sharers;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/shared_cpu_list", core, index));
    if (!std::getline(file, sharers)) break;
  }
  return sharers;
}

void read_lines(std::span<const std::byte> memory) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < memory.size(); i += k_line_bytes) sum += static_cast<unsigned>(memory[i]);
  volatile unsigned sink = sum;
  static_cast<void>(sink);
}

bool move_to(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(core), &only);
  return ::sched_setaffinity(0, sizeof only, &only) == 0;
}

}  // namespace

CacheFlush::CacheFlush(const DeviceFacts& device) {
  if (device.kind != DeviceKind::cpu) return;
  const std::int64_t last = device.last_level_cache_bytes > 0 ? device.last_level_cache_bytes : k_guessed_cache_bytes;
  shared_bytes_ = static_cast<std::size_t>(std::min(k_most_bytes, 2 * std::min(last, k_most_bytes)));
  private_bytes_ = static_cast<std::size_t>(std::clamp<std::int64_t>(2 * device.l2_cache_bytes, 0, k_most_bytes));
  private_bytes_ = std::min(private_bytes_, shared_bytes_);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  std::set<std::string> caches;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(static_cast<std::size_t>(core), &allowed)) continue;
    cores_.push_back({core, caches.insert(last_level_cache_of(core)).second});
  }
}

void CacheFlush::run() {
  if (shared_bytes_ == 0) return;
  // Not zero: untouched pages of zeros may all be one page, which fills no cache.
  if (memory_.empty()) memory_.assign(shared_bytes_, std::byte{1});
  cpu_set_t before;
  CPU_ZERO(&before);
  const bool can_return = ::sched_getaffinity(0, sizeof before, &before) == 0;
  const std::span<const std::byte> memory(memory_);
  for (const Core& core : cores_) {
    if (!can_return || !move_to(core.number)) continue;
    read_lines(memory.first(core.first_of_its_cache ? shared_bytes_ : private_bytes_));
  }
  if (can_return) ::sched_setaffinity(0, sizeof before, &before);
}

}  // namespace kw
