// HIP without a GPU and without ROCm: the simulator by its bare name, and hipcc in the sandboxed build process, which
// is a script here that does what hipcc was seen to do with the same options.

#include <cstdlib>
#include <fstream>

#include "base/testing/scratch_directory.hpp"
#include "hardware/device_file.hpp"
#include "language/language.hpp"
#include "verify/build_workloads.hpp"
#include "verify/testing/backend_fixture.hpp"

namespace kw {
namespace {

using namespace backend_test;  // NOLINT: a test's own vocabulary
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Simulator, by_its_bare_name_is_the_first_one_of_the_target) {
  for (const auto& [target, id] : {std::pair{"hip", "sim:gfx942"}, std::pair{"cuda", "sim"}}) {
    BackendOptions options;
    options.device_id = "sim";
    options.target = target;
    const auto backend = open_process_backend(options);
    ASSERT_TRUE(backend) << backend.error().to_string();
    EXPECT_EQ((*backend)->device().id, id);
    EXPECT_EQ((*backend)->device().target, target);
  }
}

/// Names the script that stands for hipcc, in a folder that goes with the object.
class FakeHipcc {
 public:
  explicit FakeHipcc(const std::string& body) {
    const auto program = folder_.path() / "hipcc";
    std::ofstream(program) << "#!/bin/sh\n" << body;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    ::setenv("KERNELWRIGHT_HIPCC", program.c_str(), 1);
  }
  FakeHipcc(const FakeHipcc&) = delete;
  FakeHipcc& operator=(const FakeHipcc&) = delete;
  ~FakeHipcc() { ::unsetenv("KERNELWRIGHT_HIPCC"); }

 private:
  ScratchDirectory folder_;
};

/// Writes its options as the code object, and says what clang says of a kernel's resources.
constexpr const char* k_compiles = R"(all="$*"
while [ $# -gt 0 ]; do
  case "$1" in -o) out=$2; shift;; *.hip) source=$1;; esac
  shift
done
grep -q 'static_assert(kw_sim::parameters(&k_add) == 4' "$source" || { echo "no assertion on parameters"; exit 3; }
echo "$all" > "$out"
say() { echo "kernel.hip:1:1: remark: $1 [-Rpass-analysis=kernel-resource-usage]"; }
say "Function Name: k_add"
say "    VGPRs: 128"
say "    AGPRs: 0"
say "    ScratchSize [bytes/lane]: 0"
say "    VGPRs Spill: 0"
say "    LDS Size [bytes/block]: 1024"
)";

const char* const k_add = R"(extern "C" __global__ void k_add(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}
)";

/// What became of k_add with `shared_bytes` of dynamic shared memory: the reply, or how the worker was lost.
std::variant<BuildReply, LostWorker> build_add(std::int64_t shared_bytes = 0) {
  auto backend = open_build_backend({}, find_device_facts("mi300x").value());
  KW_CHECK(backend.has_value(), "{}", backend.error().to_string());
  PlannedLaunch launch = launch_of("k_add", 8, 256, {BufferArg{0}, BufferArg{1}, BufferArg{2}, IntArg{1}});
  launch.shared_bytes = shared_bytes;
  return (*backend)->build({"", k_add, {{"SCALE", 3}}, {launch}}, k_ample, SourceOrigin::foreign);
}

BuildReply replied(const std::variant<BuildReply, LostWorker>& answer) {
  const auto* lost = std::get_if<LostWorker>(&answer);
  EXPECT_EQ(lost, nullptr) << lost->detail;
  return lost == nullptr ? std::get<BuildReply>(answer) : BuildReply{};
}

TEST(Hipcc, compiles_in_the_sandbox_and_its_remarks_become_a_report) {
  const FakeHipcc compiler(k_compiles);
  const BuildReply reply = replied(build_add());
  ASSERT_EQ(reply.status, BuildStatus::ok) << reply.log;
  EXPECT_THAT(reply.binary, AllOf(HasSubstr("--genco --offload-arch=gfx942 -O3 -std=c++17"), HasSubstr("-DSCALE=3")));
  EXPECT_EQ(reply.log, "");
  ASSERT_EQ(reply.kernels.size(), 1U);
  EXPECT_EQ(reply.kernels[0].registers, 128);
  EXPECT_EQ(reply.kernels[0].spill_bytes, 0);
  EXPECT_EQ(reply.kernels[0].shared_bytes, 1024);
  EXPECT_EQ(reply.kernels[0].blocks_per_unit, 4);
  EXPECT_EQ(reply.kernels[0].occupancy, 0.5);
}

