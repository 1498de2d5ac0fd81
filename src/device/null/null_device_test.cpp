// The null device as a device: what it builds, loads and launches.

#include "device/null/null_device.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

namespace kw {
namespace {

constexpr std::int64_t k_input = 16;   ///< where the input lies in the arena
constexpr std::int64_t k_output = 64;  ///< where the output lies
constexpr std::int64_t k_bytes = 32;   ///< of each

class NullDevice : public ::testing::Test {
 protected:
  /// A program of one kernel "k" with this body, launched over an input and an output; on a device of its own, because
  /// one loads one candidate.
  Result<LaunchReply> run(const std::string& body) {
    KW_TRY(device_, open_null_device("null"));
    LoadedPlan plan;
    plan.plan.buffers = {{"in", BufferRole::input, DType::f32, k_bytes},
                         {"out", BufferRole::output, DType::f32, k_bytes}};
    plan.plan.launches = {{"k", {1, 1, 1}, {1, 1, 1}, 0, {BufferArg{0}, BufferArg{1}}}};
    plan.slots = {{k_input, k_bytes}, {k_output, k_bytes}};
    KW_TRY_VOID(device_->load({"null", k_arena_bytes, {"kernel k\n" + body}, {plan}}, arena_));
    return device_->launch({0, false});
  }
  std::string failure_of(const std::string& body) {
    const auto result = run(body);
    return result ? "(none)" : result.error().message;
  }
  [[nodiscard]] float output(std::size_t index) const {
    float value = 0;
    std::memcpy(&value, &arena_[static_cast<std::size_t>(k_output) + index * sizeof value], sizeof value);
    return value;
  }
  static BuildReply build(const std::string& source, std::vector<KernelArg> args = {}) {
    auto device = open_null_device("null");
    return (*device)->build({"null", source, {}, {{"k", {1, 1, 1}, {1, 1, 1}, 0, std::move(args)}}});
  }

  static constexpr std::int64_t k_arena_bytes = 128;
  std::array<std::byte, k_arena_bytes> arena_{};
  std::unique_ptr<Device> device_;
};

TEST_F(NullDevice, is_one_device_by_one_name) {
  const auto described = describe_null_device();
  ASSERT_TRUE(described);
  ASSERT_EQ(described->size(), 1U);
  EXPECT_EQ(described->front().id, "null");
  EXPECT_EQ(described->front().kind, DeviceKind::null_device);
  const auto opened = open_null_device("null");
  ASSERT_TRUE(opened) << opened.error().to_string();
  EXPECT_EQ((*opened)->facts().id, "null");
  const auto other = open_null_device("null:1");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code.name, errc::device_unavailable.name);
  EXPECT_EQ(other.error().message, "the null device is called 'null', not 'null:1'");
}

TEST_F(NullDevice, builds_programs_whose_kernels_fit_their_launches) {
  const BuildReply fits = build("kernel k 2\n", {BufferArg{0}, IntArg{1}});
  EXPECT_EQ(fits.status, BuildStatus::ok) << fits.log;
  EXPECT_EQ(fits.binary, "kernel k 2\n");
  const BuildReply syntax = build("dance\n");
  EXPECT_EQ(syntax.status, BuildStatus::source_error);
  EXPECT_EQ(syntax.log,
            "1: the null device does not understand 'dance' [null.syntax]\n"
            "  try: see device/null/program.hpp for its directives");
  const BuildReply missing = build("kernel other\n");
  EXPECT_EQ(missing.status, BuildStatus::kernel_missing);
  EXPECT_EQ(missing.log, "the source has no kernel 'k'");
  const BuildReply args = build("kernel k 2\n", {BufferArg{0}});
  EXPECT_EQ(args.status, BuildStatus::kernel_args);
  EXPECT_EQ(args.log, "kernel 'k' takes 2 arguments but the launch passes 1");
}

TEST_F(NullDevice, fills_and_copies_buffers) {
  ASSERT_TRUE(run("fill in 2.5\ncopy in out\n"));
  EXPECT_EQ(output(0), 2.5F);
  EXPECT_EQ(output(7), 2.5F);
  EXPECT_EQ(output(8), 0.0F) << "behind the buffer";
}

TEST_F(NullDevice, modifies_its_input) {
  ASSERT_TRUE(run("modify_input in\n"));
  EXPECT_EQ(arena_[k_input], std::byte{0xff});
  EXPECT_EQ(arena_[k_input + 1], std::byte{0});
}

TEST_F(NullDevice, touches_guard_zones_on_both_sides) {
  ASSERT_TRUE(run("touch_guard out -1\ntouch_guard out 2\n"));
  EXPECT_EQ(arena_[k_output - 1], std::byte{0x5a});
  EXPECT_EQ(arena_[k_output + k_bytes + 2], std::byte{0x5a});
  EXPECT_EQ(failure_of("touch_guard out -65\n"), "touch_guard: outside the arena");
}

TEST_F(NullDevice, lies_about_its_time) {
  const auto launched = run("spin_us 1\nclaim_ns 7\n");
  ASSERT_TRUE(launched);
  EXPECT_EQ(launched->claimed_ns, 7);
}

TEST_F(NullDevice, carries_out_what_ends_no_process) {
  EXPECT_TRUE(run("allocate 1KiB\nspin_us 1\n"));
  EXPECT_EQ(failure_of("exec /no/such/program\n"), "exec /no/such/program: No such file or directory");
}

TEST_F(NullDevice, names_buffers_that_the_plan_does_not_have) {
  EXPECT_EQ(failure_of("fill K 1\n"), "fill: the plan has no buffer 'K'");
  EXPECT_EQ(failure_of("copy in K\n"), "copy: the plan has no buffer 'K'");
}

TEST_F(NullDevice, refuses_what_was_not_loaded) {
  ASSERT_TRUE(run("claim_ns 1\n"));
  for (const std::int64_t plan : {-1, 1}) {
    const auto launched = device_->launch({plan, false});
    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().message, fmt::format("there is no plan {}", plan));
  }
}

