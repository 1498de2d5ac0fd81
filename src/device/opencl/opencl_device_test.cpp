// Real kernels on this machine's CPU through PoCL, which is a package that everybody needs. The verifier's own tests
// launch them in a sandboxed process; here they run in this one.

#include "device/opencl/opencl_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/testing/scratch_directory.hpp"
#include "device/opencl/pocl_threads.hpp"
#include "language/kernel_texts.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;

constexpr const char* k_scale = R"(__kernel void scale(__global const float* a, __global float* b, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * FACTOR;
}
)";
constexpr std::int64_t k_bytes = 64 * sizeof(float);

class PoclDevice : public ::testing::Test {
 protected:
  /// PoCL reads where its cache is once per process.
  static void SetUpTestSuite() {
    scratch = std::make_unique<ScratchDirectory>();
    ::setenv("TMPDIR", scratch->path().c_str(), 1);
  }
  static void TearDownTestSuite() {
    ::unsetenv("TMPDIR");
    scratch.reset();
  }
  void SetUp() override {
    const auto described = describe_opencl_devices();
    ASSERT_TRUE(described) << described.error().to_string();
    auto opened = open_opencl_device(described->front().id);
    ASSERT_TRUE(opened) << opened.error().to_string();
    device_ = *std::move(opened);
  }

  static PlannedLaunch launch() { return {"scale", {8, 1, 1}, {8, 1, 1}, 0, {BufferArg{0}, BufferArg{1}, IntArg{60}}}; }
  BuildReply build(const std::string& source) {
    return device_->build({device_->facts().id, source, {{"FACTOR", 3}}, {launch()}});
  }

  static inline std::unique_ptr<ScratchDirectory> scratch;
  std::unique_ptr<Device> device_;
};

TEST_F(PoclDevice, builds_loads_and_launches_a_kernel) {
  const BuildReply built = build(k_scale);
  ASSERT_EQ(built.status, BuildStatus::ok) << built.log;
  std::vector<float> arena(256, 2.0F);
  LoadedPlan plan;
  plan.plan.buffers = {{"a", BufferRole::input, DType::f32, k_bytes}, {"b", BufferRole::output, DType::f32, k_bytes}};
  plan.plan.launches = {launch()};
  plan.slots = {{0, k_bytes}, {2 * k_bytes, k_bytes}};
  const auto loaded = device_->load({device_->facts().id, 4 * k_bytes, {built.binary}, {plan}},
                                    std::as_writable_bytes(std::span(arena)));
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  const auto launched = device_->launch({0, false});
  ASSERT_TRUE(launched) << launched.error().to_string();
  EXPECT_EQ(arena[128], 6.0F);
  EXPECT_EQ(arena[128 + 59], 6.0F);
  EXPECT_EQ(arena[128 + 60], 2.0F) << "n is 60";
  const auto none = device_->launch({1, false});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "there is no plan 1");
}

/// A function of sixteen lanes that kernels of tensor programs call, and what it computes.
struct LaneFunction {
  const char* name;
  std::vector<const char*> calls;
  double (*right)(double x);
  double units;        ///< of the last place that it may be off
  double units_to_20;  ///< the same where |x| is 20 at most
};

const LaneFunction k_lane_functions[] = {{"exp16", {"exp16_below_89"}, std::exp, 6.0, 3.0},
                                         {"expm1_16", {}, std::expm1, 2.0, 2.0},
                                         {"log1p_16", {}, std::log1p, 2.0, 2.0},
                                         {"erf16", {"exp16_below_89", "exp16"}, std::erf, 2.0, 2.0}};

/// Distance from the right result in units of the last place of the nearest float.
double units_off(double right, float result) {
  const auto nearest = static_cast<float>(right);
  if (std::isnan(right)) return std::isnan(result) ? 0 : INFINITY;
  if (std::isinf(nearest) || std::isinf(result)) return nearest == result ? 0 : INFINITY;
  if (std::abs(right) < 1.75e-38) return std::abs(result) <= 1.76e-38F ? 0 : INFINITY;
  const float size = std::abs(nearest);
  return std::abs(static_cast<double>(result) - right) / (std::nextafter(size, INFINITY) - size);
}

/// A kernel "results" that stores the function of each element of a in b.
std::string kernel_of(const LaneFunction& function) {
  std::string source;
  for (const char* const called : function.calls) source += kernel_text("program/vector.cl", called);
  for (const char* const own : {function.name, "float16_anywhere", "load16", "store16"})
    source += kernel_text("program/vector.cl", own);
  return source + fmt::format(
                      "\n__kernel __attribute__((reqd_work_group_size(1, 1, 1)))\n"
                      "void results(__global const float* a, __global float* b) {{\n"
                      "  const long at = get_global_id(0) * 16;\n"
                      "  store16({}(load16(a + at)), b + at);\n}}\n",
                      function.name);
}

/// Every 4096th of all floats, and a few.
std::vector<float> floats_of_all_sizes() {
  std::vector<float> all = {-1.0F, INFINITY, -INFINITY, 0.0F};
  for (std::uint32_t i = 4; i < std::uint32_t{1} << 20; ++i) all.push_back(std::bit_cast<float>(i * 4096U + 1234U));
  return all;
}

