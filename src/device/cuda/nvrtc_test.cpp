// Real kernels through the real compiler where it is installed: what is reported of them has to be what they are.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "device/c_names_kernel.hpp"
#include "device/cuda/nvrtc_api.hpp"
#include "device/cuda/nvrtc_build.hpp"
#include "device/cuda/nvrtc_device.hpp"
#include "device/cuda/toolkit.hpp"
#include "hardware/gpu_arch.hpp"

namespace kw::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Result<NvrtcApi>& nvrtc() {
  static const Result<NvrtcApi> api = load_nvrtc(nvrtc_libraries());
  return api;
}

class Nvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    // Where there is none, the message a user gets is what remains to be tested (NvrtcMissing).
    if (!nvrtc()) GTEST_SKIP() << "SKIP: " << nvrtc().error().message;
  }

  static PlannedLaunch launch_of(const std::string& kernel, std::int64_t threads, std::vector<KernelArg> args,
                                 std::int64_t shared_bytes = 0) {
    return {kernel, {1, 1, 1}, {threads, 1, 1}, shared_bytes, std::move(args)};
  }

  static BuildReply build_for(const std::string& arch, const std::string& source, std::vector<PlannedLaunch> launches,
                              std::vector<std::pair<std::string, std::int64_t>> definitions = {}) {
    const auto known = find_gpu_arch(arch);
    EXPECT_TRUE(known) << arch;
    return build(*nvrtc(), gpu_arch_facts(*known),
                 {"nvrtc:" + arch, source, std::move(definitions), std::move(launches)});
  }
};

const char* const k_add = R"(extern "C" __global__ void k(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] + SCALE;
}
)";
const std::vector<KernelArg> k_two_buffers_and_int = {BufferArg{0}, BufferArg{1}, IntArg{5}};

/// 100 values live across a barrier in 32 registers.
const char* const k_spilling = R"(extern "C" __global__ void __launch_bounds__(1024, 2) k(const float* a, float* b) {
  float v[100];
#pragma unroll
  for (int i = 0; i < 100; i++) v[i] = a[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 100; i++) b[i * 1024 + threadIdx.x] = v[99 - i] * v[(i * 7) % 100];
}
)";

const char* const k_matrix = R"(extern "C" __global__ void k(const unsigned* a, float* b) {
  float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
#pragma unroll
  for (int i = 0; i < 5; i++)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
                 : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(a[i]), "r"(a[i + 1]), "r"(a[i + 2]));
  b[threadIdx.x] = c0 + c1 + c2 + c3;
}
)";

TEST_F(Nvrtc, compiles_for_every_architecture_it_knows) {
  const std::vector<int> known = supported_archs(*nvrtc());
  ASSERT_FALSE(known.empty());
  int compiled = 0;
  for (const GpuArch& arch : gpu_archs()) {
    if (arch.target != "cuda") continue;
    SCOPED_TRACE(arch.name);
    const BuildReply reply =
        build_for(std::string(arch.name), k_add, {launch_of("k", 128, k_two_buffers_and_int)}, {{"SCALE", 3}});
    if (reply.status == BuildStatus::resource) {
      EXPECT_THAT(reply.log, HasSubstr(fmt::format("cannot compile for {}; it knows sm_", arch.name)));
      continue;
    }
    ASSERT_EQ(reply.status, BuildStatus::ok) << reply.log;
    ++compiled;
    ASSERT_EQ(reply.kernels.size(), 1U);
    EXPECT_EQ(reply.kernels[0].kernel, "k");
    EXPECT_GT(reply.registers, 3);
    EXPECT_LT(reply.registers, 40);
    EXPECT_EQ(reply.spill_bytes, 0);
    EXPECT_EQ(reply.kernels[0].tensor_core_instructions, 0);
    EXPECT_EQ(reply.kernels[0].local_memory_instructions, 0);
    EXPECT_DOUBLE_EQ(reply.kernels[0].occupancy.value_or(0), 1.0);
    EXPECT_GT(reply.build_ns, 0);
  }
  EXPECT_GE(compiled, 5);
}

TEST_F(Nvrtc, knows_the_names_of_the_c_librarys_headers_with_and_without_an_include) {
  for (const bool with_headers : {false, true}) {
    const BuildReply reply = build_for("sm_90a", c_names_kernel("cuda", with_headers),
                                       {launch_of("k", 32, {BufferArg{0}, BufferArg{1}, IntArg{0}})});
    EXPECT_EQ(reply.status, BuildStatus::ok) << reply.log;
    EXPECT_EQ(reply.log, "");
  }
}

