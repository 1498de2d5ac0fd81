// A tool around the run process: a script in the place of NVIDIA's programs, and tests/fake_cuda in the place of a
// driver.

#include "verify/processes/gpu_tool.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/testing/scratch_directory.hpp"
#include "verify/testing/backend_fixture.hpp"

namespace kw {
namespace {

using namespace backend_test;  // NOLINT: a test's own vocabulary
using testing::HasSubstr;
namespace fs = std::filesystem;

/// A folder like a toolkit's, with programs that are scripts.
class Toolkit {
 public:
  Toolkit() { fs::create_directories(root_ / "bin"); }

  fs::path add(const std::string& name, const std::string& script) const {
    fs::path path = root_ / "bin" / name;
    std::ofstream(path) << "#!/bin/sh\n" << script;
    ::chmod(path.c_str(), 0700);
    return path;
  }
  [[nodiscard]] const fs::path& root() const { return root_; }

 private:
  ScratchDirectory folder_;
  fs::path root_ = fs::canonical(folder_.path());
};

TEST(FindGpuTool, looks_where_the_toolkit_is_said_to_be) {
  const Toolkit toolkit;
  ::setenv("CUDA_HOME", toolkit.root().c_str(), 1);
  EXPECT_EQ(find_gpu_tool("kw-no-such-tool"), std::nullopt);
  const fs::path program = toolkit.add("kw-some-tool", "exit 0\n");
  EXPECT_EQ(find_gpu_tool("kw-some-tool"), program);
  ::chmod(program.c_str(), 0600);
  EXPECT_EQ(find_gpu_tool("kw-some-tool"), std::nullopt) << "it can't be executed";
  ::unsetenv("CUDA_HOME");
}

class WatchedBackend : public BackendTest {
 protected:
  static void SetUpTestSuite() {
    ::setenv("KERNELWRIGHT_CUDA_DRIVER", KW_FAKE_CUDA, 1);
    open("cuda:0");
  }
  static void TearDownTestSuite() {
    ::unsetenv("KERNELWRIGHT_CUDA_DRIVER");
    BackendTest::TearDownTestSuite();
  }

  /// One launch of a kernel of the fake driver's under a tool that is this script, given the worker's command line.
  struct Watched {
    std::string fate;
    ToolReport report;
    bool guards_untouched = false;
  };
  static Watched run(const std::string& script, const std::string& kernel) {
    const Toolkit toolkit;
    BackendOptions options;
    options.device_id = "cuda:0";
    options.tool = GpuTool{toolkit.add("tool", script), {"an option"}, {}, "tool-report", false};
    auto watched = open_watched_backend(options, *backend_);
    EXPECT_TRUE(watched) << watched.error().to_string();
    (*watched)->prepare();
    const LaunchPlan plan = plan_with({output("O", 400)}, {launch_of(kernel, 1, 128, {BufferArg{0}, IntArg{100}})});
    // The middle of three, where the others need nothing.
    auto started = (*watched)->start({{"any binary"}, {{}, {plan, 0}, {}}}, k_ample);
    auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
    if (process == nullptr) return {"not started", {}, false};
    EXPECT_TRUE((*process)->select(1));
    Watched result;
    result.fate = fate((*process)->launch(true, k_ample));
    result.guards_untouched = all_poison((*process)->guards()[1]);
    EXPECT_EQ((*process)->tool_report().exit_status, std::nullopt);
    result.report = (*process)->finish(seconds(20));
    return result;
  }
};

TEST_F(WatchedBackend, launches_below_the_tool_and_hears_how_both_ended) {
  const auto watched = run("shift\n\"$@\"\necho \"the worker ended with $?\" > tool-report\nexit 86\n", "k_nothing");
  EXPECT_THAT(watched.fate, HasSubstr("ran"));
  EXPECT_EQ(watched.report.exit_status, 86);
  EXPECT_EQ(watched.report.text, "the worker ended with 0\n");
}

TEST_F(WatchedBackend, gives_every_buffer_memory_of_its_own) {
  // The fake driver's kernel writes one float behind; without a tool the host's guard zone shows it.
  const auto watched = run("shift\nexec \"$@\"\n", "k_overrun");
  EXPECT_TRUE(watched.guards_untouched);
  EXPECT_EQ(watched.report.exit_status, 0);
}

TEST_F(WatchedBackend, kills_a_tool_that_does_not_end) {
  const Toolkit toolkit;
  BackendOptions options;
  options.device_id = "cuda:0";
  options.tool =
      GpuTool{toolkit.add("tool", "shift\n\"$@\"\nread never < /dev/zero\n"), {"x"}, {}, "tool-report", false};
  const auto watched = open_watched_backend(options, *backend_).value();
  auto started = watched->start({{"any binary"}, {{plan_with({output("O", 4)}, {}), 0}}}, k_ample);
  auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
  ASSERT_NE(process, nullptr);
  const auto report = (*process)->finish(milliseconds(200));
  EXPECT_EQ(report.exit_status, std::nullopt);
}

TEST_F(WatchedBackend, believes_no_link_in_the_place_of_a_report) {
  const auto watched = run("shift\n\"$@\"\nln -s /etc/passwd tool-report\n", "k_nothing");
  EXPECT_EQ(watched.report.text, "");
}

TEST_F(WatchedBackend, says_when_the_tool_does_not_start_the_worker) {
  EXPECT_EQ(run("exit 3\n", "k_add").fate, "not started");
}

}  // namespace
}  // namespace kw
