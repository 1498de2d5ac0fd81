// The simulator of GPU kernels: what it takes to run a launch, by what the launch does most of. Candidates are
// compiled once, outside the timed part. Times are real time: blocks run on several host threads.

#include <benchmark/benchmark.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/testing/scratch_directory.hpp"
#include "device/sim/compile.hpp"
#include "device/sim/simulator.hpp"

namespace kw {
namespace {

constexpr unsigned k_lanes = 32;
constexpr std::int64_t k_shared_bytes = std::int64_t{48} << 10;

/// One compiled kernel k(const float* in, float* out).
class SimulatedKernel {
 public:
  SimulatedKernel(const std::string& source, std::int64_t blocks, std::int64_t threads, std::int64_t elements)
      : arena_(static_cast<std::size_t>(2 * elements), 0.25F) {
    DeviceFacts device;
    device.target = "cuda";
    device.shared_bytes_per_block = k_shared_bytes;
    const PlannedLaunch launch{"k", {blocks, 1, 1}, {threads, 1, 1}, 0, {BufferArg{0}, BufferArg{1}}};
    const BuildReply built = sim::Compiler(directory_.path()).build({"sim", source, {}, {launch}}, device);
    KW_CHECK(built.status == BuildStatus::ok, "the kernel does not compile: {}", built.log);
    const std::int64_t bytes = elements * static_cast<std::int64_t>(sizeof(float));
    LoadedPlan plan;
    plan.plan.buffers = {{"in", BufferRole::input, DType::f32, bytes}, {"out", BufferRole::output, DType::f32, bytes}};
    plan.plan.launches = {launch};
    plan.slots = {{0, bytes}, {bytes, bytes}};
    const LoadRequest load{"sim", 2 * bytes, {built.binary}, {plan}};
    auto opened = sim::Simulator::open(load, std::as_writable_bytes(std::span(arena_)), directory_.path(), k_lanes);
    KW_CHECK(opened.has_value(), "{}", opened.error().to_string());
    simulator_ = *std::move(opened);
  }

  void launch() {
    const auto launched = simulator_->launch(0);
    KW_CHECK(launched.has_value(), "{}", launched.error().to_string());
  }

 private:
  std::vector<float> arena_;
  ScratchDirectory directory_;
  std::unique_ptr<sim::Simulator> simulator_;
};

void run(benchmark::State& state, const std::string& source, std::int64_t threads) {
  constexpr std::int64_t k_blocks = 64;
  SimulatedKernel kernel(source, k_blocks, threads, k_blocks * 2048);
  for (auto _ : state) kernel.launch();
  state.SetItemsProcessed(state.iterations() * k_blocks * threads);  // threads simulated
}

/// A row of 2048 per block: what threads do with shuffles and barriers.
void simulate_softmax(benchmark::State& state) {
  run(state, R"(
__device__ float all(float value, float (*pick)(float, float)) {
  __shared__ float of_warp[8];
  for (int step = 16; step > 0; step /= 2) value = pick(value, __shfl_xor_sync(0xffffffffu, value, step));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  for (int w = 0; w < 8; ++w) value = w == 0 ? of_warp[0] : pick(value, of_warp[w]);
  __syncthreads();
  return value;
}
__device__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ float both(float a, float b) { return a + b; }
extern "C" __global__ void k(const float* in, float* out) {
  const float* row = in + blockIdx.x * 2048;
  float values[8], largest = -1e30f, sum = 0.0f;
  for (int i = 0; i < 8; ++i) largest = fmaxf(largest, values[i] = row[threadIdx.x + 256 * i]);
  largest = all(largest, larger);
  for (int i = 0; i < 8; ++i) sum += values[i] = __expf(values[i] - largest);
  sum = all(sum, both);
  for (int i = 0; i < 8; ++i) out[blockIdx.x * 2048 + threadIdx.x + 256 * i] = values[i] / sum;
}
)",
      256);
}
BENCHMARK(simulate_softmax)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Tiles in shared memory, four sums per thread: what f32 kernels do most.
void simulate_shared_tiles(benchmark::State& state) {
  run(state, R"(
extern "C" __global__ void k(const float* in, float* out) {
  __shared__ float a[32][32], b[32][33];
  const int row = threadIdx.x / 8, column = threadIdx.x % 8;
  float sums[4] = {};
  for (int tile = 0; tile < 2; ++tile) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      a[i / 32][i % 32] = in[blockIdx.x * 2048 + tile * 1024 + i];
      b[i / 32][i % 32] = in[blockIdx.x * 2048 + tile * 1024 + i];
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k) {
      for (int j = 0; j < 4; ++j) sums[j] += a[row][k] * b[column + 8 * j][k];
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) out[blockIdx.x * 2048 + row * 32 + column + 8 * j] = sums[j];
}
)",
      256);
}
BENCHMARK(simulate_shared_tiles)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Four warps that copy, load matrices and multiply them: what tensor-core kernels do most.
void simulate_tensor_cores(benchmark::State& state) {
  run(state, R"(
extern "C" __global__ void k(const float* in, float* out) {
  __shared__ __align__(16) half tile[64][72];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sums[8][4] = {};
  for (int round = 0; round < 2; ++round) {
    for (int i = threadIdx.x; i < 512; i += 128) {
      __kw_sim_cp_async_16(&tile[i / 8][i % 8 * 8], in + blockIdx.x * 2048 + i * 4, 16);
    }
    __kw_sim_cp_async_commit();
    __kw_sim_cp_async_wait_group<0>();
    __syncthreads();
    for (int k = 0; k < 64; k += 16) {
      unsigned rows[4];
      __kw_sim_ldmatrix_x4(rows, &tile[warp * 16 + lane % 16][k + lane / 16 * 8]);
      for (int n = 0; n < 8; ++n) {
        unsigned columns[2];
        __kw_sim_ldmatrix_x2(columns, &tile[n * 8 + lane % 8][k + lane / 8 % 2 * 8]);
        __kw_sim_mma_m16n8k16_f16_f32(sums[n], rows, columns);
      }
    }
    __syncthreads();
  }
  float sum = 0.0f;
  for (int n = 0; n < 8; ++n) sum += sums[n][0] + sums[n][1] + sums[n][2] + sums[n][3];
  out[blockIdx.x * 2048 + threadIdx.x] = sum;
}
)",
      128);
}
BENCHMARK(simulate_tensor_cores)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace kw
