// Every shipped attention problem in every CUDA style, through the real compiler, for one GPU each of the generations
// that people have: what the default schedule compiles to has no spills and fits the device. Needs NVRTC, no GPU.
//
// Everything together takes four minutes of a core (41 s plain, 82 s simt, 118 s mma with NVRTC 13.0, 2026-11-20). So
// unless KW_COMPILE_ALL is set, only the tensor-core styles' primary workload is compiled for every device: its other
// workloads, and the styles plain and simt, which need fewer registers, for one device per problem, each in turn.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <set>

#include "base/file_system.hpp"
#include "codegen/codegen.hpp"
#include "device/cuda/nvrtc_api.hpp"
#include "device/cuda/nvrtc_build.hpp"
#include "device/cuda/toolkit.hpp"
#include "hardware/device_file.hpp"
#include "problem/operator.hpp"
#include "record/launch_plan.hpp"

namespace kw {
namespace {

const std::filesystem::path k_problems = "problems";
/// Of sm_80, sm_90a and sm_120.
const std::vector<std::string> k_devices = {"a100", "h100", "rtx5090"};

std::vector<std::string> problem_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(k_problems / "attention")) {
    if (entry.path().extension() == ".toml") names.push_back("attention/" + entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// What has been compiled, for the figures at the end.
struct Tally {
  int programs = 0, kernels = 0;
  std::int64_t most_registers = 0;
  std::string greediest;
};

struct Build {
  std::string what;  ///< for messages
  bool primary = false;
  DeviceFacts device;
  BuildRequest request;
};

bool on_tensor_cores(const std::string& style) {
  return style == "mma" || style == "wgmma";
}

class CudaCompiles : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!nvrtc()) GTEST_SKIP() << "SKIP: " << nvrtc().error().message;
  }
  static const Result<cuda::NvrtcApi>& nvrtc() {
    static const Result<cuda::NvrtcApi> api = cuda::load_nvrtc(cuda::nvrtc_libraries());
    return api;
  }

  /// One per set of definitions among the problem's workloads.
  static std::vector<Build> builds_of(const Problem& problem, const std::string& style, const std::string& device,
                                      const IntBindings& structure = {}) {
    const DeviceFacts facts = find_device_facts(device).value();
    const auto bundle = emit_bundle(problem, "cuda", style, facts, structure);
    // Types and generations that the style is not for; it says so.
    if (!bundle && style == "wgmma" && bundle.error().code == errc::codegen_unsupported) return {};
    EXPECT_TRUE(bundle) << bundle.error().to_string();
    if (!bundle) return {};
    const Candidate candidate = make_candidate(*bundle).value();
    std::vector<Build> builds;
    std::set<IntBindings> seen;
    for (const auto& workload : problem.workloads) {
      const auto plan = plan_launches(candidate, problem, workload.axes, facts);
      EXPECT_TRUE(plan) << workload.name << ": " << plan.error().to_string();
      const auto definitions = build_definitions(candidate, workload.axes, facts);
      EXPECT_TRUE(definitions) << workload.name << ": " << definitions.error().to_string();
      if (!plan || !definitions || !seen.insert(*definitions).second) continue;
      BuildRequest request{facts.id, bundle->source, {}, plan->launches};
      request.definitions.assign(definitions->begin(), definitions->end());
      builds.push_back({fmt::format("{} {} on {}, {}", problem.name, style, device, workload.name),
                        workload.role == WorkloadRole::primary, facts, request});
    }
    return builds;
  }

