#include "verify/processes/cache_flush.hpp"

#include <fmt/format.h>
#include <sched.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

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

#if defined(__x86_64__)
__attribute__((target("clflushopt"))) void flush_lines(std::span<const std::byte> memory) {
  // The instruction takes an address that it does not write to.
  for (std::size_t i = 0; i < memory.size(); i += k_line_bytes) _mm_clflushopt(const_cast<std::byte*>(&memory[i]));
  if (!memory.empty()) _mm_clflushopt(const_cast<std::byte*>(&memory.back()));
  _mm_sfence();
}
#else
void flush_lines(std::span<const std::byte>) {}
#endif

bool move_to(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(core), &only);
  return ::sched_setaffinity(0, sizeof only, &only) == 0;
}

}  // namespace

CacheFlush::CacheFlush(const DeviceFacts& device, bool by_line) : by_line_(by_line && can_flush_lines()) {
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

CacheFlush::Done CacheFlush::run(std::span<const std::byte> data) {
  Done done;
  if (shared_bytes_ == 0) return done;
  const bool by_line = by_line_ && data.size() < shared_bytes_;
  const std::size_t most = by_line ? private_bytes_ : shared_bytes_;
  // Not zero: untouched pages of zeros may all be one page, which fills no cache.
  if (memory_.size() < most) memory_.assign(most, std::byte{1});
  if (by_line) {
    flush_lines(data);
    done.thrown_out = data.size();
  }
  cpu_set_t before;
  CPU_ZERO(&before);
  const bool can_return = ::sched_getaffinity(0, sizeof before, &before) == 0;
  const std::span<const std::byte> memory(memory_);
  for (const Core& core : cores_) {
    if (!can_return || !move_to(core.number)) continue;
    const std::size_t bytes = core.first_of_its_cache ? most : private_bytes_;
    read_lines(memory.first(bytes));
    done.read += bytes;
  }
  if (can_return) ::sched_setaffinity(0, sizeof before, &before);
  return done;
}

bool can_flush_lines() {
#if defined(__x86_64__)
  constexpr unsigned k_leaf = 7;
  constexpr unsigned k_clflushopt = 1U << 23U;  // of EBX (Intel's and AMD's manuals, CPUID)
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(k_leaf, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & k_clflushopt) != 0;
#else
  return false;
#endif
}

}  // namespace kw