TEST(Hipcc, shared_memory_over_the_devices_is_refused_after_compiling) {
  const FakeHipcc compiler(k_compiles);
  const BuildReply reply = replied(build_add(65536 - 512));
  EXPECT_EQ(reply.status, BuildStatus::resource);
  EXPECT_THAT(reply.log, HasSubstr("kernel 'k_add' needs 66048 bytes of shared memory, 1024 declared and 65024 "
                                   "dynamic; gfx942 has 65536 per block"));
}

TEST(Hipcc, its_errors_are_the_log_and_those_about_launches_are_explained) {
  {
    const FakeHipcc compiler("echo 'kernel.hip:2:9: error: use of undeclared identifier oops' >&2; exit 1\n");
    const BuildReply reply = replied(build_add());
    EXPECT_EQ(reply.status, BuildStatus::source_error);
    EXPECT_EQ(reply.log, "kernel.hip:2:9: error: use of undeclared identifier oops\nhipcc failed with status 1");
  }
  {
    const FakeHipcc compiler("echo \"launch:1:39: error: use of undeclared identifier 'k_add'\"; exit 1\n");
    EXPECT_EQ(replied(build_add()).status, BuildStatus::kernel_missing);
  }
  {
    const FakeHipcc compiler(
        "echo \"launch:1:1: error: static assertion failed: the parameters of kernel 'k_add' are not the 4 that its "
        "launch passes\"; exit 1\n");
    EXPECT_EQ(replied(build_add()).status, BuildStatus::kernel_args);
  }
  {
    const FakeHipcc compiler("exit 0\n");
    const BuildReply reply = replied(build_add());
    EXPECT_EQ(reply.status, BuildStatus::resource);
    EXPECT_THAT(reply.log, HasSubstr("hipcc wrote no code object"));
  }
}

/// The same sandbox as the other compilers': a program that is no compiler reaches nothing of the user's.
TEST(Hipcc, sees_no_files_but_its_own) {
  const FakeHipcc compiler("cat /etc/passwd && echo read; echo x > /usr/x && echo wrote; exit 1\n");
  const BuildReply reply = replied(build_add());
  EXPECT_THAT(reply.log, AllOf(Not(HasSubstr("read\n")), Not(HasSubstr("wrote\n"))));
}

TEST(Hipcc, missing_is_said_with_how_to_get_it_and_what_does_without) {
  ::setenv("KERNELWRIGHT_HIPCC", "/nonexistent/hipcc", 1);
  const auto described = describe_compiler(*find_language("hip"));
  const auto answer = build_add();
  ::unsetenv("KERNELWRIGHT_HIPCC");
  const auto says_it =
      AllOf(HasSubstr("hipcc, the HIP compiler, is not at /nonexistent/hipcc"), HasSubstr("[device.unavailable]"),
            HasSubstr("apt-get install hipcc"), HasSubstr("--device sim"));
  ASSERT_TRUE(described) << described.error().to_string();
  EXPECT_TRUE(described->devices.empty());
  EXPECT_THAT(described->problem, says_it);
  const auto* lost = std::get_if<LostWorker>(&answer);
  EXPECT_THAT(lost != nullptr ? lost->detail : std::get<BuildReply>(answer).log, says_it);
}

TEST(Hipcc, is_described_by_its_version_and_place) {
  const FakeHipcc compiler("echo 'HIP version: 6.4.1'; echo 'more'\n");
  const auto described = describe_compiler(*find_language("hip"));
  ASSERT_TRUE(described && described->devices.size() == 1);
  EXPECT_EQ(described->devices[0].name, "HIP version: 6.4.1");
  EXPECT_THAT(described->devices[0].driver, HasSubstr("/hipcc"));
}

}  // namespace
}  // namespace kw
