// What a backend keeps of its builds for later runs, and of which it keeps nothing. Over the null device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/scratch_directory.hpp"
#include "verify/processes/build_cache.hpp"
#include "verify/testing/backend_fixture.hpp"

namespace kw {
namespace {

using namespace backend_test;  // NOLINT: a test's own vocabulary

class KeptBuildsTest : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<ExecutionBackend> open(SandboxTier at_most = SandboxTier::c) const {
    BackendOptions options;
    options.device_id = "null";
    options.build_cache = folder;
    options.at_most = at_most;
    auto opened = open_process_backend(options);
    EXPECT_TRUE(opened) << opened.error().to_string();
    return opened ? *std::move(opened) : nullptr;
  }
  static std::string build(ExecutionBackend& backend, const std::string& source, SourceOrigin origin) {
    BuildRequest request;
    request.source = source;
    request.launches = {launch_of("k", 1, 1, {})};
    auto answer = backend.build(request, k_ample, origin);
    const auto* reply = std::get_if<BuildReply>(&answer);
    return reply == nullptr ? "lost" : reply->status == BuildStatus::ok ? reply->binary : "refused";
  }
  [[nodiscard]] std::int64_t kept() const { return size_of_build_cache(folder).builds; }

  ScratchDirectory scratch;
  const std::filesystem::path folder = scratch.path() / "builds";
  const std::string ours = "kernel k\nfill O 1\n";
  const std::string another = "kernel k\nfill O 2\n";
};

TEST_F(KeptBuildsTest, a_later_run_is_answered_by_an_earlier_ones_build) {
  const std::string built = build(*open(), ours, SourceOrigin::own);
  EXPECT_EQ(kept(), 1);
  const auto later = open();
  EXPECT_EQ(build(*later, another, SourceOrigin::own), build(*later, another, SourceOrigin::own));
  EXPECT_EQ(later->builds_found(), 1) << "the second of these";
  EXPECT_EQ(build(*later, ours, SourceOrigin::foreign), built) << "whoever gives the text, it is the same";
  EXPECT_EQ(later->builds_found(), 2);
}

TEST_F(KeptBuildsTest, nothing_is_kept_of_a_foreign_source) {
  const auto backend = open();
  EXPECT_NE(build(*backend, ours, SourceOrigin::foreign), "lost");
  EXPECT_EQ(kept(), 0);
}

TEST_F(KeptBuildsTest, nothing_is_kept_of_what_a_process_builds_after_a_foreign_source) {
  const auto backend = open();
  EXPECT_NE(build(*backend, another, SourceOrigin::foreign), "lost");
  EXPECT_NE(build(*backend, ours, SourceOrigin::own), "lost");
  EXPECT_EQ(kept(), 0);
}

TEST_F(KeptBuildsTest, what_does_not_compile_is_not_kept) {
  const auto backend = open();
  EXPECT_EQ(build(*backend, "kernel k\nfly away\n", SourceOrigin::own), "refused");
  EXPECT_EQ(kept(), 0);
}

TEST_F(KeptBuildsTest, nothing_is_kept_without_a_sandbox) {
  const auto backend = open(SandboxTier::none);
  ASSERT_EQ(backend->sandbox().tier, SandboxTier::none);
  EXPECT_NE(build(*backend, ours, SourceOrigin::own), "lost");
  EXPECT_EQ(kept(), 0);
}

}  // namespace
}  // namespace kw
