// The probe reports what is really stopped, and loses tiers when layers are missing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file_system.hpp"
#include "host.hpp"
#include "sandbox/cgroup.hpp"
#include "sandbox/landlock.hpp"

namespace kw::hostile {
namespace {

std::filesystem::path program() {
  return executable_directory().value() / "hostile_program";
}

std::string text_of(const SandboxReport& report) {
  std::string text;
  for (const ProbeResult& result : report.probes) {
    text += fmt::format("{} {}: {}\n", result.stopped ? "stopped" : "DONE", result.attempt, result.detail);
  }
  for (const std::string& missing : report.missing) text += "missing: " + missing + "\n";
  return text;
}

bool stopped(std::string_view attempt) {
  for (const ProbeResult& result : machine().probes) {
    if (result.attempt == attempt) return result.stopped;
  }
  ADD_FAILURE() << "the probe makes no attempt called \"" << attempt << '"';
  return false;
}

TEST(probe, finds_the_floor_on_every_kernel_with_landlock) {
  if (landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_GE(machine().tier, SandboxTier::a) << text_of(machine());
}

TEST(probe, finds_cgroup_limits_where_a_group_can_be_made) {
  if (!find_cgroup_parents() || ::geteuid() != 0) GTEST_SKIP() << "no cgroup can be made here";
  EXPECT_TRUE(stopped("use more than the memory limit in several processes")) << text_of(machine());
  // Tiers contain the ones before: without namespaces (in a chroot, in most containers) limits alone make no tier c.
  const bool has_namespaces = stopped("share a namespace with the host");
  EXPECT_EQ(machine().tier == SandboxTier::c, has_namespaces) << text_of(machine());
}

TEST(probe, makes_every_attempt_and_says_what_came_of_it) {
  EXPECT_EQ(machine().probes.size(), 23U) << text_of(machine());
  for (const ProbeResult& result : machine().probes) EXPECT_NE(result.detail, "") << result.attempt;
}

TEST(probe, never_reports_more_than_was_asked_for) {
  for (const SandboxTier tier : {SandboxTier::none, SandboxTier::a, SandboxTier::b}) {
    const auto report = probe_sandbox(program(), tier);
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_LE(report->tier, tier) << text_of(*report);
    EXPECT_FALSE(report->missing.empty());
  }
}

TEST(probe, of_an_open_sandbox_names_what_the_child_could_do) {
  const auto report = probe_sandbox(program(), SandboxTier::none);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->tier, SandboxTier::none);
  EXPECT_THAT(report->missing, ::testing::Contains("the hostile child could read a file of the user's: it worked"));
}

TEST(probe, of_a_program_that_is_no_worker_is_an_error) {
  const auto report = probe_sandbox("/usr/bin/true");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, errc::sandbox_failed);
}

TEST(require_tier, names_what_is_missing) {
  SandboxReport report;
  report.tier = SandboxTier::a;
  report.missing = {"no namespaces", "no cgroup"};
  EXPECT_TRUE(require_tier(report, SandboxTier::a));
  const auto refused = require_tier(report, SandboxTier::c);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::sandbox_tier);
  EXPECT_EQ(refused.error().message, "the sandbox reaches tier a here, and tier c is required");
  EXPECT_EQ(refused.error().hint, "no namespaces; no cgroup");
}

}  // namespace
}  // namespace kw::hostile