TEST_F(PoclDevice, functions_of_sixteen_lanes_are_right_to_some_units) {
  const auto floats = floats_of_all_sizes();
  const auto count = static_cast<std::int64_t>(floats.size());
  const std::int64_t bytes = count * 4;
  const PlannedLaunch all{"results", {count / 16, 1, 1}, {1, 1, 1}, 0, {BufferArg{0}, BufferArg{1}}};
  LoadedPlan plan;
  plan.plan.buffers = {{"a", BufferRole::input, DType::f32, bytes}, {"b", BufferRole::output, DType::f32, bytes}};
  plan.plan.launches = {all};
  plan.slots = {{0, bytes}, {bytes, bytes}};
  for (const auto& function : k_lane_functions) {
    const BuildReply built = device_->build({device_->facts().id, kernel_of(function), {}, {all}});
    ASSERT_EQ(built.status, BuildStatus::ok) << built.log;
    std::vector<float> arena = floats;
    arena.resize(2 * floats.size());
    ASSERT_TRUE(device_->load({device_->facts().id, 2 * bytes, {built.binary}, {plan}},
                              std::as_writable_bytes(std::span(arena))));
    ASSERT_TRUE(device_->launch({0, false}));
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const double right = function.right(floats[i]);
      const double units = std::abs(floats[i]) <= 20 ? function.units_to_20 : function.units;
      ASSERT_LE(units_off(right, arena[floats.size() + i]), units)
          << function.name << "(" << floats[i] << ") is " << right << ", not " << arena[floats.size() + i];
    }
  }
}

/// Whether this process has mapped a file of PoCL's cache, now or before it was removed.
bool maps_a_compiled_kernel() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/pocl/") != std::string::npos && line.find("/unloaded.so") != std::string::npos) return true;
  }
  return false;
}

/// The processors to which threads of this process are bound, each thread to one alone.
cpu_set_t processors_of_bound_threads() {
  cpu_set_t bound;
  CPU_ZERO(&bound);
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    cpu_set_t own;
    CPU_ZERO(&own);
    if (::sched_getaffinity(std::stoi(task.path().filename().string()), sizeof own, &own) != 0) continue;
    if (CPU_COUNT(&own) == 1) CPU_OR(&bound, &bound, &own);
  }
  return bound;
}

TEST_F(PoclDevice, binds_a_thread_to_each_processor) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  const bool all = opencl::can_bind_threads(allowed, ::sysconf(_SC_NPROCESSORS_ONLN));
  const cpu_set_t bound = processors_of_bound_threads();
  EXPECT_EQ(CPU_COUNT(&bound), all ? CPU_COUNT(&allowed) : 0);
}

TEST_F(PoclDevice, builds_a_kernel_without_loading_it) {
  PlannedLaunch other = launch();
  other.kernel = "unloaded";
  const auto built =
      device_->build({device_->facts().id,
                      "__kernel void unloaded(__global float* a, __global float* b, int n) { a[n] = 1; }",
                      {},
                      {other}});
  ASSERT_EQ(built.status, BuildStatus::ok) << built.log;
  EXPECT_THAT(built.binary, HasSubstr("unloaded.so"));
  EXPECT_FALSE(maps_a_compiled_kernel());
}

TEST_F(PoclDevice, says_what_the_machine_code_consists_of) {
  PlannedLaunch sums = launch();
  sums.kernel = "sums";
  const BuildReply built = device_->build({device_->facts().id,
                                           R"(__kernel void sums(__global const float* a, __global float* b, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * a[i];
  b[get_global_id(0)] = sum;
}
)",
                                           {},
                                           {sums}});
  ASSERT_EQ(built.status, BuildStatus::ok) << built.log;
  // Kernels that other tests have loaded may lie in this process's cache too.
  const auto mix = std::ranges::find(built.machine_code, "sums", &InstructionMix::kernel);
  ASSERT_NE(mix, built.machine_code.end());
  EXPECT_TRUE(mix->loop);
  EXPECT_GT(mix->vector_floats + mix->scalar_floats, 0);
  EXPECT_LT(mix->vector_floats + mix->scalar_floats, mix->instructions);
}

TEST_F(PoclDevice, gives_the_compiler_s_words_with_the_place_in_the_source) {
  const BuildReply wrong = build("__kernel void scale(__global float* a) {\n  a[0] = acc;\n}\n");
  EXPECT_EQ(wrong.status, BuildStatus::source_error);
  EXPECT_THAT(wrong.log, HasSubstr("kernel.cl:2:"));
  EXPECT_THAT(wrong.log, HasSubstr("acc"));
}

TEST_F(PoclDevice, explains_arguments_that_do_not_fit) {
  const BuildReply wrong = build("__kernel void scale(__global float* a, float b, int n) { a[0] = b; }\n");
  EXPECT_EQ(wrong.status, BuildStatus::kernel_args);
  EXPECT_THAT(wrong.log, HasSubstr("argument 2 of kernel 'scale' is declared as `float b`, but the launch passes a "
                                   "buffer there"));
}

TEST_F(PoclDevice, is_not_opened_under_another_name) {
  const auto other = open_opencl_device("opencl:99");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code.name, errc::device_unavailable.name);
  EXPECT_THAT(other.error().message, HasSubstr("there is no device 'opencl:99'; OpenCL has "));
}

}  // namespace
}  // namespace kw