  static void expect_clean(const Build& build, const std::string& style, Tally& tally) {
    SCOPED_TRACE(build.what);
    const BuildReply reply = cuda::build(*nvrtc(), build.device, build.request);
    ASSERT_EQ(reply.status, BuildStatus::ok) << reply.log;
    EXPECT_EQ(reply.log.find("Potential Performance Loss"), std::string::npos) << reply.log;
    ASSERT_EQ(reply.kernels.size(), build.request.launches.size());
    std::int64_t tensor = 0;
    for (const KernelReport& kernel : reply.kernels) {
      SCOPED_TRACE(kernel.kernel);
      EXPECT_EQ(kernel.spill_bytes, 0);
      EXPECT_EQ(kernel.stack_bytes, 0);
      EXPECT_EQ(kernel.local_memory_instructions, 0);
      EXPECT_LE(kernel.registers.value(), build.device.gpu->max_registers_per_thread);
      EXPECT_LE(kernel.shared_bytes.value(), build.device.shared_bytes_per_block);
      EXPECT_GE(kernel.blocks_per_unit.value(), 1);
      tensor += kernel.tensor_core_instructions.value();
      ++tally.kernels;
      if (*kernel.registers <= tally.most_registers) continue;
      tally.most_registers = *kernel.registers;
      tally.greediest = build.what + ", " + kernel.kernel;
    }
    EXPECT_EQ(tensor > 0, on_tensor_cores(style)) << tensor << " tensor-core instructions";
  }
};

TEST_P(CudaCompiles, without_spills_for_every_problem) {
  const std::string& style = GetParam();
  const bool all = std::getenv("KW_COMPILE_ALL") != nullptr;
  const auto names = problem_names();
  ASSERT_GE(names.size(), 46U);
  const double began = cpu_seconds();
  Tally tally;
  for (std::size_t p = 0; p < names.size(); ++p) {
    const auto problem = load_problem(names[p], RealFileSystem(), {k_problems});
    ASSERT_TRUE(problem) << problem.error().to_string();
    for (std::size_t d = 0; d < k_devices.size(); ++d) {
      const bool whole = all || p % k_devices.size() == d;
      if (!whole && !on_tensor_cores(style)) continue;
      for (const Build& build : builds_of(*problem, style, k_devices[d])) {
        if (!whole && !build.primary) continue;
        expect_clean(build, style, tally);
        ++tally.programs;
      }
    }
  }
  EXPECT_GT(tally.programs, 0);
  fmt::print("{} of {} problems, {}: {} programs compiled, {} kernels; at most {} registers ({}); {:.0f} s of CPU\n",
             style, names.size(), all ? "everything" : "part (KW_COMPILE_ALL=1 for the rest)", tally.programs,
             tally.kernels, tally.most_registers, tally.greediest, cpu_seconds() - began);
}

/// A convolution of images with 16 channels, `x`, and the `rest` that is done to it.
Problem convolution(const std::string& layer, const std::string& rest, const std::string& precision) {
  const std::string module =
      "import torch\nimport torch.nn as nn\nB, H, W = 64, 256, 256\nclass Model(nn.Module):\n"
      "    def __init__(self):\n        super().__init__()\n        self.c = nn." +
      layer +
      "\n        self.b = nn.Parameter(torch.rand(128, 1, 1))\n    def forward(self, x):\n        x = self.c(x)\n" +
      "        return " + rest + "\ndef get_inputs():\n    return [torch.rand(B, 16, H, W)]\n";
  constexpr double k_any = 1e30;
  const auto text =
      find_operator("program")->format.from_module({module, "m.py", "", "", {}, {k_any, k_any}, precision});
  return parse_problem(text.value(), "m.py").value();
}

class CudaCompilesRounded : public CudaCompiles {
 protected:
  /// Convolutions of several kinds with what may be done to them, all in one way; what `more` is to hold for each.
  static void expect_clean_convolutions(const std::string& style, const IntBindings& structure, Tally& tally,
                                        const std::function<void(const BuildReply& reply)>& more) {
    for (const char* layer :
         {"Conv2d(16, 128, 3)", "Conv2d(16, 128, 3, padding=1)", "Conv2d(16, 64, (5, 9), padding=4)",
          "ConvTranspose2d(16, 128, 3, stride=2, padding=1)", "Conv2d(16, 128, 1)"}) {
      const std::string sums = std::string(layer).find("64,") == std::string::npos ? "x + self.b" : "x * 2";
      for (const std::string& rest :
           {std::string("x"), "torch.relu(" + sums + ")", std::string("nn.functional.mish(x)")}) {
        for (const Build& build :
             builds_of(convolution(layer, rest, "tf32_convolutions"), "fused", "h100", structure)) {
          if (!build.primary) continue;
          SCOPED_TRACE(std::string(layer) + ", " + rest);
          expect_clean(build, style, tally);
          more(cuda::build(*nvrtc(), build.device, build.request));
        }
      }
    }
  }
};