TEST_F(Nvrtc, spills_are_counted_in_bytes_and_in_instructions) {
  for (const char* arch : {"sm_80", "sm_90a", "sm_100a"}) {
    SCOPED_TRACE(arch);
    const BuildReply reply = build_for(arch, k_spilling, {launch_of("k", 1024, {BufferArg{0}, BufferArg{1}})});
    ASSERT_EQ(reply.status, BuildStatus::ok) << reply.log;
    EXPECT_EQ(reply.registers, 32);
    EXPECT_GT(reply.spill_bytes, 500);
    EXPECT_GT(reply.stack_bytes, 200);
    // Each stores or loads 4, 8 or 16 bytes.
    const std::int64_t instructions = reply.kernels.at(0).local_memory_instructions.value_or(0);
    EXPECT_LE(instructions, reply.spill_bytes / 4);
    EXPECT_GE(instructions, reply.spill_bytes / 16);
  }
}

TEST_F(Nvrtc, tensor_core_instructions_are_counted) {
  for (const char* arch : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_120"}) {
    const BuildReply reply = build_for(arch, k_matrix, {launch_of("k", 32, {BufferArg{0}, BufferArg{1}})});
    ASSERT_EQ(reply.status, BuildStatus::ok) << arch << ": " << reply.log;
    EXPECT_EQ(reply.kernels.at(0).tensor_core_instructions, 5) << arch;
  }
}

TEST_F(Nvrtc, a_conversion_to_half_is_no_tensor_core_instruction) {
  const BuildReply reply = build_for("sm_90a", R"(extern "C" __global__ void k(const float* a, unsigned* b) {
  unsigned r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(a[threadIdx.x]), "f"(a[threadIdx.x + 32]));
  b[threadIdx.x] = r;
})",
                                     {launch_of("k", 32, {BufferArg{0}, BufferArg{1}})});
  ASSERT_EQ(reply.status, BuildStatus::ok) << reply.log;
  EXPECT_EQ(reply.kernels.at(0).tensor_core_instructions, 0);
}

TEST_F(Nvrtc, warp_group_instructions_are_counted_on_hopper) {
  const BuildReply reply = build_for("sm_90a", R"(extern "C" __global__ void k(const unsigned long long* a, float* b) {
  float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
#pragma unroll
  for (int i = 0; i < 3; i++)
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.fence.sync.aligned;"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0;"
                 "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;}"
                 : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "l"(a[i]), "l"(a[i + 1]));
  b[threadIdx.x] = c0 + c1 + c2 + c3;
})",
                                     {launch_of("k", 128, {BufferArg{0}, BufferArg{1}})});
  ASSERT_EQ(reply.status, BuildStatus::ok) << reply.log;
  EXPECT_EQ(reply.kernels.at(0).tensor_core_instructions, 3);
}

TEST_F(Nvrtc, shared_memory_is_what_is_declared_and_what_the_launch_adds) {
  const BuildReply reply = build_for("sm_90a", R"(extern "C" __global__ void k(float* a) {
  __shared__ float s[256];
  extern __shared__ float d[];
  s[threadIdx.x] = a[threadIdx.x]; d[threadIdx.x] = s[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = s[255 - threadIdx.x] + d[255 - threadIdx.x];
})",
                                     {launch_of("k", 256, {BufferArg{0}}, 100 * 1024)});
  ASSERT_EQ(reply.status, BuildStatus::ok) << reply.log;
  EXPECT_EQ(reply.shared_bytes, 1024 + 100 * 1024);
  EXPECT_EQ(reply.kernels.at(0).blocks_per_unit, 2);
  EXPECT_DOUBLE_EQ(reply.kernels.at(0).occupancy.value_or(0), 2 * 8 / 64.0);
}

void expect_refused(const BuildReply& reply, BuildStatus status, const std::string& part) {
  EXPECT_EQ(reply.status, status);
  EXPECT_THAT(reply.log, HasSubstr(part));
  EXPECT_TRUE(reply.binary.empty());
}

TEST_F(Nvrtc, errors_name_the_line_of_the_source) {
  const BuildReply reply = build_for("sm_80", "\n\nextern \"C\" __global__ void k(int* a) { a[0] = nosuch; }\n", {});
  expect_refused(reply, BuildStatus::source_error, "kernel.cu(3): error: identifier \"nosuch\" is undefined");
}

TEST_F(Nvrtc, an_instruction_the_architecture_lacks_is_quoted) {
  const BuildReply reply =
      build_for("sm_80", "extern \"C\" __global__ void k() { asm volatile(\"tcgen05.wait::ld.sync.aligned;\"); }", {});
  expect_refused(reply, BuildStatus::source_error, "Instruction 'tcgen05.wait' not supported on .target 'sm_80'");
}

TEST_F(Nvrtc, a_missing_kernel_is_named_with_those_that_exist) {
  expect_refused(build_for("sm_80", k_add, {launch_of("other", 32, {})}, {{"SCALE", 1}}), BuildStatus::kernel_missing,
                 "a launch names the kernel 'other', but the source has: k");
  expect_refused(build_for("sm_80", "__global__ void k(int* a) { a[0] = 1; }", {launch_of("k", 32, {BufferArg{0}})}),
                 BuildStatus::kernel_missing, "declare kernels as extern \"C\" __global__");
}

