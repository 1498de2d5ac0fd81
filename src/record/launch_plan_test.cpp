#include "record/launch_plan.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/rng.hpp"

namespace kw {
namespace {

Problem small_problem() {
  Problem problem;
  problem.inputs = {{"X", DType::f32, {"M", "N"}}};
  problem.outputs = {{"Y", DType::f16, {"M"}}};
  return problem;
}

DeviceFacts device() {
  DeviceFacts facts;
  facts.max_block_items = 256;
  facts.shared_bytes_per_block = 1024;
  facts.memory_bytes = std::int64_t{64} << 30;
  return facts;
}

const Axes k_axes = {{"M", 100}, {"N", 30}};

Bundle small_bundle() {
  Bundle bundle;
  bundle.target = "opencl";
  bundle.tunables = {{"T", {8, 16}, 8}};
  bundle.defines = {{"COLUMNS", "N * 2"}};
  bundle.scratch = {{"tmp", DType::f32, "M * T"}};
  bundle.launches = {{"pack", {"ceil_div(M, T)", "2"}, {"T", "4"}, "T * 4", {"X", "tmp", "shared", "N - 1"}},
                     {"reduce", {"M"}, {"1"}, "0", {"tmp", "Y"}}};
  bundle.source = "kernels";
  return bundle;
}

Result<LaunchPlan> plan(const Bundle& bundle, const Axes& axes = k_axes, const DeviceFacts& facts = device()) {
  const auto candidate = make_candidate(bundle);
  if (!candidate) return fail(candidate.error());
  return plan_launches(*candidate, small_problem(), axes, facts);
}

std::string error_of(const Bundle& bundle, const Axes& axes = k_axes, const DeviceFacts& facts = device()) {
  const auto planned = plan(bundle, axes, facts);
  return planned ? "no error" : planned.error().to_string();
}

Bundle with_launch(const Launch& launch) {
  Bundle bundle = small_bundle();
  bundle.launches = {launch};
  return bundle;
}

TEST(LaunchPlan, has_each_repetition) {
  Launch launch{"step", {"repetition + 1"}, {"1"}, "0", {"tmp", "M - 1 - repetition"}};
  launch.repeat = "N / 10";
  Bundle bundle = small_bundle();
  bundle.launches.insert(bundle.launches.begin() + 1, launch);
  const auto planned = plan(bundle);
  ASSERT_TRUE(planned.has_value()) << planned.error().to_string();
  ASSERT_EQ(planned->launches.size(), 5U);
  for (std::int32_t i = 0; i < 3; ++i) {
    const auto& step = planned->launches[static_cast<std::size_t>(i) + 1];
    EXPECT_EQ(step.kernel, "step");
    EXPECT_EQ(step.grid[0], i + 1);
    EXPECT_EQ(std::get<IntArg>(step.args[1]).value, 99 - i);
  }
  EXPECT_EQ(planned->launches[4].kernel, "reduce");
}

TEST(LaunchPlan, refuses_repetitions_that_cannot_be) {
  Launch launch{"step", {"1"}, {"1"}, "0", {"repetition"}};
  EXPECT_EQ(error_of(with_launch(launch)).substr(0, 84),
            "argument 1 of launch 1 (step) (\"repetition\") is not a tensor, a scratch buffer or an");
  launch.repeat = "N - M";
  EXPECT_EQ(error_of(with_launch(launch)),
            "'repeat' of launch 1 (step) is -70; it must be from 1 to 16384 [plan.value]");
  launch.repeat = "10000";
  Bundle bundle = small_bundle();
  bundle.launches = {launch, launch};
  EXPECT_EQ(error_of(bundle), "with their repetitions there are more than 16384 launches [plan.value]");
  launch.repeat = "2";
  bundle = with_launch(launch);
  bundle.tunables.push_back({"repetition", {1}, 1});
  EXPECT_EQ(error_of(bundle),
            "'repetition' counts the repetitions of a launch and is the name of something else here [plan.value]");
}

TEST(LaunchPlan, leaves_only_numbers) {
  const auto planned = plan(small_bundle());
  ASSERT_TRUE(planned.has_value()) << planned.error().to_string();
  ASSERT_EQ(planned->buffers.size(), 3U);
  EXPECT_EQ(planned->buffers[0].name, "X");
  EXPECT_EQ(planned->buffers[0].bytes, 100 * 30 * 4);
  EXPECT_EQ(planned->buffers[1].role, BufferRole::output);
  EXPECT_EQ(planned->buffers[1].bytes, 100 * 2);
  EXPECT_EQ(planned->buffers[2].role, BufferRole::scratch);
  EXPECT_EQ(planned->buffers[2].bytes, 100 * 8 * 4);
  ASSERT_EQ(planned->launches.size(), 2U);
  const auto& pack = planned->launches[0];
  EXPECT_EQ(pack.kernel, "pack");
  EXPECT_EQ(std::vector<std::int64_t>(pack.grid, pack.grid + 3), (std::vector<std::int64_t>{13, 2, 1}));
  EXPECT_EQ(std::vector<std::int64_t>(pack.block, pack.block + 3), (std::vector<std::int64_t>{8, 4, 1}));
  EXPECT_EQ(pack.shared_bytes, 32);
  ASSERT_EQ(pack.args.size(), 4U);
  EXPECT_EQ(std::get<BufferArg>(pack.args[0]).buffer, 0);
  EXPECT_EQ(std::get<BufferArg>(pack.args[1]).buffer, 2);
  EXPECT_TRUE(std::holds_alternative<SharedArg>(pack.args[2]));
  EXPECT_EQ(std::get<IntArg>(pack.args[3]).value, 29);
}

TEST(LaunchPlan, has_as_many_shapes_as_a_compiler_sees) {
  const PlannedLaunch first{"k", {40, 2, 1}, {64, 1, 1}, 256, {BufferArg{1}, IntArg{7}, SharedArg{}}};
  PlannedLaunch same{"k", {9, 1, 1}, {64, 1, 1}, 256, {BufferArg{0}, IntArg{8}, SharedArg{}}};
  same.only = GroupBox{};
  const auto shapes = launch_shapes({first, same});
  ASSERT_EQ(shapes.size(), 1U);
  EXPECT_TRUE(have_same_shape(shapes.front(), first));
  EXPECT_EQ(shapes.front().grid[0], 1);
  EXPECT_EQ(std::get<BufferArg>(shapes.front().args[0]).buffer, 0);
  EXPECT_EQ(std::get<IntArg>(shapes.front().args[1]).value, 0);
  for (const auto& change : std::vector<std::function<void(PlannedLaunch&)>>{
           [](PlannedLaunch& launch) { launch.kernel = "other"; }, [](PlannedLaunch& launch) { launch.block[2] = 2; },
           [](PlannedLaunch& launch) { launch.shared_bytes = 0; },
           [](PlannedLaunch& launch) { launch.args.pop_back(); },
           [](PlannedLaunch& launch) { launch.args[1] = BufferArg{0}; }}) {
    PlannedLaunch other = first;
    change(other);
    EXPECT_EQ(launch_shapes({first, other}).size(), 2U);
  }
}

TEST(LaunchPlan, gives_the_compiler_tunables_and_defines) {
  const auto candidate = make_candidate(small_bundle(), {{"T", 16}});
  ASSERT_TRUE(candidate.has_value());
  const auto definitions = build_definitions(*candidate, k_axes, device());
  ASSERT_TRUE(definitions.has_value()) << definitions.error().to_string();
  EXPECT_EQ(*definitions, (IntBindings{{"COLUMNS", 60}, {"T", 16}}));
}

TEST(LaunchPlan, names_the_definition_that_fails) {
  Bundle bundle = small_bundle();
  bundle.defines = {{"BAD", "N / (M - 100)"}};
  const auto candidate = make_candidate(bundle);
  ASSERT_TRUE(candidate.has_value());
  const auto definitions = build_definitions(*candidate, k_axes, device());
  ASSERT_FALSE(definitions.has_value());
  EXPECT_EQ(definitions.error().to_string(),
            "definition 'BAD': in \"N / (M - 100)\": 30 / 0 divides by zero [plan.value]");
}

TEST(LaunchPlan, expressions_see_axes_tunables_and_device_facts) {
  const auto candidate = make_candidate(small_bundle());
  ASSERT_TRUE(candidate.has_value());
  const auto names = expression_names(candidate->tunables, k_axes, device());
  EXPECT_EQ(names.at("M"), 100);
  EXPECT_EQ(names.at("T"), 8);
  EXPECT_EQ(names.at("max_block_items"), 256);
}

TEST(LaunchPlan, refuses_zero_and_negative_extents) {
  EXPECT_EQ(error_of(with_launch({"k", {"M - 100"}, {"1"}, "0", {}})),
            "grid entry 1 of launch 1 (k) is 0; it must be at least 1 [plan.value]");
  EXPECT_EQ(error_of(with_launch({"k", {"1", "-3"}, {"1", "1"}, "0", {}})),
            "grid entry 2 of launch 1 (k) is -3; it must be at least 1 [plan.value]");
  EXPECT_EQ(error_of(with_launch({"k", {"1"}, {"0"}, "0", {}})),
            "block entry 1 of launch 1 (k) is 0; it must be at least 1 [plan.value]");
}

TEST(LaunchPlan, refuses_overflow_in_every_place) {
  const std::string big = "9223372036854775807";
  EXPECT_EQ(error_of(with_launch({"k", {big + " * M"}, {"1"}, "0", {}})),
            "grid entry 1 of launch 1 (k): in \"9223372036854775807 * M\": 9223372036854775807 * 100 overflows 64 bits "
            "[plan.value]");
  EXPECT_EQ(
      error_of(with_launch({"k", {big, big}, {"1", "1"}, "0", {}})),
      "launch 1 (k) has more than 2^40 work-items: a grid of 9223372036854775807 x 9223372036854775807 x 1 blocks "
      "of 1 [plan.value]");
  EXPECT_EQ(error_of(with_launch({"k", {"1", "1"}, {big, "2"}, "0", {}})),
            "the block of launch 1 (k) (9223372036854775807 x 2 x 1) is over the device's 256 work-items [plan.value]");
  EXPECT_EQ(error_of(small_bundle(), {{"M", INT64_MAX / 2}, {"N", 3}}),
            "tensor X has more elements than 63 bits can count [base.overflow]");
  Bundle scratch = small_bundle();
  scratch.scratch = {{"tmp", DType::f32, big}};
  EXPECT_EQ(error_of(scratch),
            "with buffer 'tmp' of 9223372036854775807 elements the buffers would take more than 17179869184 bytes "
            "[plan.value]");
}

TEST(LaunchPlan, holds_launches_to_the_device) {
  EXPECT_EQ(error_of(with_launch({"k", {"1"}, {"257"}, "0", {}})),
            "the block of launch 1 (k) (257 x 1 x 1) is over the device's 256 work-items [plan.value]");
  EXPECT_EQ(error_of(with_launch({"k", {"1"}, {"256"}, "0", {}})), "no error");
  EXPECT_EQ(error_of(with_launch({"k", {"4294967297"}, {"256"}, "0", {}})),
            "launch 1 (k) has more than 2^40 work-items: a grid of 4294967297 x 1 x 1 blocks of 256 [plan.value]");
  EXPECT_EQ(error_of(with_launch({"k", {"4294967296"}, {"256"}, "0", {}})), "no error");
  EXPECT_EQ(error_of(with_launch({"k", {"1"}, {"1"}, "1025", {}})),
            "launch 1 (k) asks for 1025 bytes of shared memory; the device has 1024 per block [plan.value]");
  EXPECT_EQ(error_of(with_launch({"k", {"1"}, {"1"}, "-1", {}})),
            "launch 1 (k) asks for -1 bytes of shared memory; the device has 1024 per block [plan.value]");
}

TEST(LaunchPlan, bounds_the_buffers_together) {
  Bundle bundle = small_bundle();
  bundle.launches = {{"pack", {"1"}, {"1"}, "0", {"X", "Y"}}};
  bundle.scratch = {{"a", DType::f32, "2147483648"}, {"b", DType::f32, "2147483648"}};
  EXPECT_EQ(error_of(bundle),
            "with buffer 'b' of 2147483648 elements the buffers would take more than 17179869184 bytes [plan.value]");
  DeviceFacts unknown = device();
  unknown.memory_bytes = 0;
  EXPECT_EQ(error_of(bundle, k_axes, unknown),
            "with buffer 'a' of 2147483648 elements the buffers would take more than 8589934592 bytes [plan.value]");
  DeviceFacts tiny = device();
  tiny.memory_bytes = 40000;
  EXPECT_EQ(error_of(small_bundle(), k_axes, tiny),
            "with buffer 'X' of 3000 elements the buffers would take more than 10000 bytes [plan.value]");
  bundle.scratch = {{"a", DType::f32, "M - 100"}};
  EXPECT_EQ(error_of(bundle), "buffer 'a' would have 0 elements; it needs at least 1 [plan.value]");
}

TEST(LaunchPlan, refuses_arguments_that_name_nothing) {
  EXPECT_EQ(
      error_of(with_launch({"k", {"1"}, {"1"}, "0", {"X", "tmpp"}})),
      "argument 2 of launch 1 (k) (\"tmpp\") is not a tensor, a scratch buffer or an integer expression [plan.arg]\n"
      "  try: did you mean 'tmp'?");
  EXPECT_EQ(error_of(with_launch({"k", {"1"}, {"1"}, "0", {"shared"}})),
            "argument 1 of launch 1 (k) is \"shared\", but shared_bytes is 0 [plan.arg]");
}

TEST(LaunchPlan, refuses_integers_outside_32_bits) {
  EXPECT_EQ(
      error_of(with_launch({"k", {"1"}, {"1"}, "0", {"2147483648"}})),
      "argument 1 of launch 1 (k) (\"2147483648\") is 2147483648; integers are passed as 32-bit int [plan.value]");
  EXPECT_EQ(error_of(with_launch({"k", {"1"}, {"1"}, "0", {"-2147483649"}})),
            "argument 1 of launch 1 (k) (\"-2147483649\") is -2147483649; integers are passed as 32-bit int "
            "[plan.value]");
  EXPECT_EQ(error_of(with_launch({"k", {"1"}, {"1"}, "0", {"2147483647", "-2147483648"}})), "no error");
  EXPECT_EQ(error_of(with_launch({"k", {"1"}, {"1"}, "0", {"1 / 0"}})),
            "argument 1 of launch 1 (k): in \"1 / 0\": 1 / 0 divides by zero [plan.value]");
}

TEST(LaunchPlan, refuses_names_that_the_problem_owns) {
  Bundle bundle = small_bundle();
  bundle.scratch.push_back({"Y", DType::f32, "1"});
  EXPECT_EQ(error_of(bundle), "the scratch buffer 'Y' has the name of a tensor of the problem [plan.value]");
  bundle = small_bundle();
  bundle.tunables.push_back({"M", {1}, 1});
  EXPECT_EQ(error_of(bundle), "the tunable 'M' has the name of an axis of the problem [plan.value]");
  bundle = small_bundle();
  bundle.tunables.push_back({"compute_units", {1}, 1});
  EXPECT_EQ(error_of(bundle), "the tunable 'compute_units' has the name of a device fact [plan.value]");
}

TEST(LaunchPlan, holds_to_constraints_over_axes) {
  Bundle bundle = small_bundle();
  bundle.constraints = {"T <= M"};
  EXPECT_EQ(error_of(bundle), "no error");
  bundle.constraints = {"M % T == 0"};
  EXPECT_EQ(error_of(bundle),
            "the constraint \"M % T == 0\" does not hold for this workload and device [candidate.constraint]");
  bundle.constraints = {"M % TT == 0"};
  EXPECT_EQ(error_of(bundle),
            "a constraint: in \"M % TT == 0\": 'TT' is not a known name [plan.value]\n"
            "  try: did you mean 'T'?");
}

TEST(LaunchPlan, random_plans_stay_inside_the_bounds) {
  constexpr std::uint64_t k_seed = 11;
  Rng rng(k_seed);
  const auto number = [&] {
    const auto magnitude = rng.below(2) == 0 ? rng.below(10) : rng.below(63);
    return std::to_string(rng.below(INT64_C(1) << magnitude) - 1);
  };
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    Bundle bundle = small_bundle();
    bundle.scratch = {{"tmp", DType::f32, number()}};
    bundle.launches = {{"k", {number(), number()}, {number(), "1"}, number(), {"tmp", number()}}};
    const auto planned = plan(bundle);
    if (!planned) {
      EXPECT_TRUE(planned.error().code == errc::plan_value) << "seed " << k_seed << ": " << planned.error().to_string();
      continue;
    }
    ++accepted;
    const auto& launch = planned->launches.front();
    std::int64_t bytes = 0;
    for (const auto& buffer : planned->buffers) bytes += buffer.bytes;
    EXPECT_LE(bytes, INT64_C(8) << 30) << "seed " << k_seed << " case " << i;
    EXPECT_LE(launch.block[0], 256) << "seed " << k_seed << " case " << i;
    EXPECT_LE(launch.grid[0], (INT64_C(1) << 40) / launch.grid[1] / launch.block[0])
        << "seed " << k_seed << " case " << i;
    EXPECT_LE(launch.shared_bytes, 1024) << "seed " << k_seed << " case " << i;
  }
  EXPECT_GT(accepted, 20) << "seed " << k_seed << ": the test must reach accepted plans";
}

}  // namespace
}  // namespace kw
