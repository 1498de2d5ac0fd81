// What emptying caches costs before a cold launch, and how cold data then is: 8 MiB are read after each way. The
// arguments are the last-level cache that is claimed, in MiB, and whether lines are thrown out by address (1) or read
// over (0).

#include <benchmark/benchmark.h>

#include <chrono>
#include <numeric>
#include <vector>

#include "verify/processes/cache_flush.hpp"

namespace kw {
namespace {

constexpr std::size_t k_data_bytes = std::size_t{8} << 20;
constexpr std::size_t k_line_bytes = 64;

CacheFlush flush_of(const benchmark::State& state) {
  DeviceFacts facts;
  facts.kind = DeviceKind::cpu;
  facts.last_level_cache_bytes = state.range(0) << 20;
  facts.l2_cache_bytes = std::int64_t{2} << 20;
  return CacheFlush(facts, state.range(1) != 0);
}

unsigned read_all(const std::vector<std::byte>& data) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < data.size(); i += k_line_bytes) sum += static_cast<unsigned>(data[i]);
  return sum;
}

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void flush(benchmark::State& state) {
  CacheFlush flush = flush_of(state);
  const std::vector<std::byte> data(k_data_bytes, std::byte{1});
  for (auto _ : state) benchmark::DoNotOptimize(flush.run(data));
}

/// The time of the read alone; the data was just written, as a candidate's inputs are.
void read_after_flush(benchmark::State& state) {
  CacheFlush flush = flush_of(state);
  std::vector<std::byte> data(k_data_bytes);
  for (auto _ : state) {
    std::fill(data.begin(), data.end(), static_cast<std::byte>(state.iterations()));
    flush.run(data);
    state.SetIterationTime(seconds_of([&] { benchmark::DoNotOptimize(read_all(data)); }));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(k_data_bytes));
}

void read_warm(benchmark::State& state) {
  std::vector<std::byte> data(k_data_bytes);
  for (auto _ : state) {
    std::fill(data.begin(), data.end(), static_cast<std::byte>(state.iterations()));
    state.SetIterationTime(seconds_of([&] { benchmark::DoNotOptimize(read_all(data)); }));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(k_data_bytes));
}

void ways(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"last_level_MiB", "by_line"})->ArgsProduct({{32, 480}, {0}})->Args({480, 1});
}

BENCHMARK(flush)->Name("cache_flush/of_8_MiB")->Apply(ways);
BENCHMARK(read_after_flush)->Name("cache_flush/read_8_MiB_after")->Apply(ways)->UseManualTime();
BENCHMARK(read_warm)->Name("cache_flush/read_8_MiB_warm")->UseManualTime();

}  // namespace
}  // namespace kw
