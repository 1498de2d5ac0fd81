// What a flush touches. That data is cold afterwards is a matter of time, which bench/cache_flush_bench.cpp shows.
#include "verify/processes/cache_flush.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace kw {
namespace {

constexpr std::size_t k_mib = std::size_t{1} << 20;

DeviceFacts cpu_with(std::int64_t last_level_mib, std::int64_t l2_kib) {
  DeviceFacts facts;
  facts.kind = DeviceKind::cpu;
  facts.last_level_cache_bytes = last_level_mib << 20;
  facts.l2_cache_bytes = l2_kib << 10;
  return facts;
}

std::size_t allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? static_cast<std::size_t>(CPU_COUNT(&allowed)) : 0;
}

TEST(CacheFlush, throws_out_a_candidates_data_and_empties_what_each_core_has_of_its_own) {
  if (!can_flush_lines()) GTEST_SKIP() << "this processor cannot throw lines out by address";
  CacheFlush flush(cpu_with(4096, 512));
  const std::vector<std::byte> data(3 * k_mib + 5);
  const auto done = flush.run(data);
  EXPECT_EQ(done.thrown_out, data.size());
  EXPECT_EQ(done.read, allowed_cores() * k_mib) << "twice a core's second-level cache, and never a last-level one";
}

TEST(CacheFlush, reads_through_the_last_level_where_that_is_less_than_the_data) {
  CacheFlush flush(cpu_with(1, 64));
  const std::vector<std::byte> data(3 * k_mib);
  const auto done = flush.run(data);
  EXPECT_EQ(done.thrown_out, 0U);
  EXPECT_GE(done.read, 2 * k_mib) << "once per last-level cache";
}

TEST(CacheFlush, reads_through_the_last_level_where_lines_cannot_be_named) {
  CacheFlush flush(cpu_with(2, 64), false);
  const std::vector<std::byte> data(k_mib);
  const auto done = flush.run(data);
  EXPECT_EQ(done.thrown_out, 0U);
  EXPECT_GE(done.read, 4 * k_mib);
}

TEST(CacheFlush, leaves_other_devices_to_their_workers) {
  DeviceFacts facts = cpu_with(32, 512);
  for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::simulator, DeviceKind::null_device}) {
    facts.kind = kind;
    CacheFlush flush(facts);
    const std::vector<std::byte> data(k_mib);
    const auto done = flush.run(data);
    EXPECT_EQ(done.thrown_out + done.read, 0U);
  }
}

TEST(CacheFlush, gives_the_thread_its_cores_back) {
  const std::size_t before = allowed_cores();
  CacheFlush flush(cpu_with(1, 64));
  flush.run({});
  EXPECT_EQ(allowed_cores(), before);
}

}  // namespace
}  // namespace kw
