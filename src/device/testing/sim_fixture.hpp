#pragma once
// For tests: compiles CUDA or HIP text once and runs its kernels in this process. Every kernel takes
// (const int* in, int* out, int n).

#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "base/testing/scratch_directory.hpp"
#include "device/sim/compile.hpp"
#include "device/sim/sim_language.hpp"
#include "device/sim/simulator.hpp"
#include "hardware/gpu_arch.hpp"

namespace kw::sim {

struct TestLaunch {
  std::string kernel;
  std::int64_t threads = 32;
  std::int64_t blocks = 1;
  std::int64_t shared_bytes = 0;
  std::int32_t n = 0;
  std::optional<GroupBox> only = {};
};

class SimKernels {
 public:
  static constexpr std::size_t k_elements = 4096;  ///< of each buffer

  explicit SimKernels(const std::string& source, const DeviceFacts& device = cuda_device(),
                      Counting counting = Counting::none)
      : lanes_(lanes_of(device)), counting_(counting), compiler_(directory_.path()) {
    BuildRequest request{"sim", source, {}, {}};
    request.counting = counting;
    static const std::regex kernels(R"(extern "C" __global__ void (?:__launch_bounds__\(\d+\) )?(\w+)\()");
    for (auto it = std::sregex_iterator(source.begin(), source.end(), kernels); it != std::sregex_iterator(); ++it) {
      request.launches.push_back(planned({(*it)[1]}));
    }
    reply_ = compiler_.build(request, device);
  }

  [[nodiscard]] const BuildReply& built() const { return reply_; }

  /// What `out` holds afterwards; the launches run in order in one plan, `in` begins with `values` and counts on from
  /// there: 0, 1, 2, ... without any.
  Result<std::vector<std::int32_t>> run(const std::vector<TestLaunch>& launches,
                                        const std::vector<std::int32_t>& values = {}) {
    std::vector<std::int32_t> arena(2 * k_elements, -1);
    for (std::size_t i = 0; i < k_elements; ++i) {
      arena[i] = i < values.size() ? values[i] : static_cast<std::int32_t>(i);
    }
    constexpr std::int64_t k_bytes = k_elements * sizeof(std::int32_t);
    LoadRequest load{"sim", 2 * k_bytes, {reply_.binary}, {}};
    load.counting = counting_;
    LoadedPlan plan;
    plan.plan.buffers = {{"in", BufferRole::input, DType::i32, k_bytes},
                         {"out", BufferRole::output, DType::i32, k_bytes}};
    plan.slots = {{0, k_bytes}, {k_bytes, k_bytes}};
    for (const TestLaunch& launch : launches) plan.plan.launches.push_back(planned(launch));
    load.plans = {plan};
    const ScratchDirectory scratch;
    KW_TRY(const auto simulator,
           Simulator::open(load, std::as_writable_bytes(std::span(arena)), scratch.path(), lanes_));
    KW_TRY_VOID(simulator->launch(0));
    accesses_ = simulator->take_accesses();
    return std::vector<std::int32_t>(arena.begin() + k_elements, arena.end());
  }
  Result<std::vector<std::int32_t>> run(const TestLaunch& launch) { return run(std::vector{launch}); }

  /// Of the last run, where counting was asked for.
  [[nodiscard]] const std::vector<AccessCounts>& accesses() const { return accesses_; }

  static DeviceFacts cuda_device() {
    DeviceFacts device;
    device.target = "cuda";
    device.shared_bytes_per_block = k_dynamic_shared_bytes;
    return device;
  }
  /// "gfx942" has wavefronts of 64, "gfx1100" of 32.
  static DeviceFacts hip_device(const char* arch) { return gpu_arch_facts(find_gpu_arch(arch).value()); }

 private:
  static PlannedLaunch planned(const TestLaunch& launch) {
    PlannedLaunch plan{launch.kernel, {launch.blocks, 1, 1}, {launch.threads, 1, 1}, launch.shared_bytes, {}};
    plan.args = {BufferArg{0}, BufferArg{1}, IntArg{launch.n}};
    plan.only = launch.only;
    return plan;
  }

  unsigned lanes_;
  Counting counting_;
  std::vector<AccessCounts> accesses_;
  ScratchDirectory directory_;
  Compiler compiler_;
  BuildReply reply_;
};

}  // namespace kw::sim
