// Where libraries are looked for, and what a build process sees of the system beside them.

#include "verify/processes/library_places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "language/language.hpp"
#include "sandbox/sandbox.hpp"
#include "verify/processes/worker_spec.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(libraries_in_cache, are_the_paths_among_its_names) {
  using namespace std::string_view_literals;
  EXPECT_THAT(libraries_in_cache("glibc-ld.so.cache1.1\0\7\0libm.so.6\0/lib/libm.so.6\0/opt/a/libb.so"sv),
              ElementsAre("/lib/libm.so.6", "/opt/a/libb.so"));
  EXPECT_THAT(libraries_in_cache("ld.so-1.7.0\0/lib/libm.so.6\0/etc/passwd\0"sv), ElementsAre("/lib/libm.so.6"));
  EXPECT_THAT(libraries_in_cache("another file\0/lib/libm.so.6\0"sv), IsEmpty());
  EXPECT_THAT(libraries_in_cache(""), IsEmpty());
}

TEST(library_in_registration, is_its_first_line) {
  EXPECT_EQ(library_in_registration("libpocl.so.2.10.0"), "libpocl.so.2.10.0");
  EXPECT_EQ(library_in_registration("/opt/driver/libdriver.so\r\nanother"), "/opt/driver/libdriver.so");
  EXPECT_EQ(library_in_registration(""), "");
}

TEST(library_places, exist_and_are_not_the_whole_system) {
  EXPECT_THAT(library_places(), Not(IsEmpty()));
  for (const fs::path& place : library_places()) {
    EXPECT_EQ(fs::canonical(place), place);
    EXPECT_THAT(place.string(), AllOf(Not("/"), Not("/usr"), Not("/usr/bin"), Not("/usr/share"), Not("/usr/local")));
  }
}

class Builder : public testing::Test {
 protected:
  /// What `cat` says of the file under the rights that a builder has.
  [[nodiscard]] static std::string read_as(const SandboxGrants* grants, const fs::path& file) {
    SandboxSpec spec = build_spec({}, *grants);
    spec.program = "/usr/bin/cat";
    spec.arguments = {file.string()};
    const auto process = spawn_sandboxed(spec);
    if (!process) return process.error().to_string();
    if (!(*process)->finish(std::chrono::seconds(20))) return "it did not end";
    return (*process)->output();
  }
};

TEST_F(Builder, of_opencl_opens_no_file_of_the_system_but_libraries_and_what_its_compiler_needs) {
  for (const char* file :
       {"/usr/bin/true", "/usr/bin/cc", "/usr/include/stdio.h", "/usr/share/common-licenses/GPL-3"}) {
    if (!fs::exists(file)) continue;
    EXPECT_THAT(read_as(&find_language("opencl")->build, file), HasSubstr("Permission denied")) << file;
    EXPECT_THAT(read_as(&find_language("hip")->build, file), Not(HasSubstr("Permission denied"))) << file;
  }
}

TEST_F(Builder, of_cuda_reads_libraries_and_cuda_s_headers) {
  const SandboxGrants& cuda = find_language("cuda")->build;
  for (const char* file : {"/usr/bin/true", "/usr/bin/cc", "/usr/share/common-licenses/GPL-3"}) {
    if (!fs::exists(file)) continue;
    EXPECT_THAT(read_as(&cuda, file), HasSubstr("Permission denied")) << file;
  }
  const bool among_the_systems = fs::exists("/usr/include/cuda_fp16.h");
  if (fs::exists("/usr/include/stdio.h")) {
    EXPECT_EQ(read_as(&cuda, "/usr/include/stdio.h").find("Permission denied") == std::string::npos, among_the_systems);
  }
  EXPECT_THAT(build_spec({}, cuda).executable, IsEmpty());
}

TEST_F(Builder, of_the_simulator_reads_headers_and_starts_the_compiler_alone) {
  DeviceFacts device;
  device.kind = DeviceKind::simulator;
  const SandboxGrants& simulator = build_grants(device);
  for (const char* file : {"/usr/bin/true", "/usr/share/common-licenses/GPL-3"}) {
    if (!fs::exists(file)) continue;
    EXPECT_THAT(read_as(&simulator, file), HasSubstr("Permission denied")) << file;
  }
  EXPECT_THAT(read_as(&simulator, "/usr/include/stdio.h"), HasSubstr("printf"));
  const SandboxSpec spec = build_spec({}, simulator);
  EXPECT_THAT(spec.executable, Contains(fs::canonical("/usr/bin/g++")));
  EXPECT_THAT(spec.system, AllOf(Not(Contains(fs::path("/usr"))), Not(Contains(fs::path("/usr/bin")))));
  BackendOptions meant;
  meant.device_id = "sim:sm_80";
  EXPECT_EQ(&meant_grants(meant), &simulator);
}

TEST_F(Builder, of_opencl_starts_no_program_but_the_linker) {
  const SandboxSpec spec = build_spec({}, find_language("opencl")->build);
  EXPECT_THAT(spec.executable, ElementsAre(fs::canonical("/usr/bin/ld")));
  EXPECT_THAT(spec.system, Not(Contains(fs::path("/usr"))));
}

}  // namespace
}  // namespace kw