/// A unit holds two blocks of warpgroups or more, so that one stores while another multiplies; a spill would undo that.
TEST_P(CudaCompilesRounded, gathered_convolutions_without_spills_and_two_blocks_a_unit) {
  Tally tally;
  expect_clean_convolutions(GetParam(), {{"PATCHES", 2}, {"STRIPS", 2}}, tally, [](const BuildReply& reply) {
    EXPECT_GE(reply.kernels.back().blocks_per_unit.value(), 2);
  });
  EXPECT_EQ(tally.kernels, 18) << "a transposed one has a launch that packs its filter";
}

TEST_P(CudaCompilesRounded, convolutions_by_patches_without_spills) {
  Tally tally;
  expect_clean_convolutions(GetParam(), {{"PATCHES", 1}}, tally, [](const BuildReply&) {});
  EXPECT_EQ(tally.kernels, 30) << "each has a launch that packs its filter";
}

/// Of few channels, by threads alone, on every chip with tensor cores for tf32.
TEST_P(CudaCompilesRounded, direct_convolutions_without_spills_or_tensor_cores) {
  Tally tally;
  for (const char* device : {"a100", "h100", "h200"}) {
    for (const char* layer :
         {"Conv2d(16, 64, 3)", "Conv2d(16, 64, 3, padding=1)", "ConvTranspose2d(16, 32, 3, stride=2, padding=1)"}) {
      for (const Build& build :
           builds_of(convolution(layer, "torch.relu(x)", "strict"), "fused", device, {{"DIRECT", 1}})) {
        if (!build.primary) continue;
        SCOPED_TRACE(std::string(device) + ", " + layer);
        EXPECT_NE(build.request.source.find("multiply_pixels(places"), std::string::npos);
        expect_clean(build, "simt", tally);
      }
    }
  }
  EXPECT_EQ(tally.kernels, 9);
}

/// Parts of a norm's statistics, with the launch that joins them and the norm.
TEST_P(CudaCompilesRounded, convolutions_that_leave_statistics_without_spills) {
  Tally tally;
  for (const auto& [layer, direct] :
       std::vector<std::pair<std::string, bool>>{{"Conv2d(16, 64, 3)", false},
                                                 {"Conv2d(16, 64, 3, padding=1)", true},
                                                 {"ConvTranspose2d(16, 32, 3, stride=2, padding=1)", true}}) {
    for (const std::string& rest : {std::string("nn.functional.group_norm(nn.functional.mish(x), 8)"),
                                    std::string("nn.functional.batch_norm(x, None, None, training=True)")}) {
      const IntBindings structure = {{direct ? "DIRECT" : "PATCHES", 1}};
      for (const Build& build : builds_of(convolution(layer, rest, "tf32_convolutions"), "fused", "h200", structure)) {
        if (!build.primary) continue;
        SCOPED_TRACE(layer + ", " + rest);
        EXPECT_NE(build.request.source.find("float* const left = parts"), std::string::npos);
        expect_clean(build, direct ? "simt" : GetParam(), tally);
      }
    }
  }
  EXPECT_EQ(tally.kernels, 20) << "three launches each, and of patches one that packs the filter";
}

/// Strips are the default for convolutions of one tap: of warps of every chip with tensor cores for tf32.
TEST_P(CudaCompilesRounded, products_by_strips_without_spills) {
  Tally tally;
  for (const char* precision : {"strict", "tf32_convolutions"}) {
    for (const char* device : {"a100", "h100", "h200"}) {
      for (const char* rest : {"x", "torch.relu(x + self.b)"}) {
        for (const Build& build : builds_of(convolution("Conv2d(16, 128, 1)", rest, precision), "fused", device)) {
          if (!build.primary) continue;
          SCOPED_TRACE(std::string(precision) + ", " + rest);
          EXPECT_NE(build.request.source.find("copy_strip(turn"), std::string::npos);
          expect_clean(build, GetParam(), tally);
        }
      }
    }
  }
  EXPECT_EQ(tally.kernels, 12);
}