TEST_F(Nvrtc, arguments_are_compared_with_the_plan) {
  const auto build_with = [](std::vector<KernelArg> args) {
    return build_for("sm_90a", k_add, {launch_of("k", 32, std::move(args))}, {{"SCALE", 1}});
  };
  expect_refused(build_with({BufferArg{0}}), BuildStatus::kernel_args, "takes 3 arguments but the launch passes 1");
  expect_refused(build_with({BufferArg{0}, IntArg{1}, IntArg{1}}), BuildStatus::kernel_args,
                 "argument 2 of kernel 'k' has 8 bytes, but the launch passes a whole number there");
  expect_refused(build_with({BufferArg{0}, BufferArg{1}, BufferArg{1}}), BuildStatus::kernel_args,
                 "argument 3 of kernel 'k' has 4 bytes, but the launch passes a buffer there");
  expect_refused(build_with({BufferArg{0}, BufferArg{1}, SharedArg{}}), BuildStatus::kernel_args,
                 "write `extern __shared__ ...` in the kernel");
}

TEST_F(Nvrtc, what_a_block_cannot_have_is_refused) {
  expect_refused(build_for("sm_90a", k_spilling, {launch_of("k", 2048, {BufferArg{0}, BufferArg{1}})}),
                 BuildStatus::resource, "declares __launch_bounds__(1024), the launch's block has 2048 threads");
  const std::string declared =
      "extern \"C\" __global__ void k(float* a) { __shared__ float s[20000]; "
      "s[threadIdx.x] = a[0]; __syncthreads(); a[1] = s[a[2] > 0 ? 5 : 6]; }";
  for (const char* arch : {"sm_80", "sm_90a"}) {
    // From some version on ptxas lets it pass for sm_90, and the driver would refuse it.
    const BuildReply reply = build_for(arch, declared, {launch_of("k", 32, {BufferArg{0}})});
    EXPECT_EQ(reply.status, BuildStatus::resource) << arch;
    EXPECT_THAT(reply.log, HasSubstr(arch == std::string("sm_80") ? "uses too much shared data" : "must be dynamic"));
  }
  const std::string dynamic =
      "extern \"C\" __global__ void k(float* a) { extern __shared__ float s[]; "
      "s[threadIdx.x] = a[0]; __syncthreads(); a[1] = s[5]; }";
  expect_refused(build_for("sm_89", dynamic, {launch_of("k", 32, {BufferArg{0}}, 110000)}), BuildStatus::resource,
                 "kernel 'k' needs 110000 bytes of shared memory, 0 declared and 110000 dynamic; sm_89 has 101376");
}

TEST_F(Nvrtc, a_grid_that_the_hardware_cannot_count_is_refused) {
  PlannedLaunch launch = launch_of("k", 32, k_two_buffers_and_int);
  launch.grid[1] = 65536;
  expect_refused(build_for("sm_80", k_add, {launch}, {{"SCALE", 1}}), BuildStatus::resource,
                 "the grid of 'k' is 1 x 65536 x 1; the second and third extent may be 65535 at most");
  launch.grid[1] = 1;
  launch.block[0] = 1;
  launch.block[2] = 65;
  expect_refused(build_for("sm_80", k_add, {launch}, {{"SCALE", 1}}), BuildStatus::resource,
                 "the block of 'k' is 65 deep");
}

TEST_F(Nvrtc, lines_printed_by_the_source_do_not_pass_for_the_compilers_report) {
  const std::string source = std::string(
                                 "#pragma message(\"x\\nptxas info    : Compiling entry function 'k' for 'sm_90a'"
                                 "\\nptxas         .     0 bytes spill stores, 0 bytes spill loads\")\n") +
                             k_spilling;
  const BuildReply reply = build_for("sm_90a", source, {launch_of("k", 1024, {BufferArg{0}, BufferArg{1}})});
  ASSERT_EQ(reply.status, BuildStatus::ok) << reply.log;
  EXPECT_GT(reply.spill_bytes, 500);
}

TEST_F(Nvrtc, the_log_is_for_people_and_the_same_each_time) {
  const auto once = build_for("sm_90a", k_spilling, {launch_of("k", 1024, {BufferArg{0}, BufferArg{1}})});
  EXPECT_EQ(once.log, "");
  const std::string warned = std::string("#warning \"look\"\n") + k_spilling;
  const auto first = build_for("sm_90a", warned, {launch_of("k", 1024, {BufferArg{0}, BufferArg{1}})});
  const auto second = build_for("sm_90a", warned, {launch_of("k", 1024, {BufferArg{0}, BufferArg{1}})});
  EXPECT_THAT(first.log, AllOf(HasSubstr("look"), Not(HasSubstr("ptxas"))));
  EXPECT_EQ(first.log, second.log);
}