struct FatalDirective {
  const char* name;
  bool signalled;
  int code;  ///< the signal's number or the exit status
};

class FatalNullDevice : public NullDevice, public ::testing::WithParamInterface<FatalDirective> {
 protected:
  static void expect_end(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WIFSIGNALED(status), GetParam().signalled) << status;
    EXPECT_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), GetParam().code);
  }
  static void default_signals() {
    for (const int signal : {SIGSEGV, SIGABRT}) std::signal(signal, SIG_DFL);
  }
};

TEST_P(FatalNullDevice, ends_its_process_at_the_launch) {
  const pid_t child = ::fork();
  if (child == 0) {
    default_signals();
    [[maybe_unused]] const auto reply = run(std::string(GetParam().name) + "\n");
    ::_exit(99);
  }
  expect_end(child);
}

INSTANTIATE_TEST_SUITE_P(Directives, FatalNullDevice,
                         ::testing::Values(FatalDirective{"crash", true, SIGSEGV},
                                           FatalDirective{"abort", true, SIGABRT}, FatalDirective{"exit", false, 0},
                                           FatalDirective{"exec /bin/false", false, 1}),
                         [](const auto& directive) {
                           const std::string name = directive.param.name;
                           return name.substr(0, name.find(' '));
                         });

class FatalNullBuild : public FatalNullDevice {};

TEST_P(FatalNullBuild, ends_its_process_at_the_build) {
  const pid_t child = ::fork();
  if (child == 0) {
    default_signals();
    [[maybe_unused]] const auto reply = build(std::string("at_build ") + GetParam().name + "\nkernel k\n");
    ::_exit(99);
  }
  expect_end(child);
}

INSTANTIATE_TEST_SUITE_P(Directives, FatalNullBuild,
                         ::testing::Values(FatalDirective{"crash", true, SIGSEGV}, FatalDirective{"exit", false, 0}),
                         [](const auto& directive) { return std::string(directive.param.name); });

}  // namespace
}  // namespace kw