/// A product of matrices of 16-bit numbers, `a` and `b`.
Problem half_product(const std::string& type, const std::string& shape_of_b, const std::string& result) {
  const std::string module = fmt::format(
      "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nM, K, N = 4096, 2048, 4096\n"
      "class Model(nn.Module):\n    def forward(self, a, b):\n        return {0}\ndef get_inputs():\n"
      "    return [torch.rand(M, K, dtype=torch.{1}), torch.rand({2}, dtype=torch.{1})]\n",
      result, type, shape_of_b);
  constexpr double k_any = 1e30;
  const auto text = find_operator("program")->format.from_module({module, "m.py", "", "", {}, {k_any, k_any}, ""});
  return parse_problem(text.value(), "m.py").value();
}

TEST_P(CudaCompilesRounded, products_of_16_bit_numbers_that_overlap) {
  Tally tally;
  for (const char* type : {"float16", "bfloat16"}) {
    for (const auto& [shape, result] :
         {std::pair{"K, N", "a @ b"}, std::pair{"K, N", "F.gelu(a @ b)"}, std::pair{"N, K", "F.linear(a, b)"}}) {
      for (const Build& build : builds_of(half_product(type, shape, result), "fused", "h200")) {
        if (!build.primary) continue;
        SCOPED_TRACE(std::string(type) + ", " + result);
        EXPECT_NE(build.request.source.find("begin_tile_by_"), std::string::npos);
        expect_clean(build, GetParam(), tally);
      }
    }
  }
  EXPECT_EQ(tally.kernels, 6);
}

/// Matrices of f32 in both layouts of the second one, and a convolution, at sizes where halves are estimated to be
/// faster.
TEST_P(CudaCompilesRounded, products_of_scaled_halves_that_overlap) {
  Tally tally;
  const std::string head =
      "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nM, K, N = 4096, 4096, 2048\n";
  const std::string matrices =
      "class Model(nn.Module):\n    def forward(self, a, b):\n        return {}\ndef get_inputs():\n"
      "    return [torch.randn(M, K), torch.randn({})]\n";
  const std::string convolution =
      "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
      "        self.c = nn.Conv2d(64, 128, 3)\n    def forward(self, x):\n        return self.c(x)\n"
      "def get_inputs():\n    return [torch.randn(16, 64, 130, 130)]\n";
  for (const auto& [module, text] :
       {std::pair{fmt::format(fmt::runtime(matrices), "a @ b", "K, N"), "begin_scaled_tile(row_tiles"},
        std::pair{fmt::format(fmt::runtime(matrices), "F.gelu(F.linear(a, b))", "N, K"), "begin_scaled_tile(row_tiles"},
        std::pair{convolution, "multiply_half_places(part_sum"}}) {
    constexpr double k_any = 1e30;
    const auto problem =
        find_operator("program")->format.from_module({head + module, "m.py", "", "", {}, {k_any, k_any}, ""});
    for (const Build& build : builds_of(parse_problem(problem.value(), "m.py").value(), "fused", "h200")) {
      if (!build.primary) continue;
      SCOPED_TRACE(text);
      EXPECT_NE(build.request.source.find(text), std::string::npos);
      expect_clean(build, GetParam(), tally);
    }
  }
  EXPECT_EQ(tally.kernels, 9);
}

INSTANTIATE_TEST_SUITE_P(Programs, CudaCompilesRounded, testing::Values("wgmma"),
                         [](const auto& style) { return style.param; });

INSTANTIATE_TEST_SUITE_P(Styles, CudaCompiles, testing::Values("plain", "simt", "mma", "wgmma"),
                         [](const auto& style) { return style.param; });

}  // namespace
}  // namespace kw