TEST_F(Nvrtc, half_precision_headers_are_found_where_they_are_installed) {
  const auto reply =
      build_for("sm_90a",
                "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\nextern \"C\" __global__ void k(__half* a) "
                "{ a[0] = __float2half(1.0f); }\n",
                {launch_of("k", 32, {BufferArg{0}})});
  if (header_folder(nvrtc()->library)) {
    EXPECT_EQ(reply.status, BuildStatus::ok) << reply.log;
  } else {
    expect_refused(reply, BuildStatus::source_error, "CUDA's headers are not installed beside NVRTC");
  }
}

TEST_F(Nvrtc, a_definition_cannot_bring_another_option) {
  const auto reply = build_for("sm_80", k_add, {}, {{"SCALE=1 -I", 1}});
  expect_refused(reply, BuildStatus::source_error, "a definition's name is not an identifier");
}

/// What follows `label` on its line; "" without such a line.
std::string line_after(const std::string& text, const std::string& label) {
  const std::size_t at = text.find("\n" + label);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + 1 + label.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST_F(Nvrtc, refuses_the_cheaters_that_name_the_build_and_compiles_their_twins) {
  int cheaters = 0;
  for (const auto& file : std::filesystem::directory_iterator("tests/cheaters_cuda")) {
    std::ifstream stream(file.path());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const std::string expected = line_after(text, "// on a GPU: ");
    if (!expected.starts_with("build ")) continue;
    ++cheaters;
    for (const std::int64_t cheat : {1, 0}) {
      const auto reply = build_for("sm_90", text, {}, {{"CHEAT", cheat}, {"HEAD", 16}, {"VALUE", 16}});
      const BuildStatus refused =
          expected == "build source_forbidden" ? BuildStatus::forbidden : BuildStatus::source_error;
      EXPECT_EQ(reply.status, cheat == 1 ? refused : BuildStatus::ok) << file.path() << "\n" << reply.log;
    }
  }
  EXPECT_GE(cheaters, 14) << "run from the root of the source tree";
}

TEST_F(Nvrtc, as_a_device_it_builds_and_runs_nothing) {
  auto device = open_nvrtc("nvrtc:sm_90a");
  ASSERT_TRUE(device) << device.error().to_string();
  EXPECT_EQ((*device)->facts().gpu->arch, "sm_90a");
  EXPECT_EQ((*device)->build({"nvrtc:sm_90a", k_add, {{"SCALE", 1}}, {}}).status, BuildStatus::ok);
  const auto launched = (*device)->launch({});
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, errc::device_refused);
  EXPECT_EQ(launched.error().message, "nvrtc:sm_90a compiles, it runs nothing");
}

TEST(NvrtcDevice, an_unknown_architecture_is_refused) {
  const auto device = open_nvrtc("nvrtc:sm_30");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, errc::device_unavailable);
  EXPECT_EQ(device.error().message, "'nvrtc:sm_30' is not an architecture that can be compiled for");
}

TEST(NvrtcMissing, says_what_was_tried_and_how_to_get_it) {
  const auto api = load_nvrtc({"/nonexistent/libnvrtc.so.13", "libnosuch_nvrtc.so"});
  ASSERT_FALSE(api);
  EXPECT_EQ(api.error().code, errc::device_unavailable);
  EXPECT_THAT(api.error().message, AllOf(HasSubstr("NVRTC, the CUDA compiler, cannot be loaded"),
                                         HasSubstr("/nonexistent/libnvrtc.so.13"), HasSubstr("libnosuch_nvrtc.so")));
  EXPECT_THAT(api.error().hint, AllOf(HasSubstr("CUDA toolkit 12 or 13"), HasSubstr("nvidia-cuda-toolkit"),
                                      HasSubstr("KERNELWRIGHT_NVRTC")));
}

TEST(NvrtcMissing, a_library_that_is_something_else_is_told_from_an_absent_one) {
  const auto api = load_nvrtc({"libc.so.6"});
  ASSERT_FALSE(api);
  EXPECT_EQ(api.error().message, "libc.so.6 lacks nvrtcGetErrorString");
}

TEST(NvrtcLibraries, the_variable_replaces_the_search) {
  ::setenv(k_nvrtc_variable, "/elsewhere/libnvrtc.so.12", 1);
  EXPECT_EQ(nvrtc_libraries(), std::vector<std::string>{"/elsewhere/libnvrtc.so.12"});
  ::unsetenv(k_nvrtc_variable);
  EXPECT_GE(nvrtc_libraries().size(), 3U);
}

}  // namespace
}  // namespace kw::cuda
