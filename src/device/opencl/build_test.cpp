// What a build says, with a driver of the test's own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/scratch_directory.hpp"
#include "device/opencl/session.hpp"
#include "device/testing/fake_opencl.hpp"

namespace kw::opencl {
namespace {

using ::testing::Contains;
using ::testing::StartsWith;

class OpenclBuild : public ::testing::Test {
 protected:
  OpenclBuild() { driver_.kernels = {{"k", {{"Q", "float*", CL_KERNEL_ARG_ADDRESS_GLOBAL}}, {}, 64, 128, 32}}; }
  BuildReply run() { return build(driver_.session(), request_); }

  FakeOpencl driver_;
  BuildRequest request_{
      "opencl:0", "__kernel ...", {{"ROWS", 4}, {"D", 64}}, {{"k", {1, 1, 1}, {1, 1, 1}, 0, {BufferArg{0}}}}};
};

TEST_F(OpenclBuild, gives_the_binary_and_what_the_kernels_use) {
  driver_.binary = std::string("\0binary\0", 8);
  const BuildReply reply = run();
  EXPECT_EQ(reply.status, BuildStatus::ok) << reply.log;
  EXPECT_EQ(reply.binary, driver_.binary);
  EXPECT_EQ(reply.shared_bytes, 128);
  EXPECT_EQ(reply.stack_bytes, 32);
}

TEST_F(OpenclBuild, passes_the_definitions_and_never_the_same_options_twice) {
  EXPECT_EQ(run().status, BuildStatus::ok);
  EXPECT_EQ(run().status, BuildStatus::ok);
  std::vector<std::string> options;
  for (const auto& call : driver_.calls) {
    if (call.starts_with("build ")) options.push_back(call);
  }
  ASSERT_EQ(options.size(), 2U);
  EXPECT_THAT(options[0], StartsWith("build -cl-kernel-arg-info -DROWS=4 -DD=64 -DKW_BUILD="));
  EXPECT_NE(options[0], options[1]) << "PoCL would leave the kernels out of the second binary";
}

TEST_F(OpenclBuild, refuses_a_definition_that_could_smuggle_in_an_option) {
  request_.definitions = {{"A -I/etc", 1}};
  const BuildReply reply = run();
  EXPECT_EQ(reply.status, BuildStatus::source_error);
  EXPECT_EQ(reply.log, "a definition's name is not an identifier");
  EXPECT_TRUE(driver_.calls.empty());
}

TEST_F(OpenclBuild, calls_the_source_kernel_cl_in_the_log) {
  driver_.build_status = CL_BUILD_PROGRAM_FAILURE;
  driver_.log =
      "/tmp/kw-7x/pocl/tempfile_aB3.cl:3:5: error: use of undeclared identifier 'acc'\n"
      "In file /tmp/kw-7x/other.cl:9: note";
  const BuildReply reply = run();
  EXPECT_EQ(reply.status, BuildStatus::source_error);
  EXPECT_EQ(reply.log,
            "kernel.cl:3:5: error: use of undeclared identifier 'acc'\n"
            "In file kernel.cl:9: note\n"
            "clBuildProgram failed with CL_BUILD_PROGRAM_FAILURE");
  EXPECT_EQ(reply.binary, "");
}

TEST_F(OpenclBuild, tells_a_lack_of_resources_from_a_wrong_source) {
  for (const cl_int status : {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY}) {
    driver_.build_status = status;
    EXPECT_EQ(run().status, BuildStatus::resource);
  }
  driver_.build_status = CL_SUCCESS;
  driver_.refuses = "source";
  const BuildReply reply = run();
  EXPECT_EQ(reply.status, BuildStatus::resource);
  EXPECT_EQ(reply.log, "clCreateProgramWithSource failed with CL_OUT_OF_RESOURCES");
}

TEST_F(OpenclBuild, appends_to_the_log_what_does_not_fit_a_launch) {
  driver_.log = "warning: unused variable";
  request_.launches[0].kernel = "other";
  const BuildReply reply = run();
  EXPECT_EQ(reply.status, BuildStatus::kernel_missing);
  EXPECT_EQ(reply.log, "warning: unused variable\na launch names the kernel 'other', but the source has: k");
}

TEST_F(OpenclBuild, bounds_the_log) {
  driver_.log = std::string(2 * k_max_log_bytes, 'w');
  EXPECT_EQ(run().log.size(), k_max_log_bytes);
}

TEST_F(OpenclBuild, leaves_nothing_in_the_cache_of_pocl) {
  const ScratchDirectory cache;
  std::filesystem::create_directories(cache.path() / "AB" / "program");
  Session session = driver_.session();
  session.pocl_cache = cache.path();
  EXPECT_EQ(build(session, request_).status, BuildStatus::ok);
  EXPECT_TRUE(std::filesystem::exists(cache.path() / "AB")) << "another driver's";
  session.device.pocl = true;
  EXPECT_EQ(build(session, request_).status, BuildStatus::ok);
  EXPECT_FALSE(std::filesystem::exists(cache.path() / "AB"));
}

}  // namespace
}  // namespace kw::opencl
