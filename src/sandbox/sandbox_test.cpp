// The parts of the sandbox that need no process: names, tokens, what a launch is planned to be, the probe's format.
// tests/hostile/sandbox shows that the layers hold.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/plan_child.hpp"
#include "sandbox/probe.hpp"
#include "sandbox/start_supervisor.hpp"
#include "sandbox/system_calls.hpp"

namespace kw {
namespace {

TEST(sandbox_tier, has_a_name) {
  EXPECT_EQ(to_string(SandboxTier::none), "none");
  EXPECT_EQ(to_string(SandboxTier::a), "a");
  EXPECT_EQ(to_string(SandboxTier::b), "b");
  EXPECT_EQ(to_string(SandboxTier::c), "c");
}

TEST(exemption, every_token_is_found_and_says_what_it_costs) {
  for (const SandboxExemption& exemption : SandboxExemption::all()) {
    const auto found = SandboxExemption::from_token(exemption.token());
    ASSERT_TRUE(found) << exemption.token();
    EXPECT_EQ(found->layer(), exemption.layer());
    EXPECT_GT(found->consequence().size(), 60U) << exemption.token();
  }
}

TEST(exemption, an_unknown_token_is_refused_with_the_known_ones) {
  const auto refused = SandboxExemption::from_token("off");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::sandbox_token);
  EXPECT_EQ(refused.error().message, "\"off\" is not a token that loosens the sandbox");
  EXPECT_THAT(refused.error().hint, ::testing::StartsWith("use one of let-candidates-keep-descriptors, "));
}

TEST(exit_report, says_how_a_process_ended) {
  EXPECT_EQ((ExitReport{false, 3, false}).to_string(), "exited with status 3");
  EXPECT_EQ((ExitReport{true, 11, false}).to_string(), "killed by signal 11 (SIGSEGV)");
  EXPECT_EQ((ExitReport{true, 9, true}).to_string(), "killed for exceeding its memory limit");
}

SandboxSpec spec() {
  SandboxSpec result;
  result.program = "/usr/bin/true";
  return result;
}

bool has_limit(const ChildPlan& plan, int resource) {
  return std::any_of(plan.limits.begin(), plan.limits.end(),
                     [resource](const PlannedLimit& limit) { return limit.resource == resource; });
}

TEST(child_plan, gives_the_whole_environment_and_lets_the_spec_name_its_own) {
  SandboxSpec with = spec();
  with.environment = {{"HOME", "/elsewhere"}, {"POCL_CACHE_DIR", "/cache"}};
  const auto plan = plan_child(with, "/private");
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_THAT(plan->environment,
              ::testing::UnorderedElementsAre("PATH=/usr/bin:/bin", "TMPDIR=/private", "XDG_CACHE_HOME=/private",
                                              "HOME=/elsewhere", "POCL_CACHE_DIR=/cache"));
}

TEST(child_plan, limits_address_space_only_without_devices) {
  SandboxSpec with = spec();
  with.devices = {"/dev/null"};
  EXPECT_FALSE(has_limit(plan_child(with, "/private").value(), RLIMIT_AS));
#if !defined(KW_SANITIZED)
  EXPECT_TRUE(has_limit(plan_child(spec(), "/private").value(), RLIMIT_AS));
#endif
}

TEST(child_plan, grants_the_run_profile_execution_of_the_program_and_its_loader_only) {
  const LandlockPlan plan = plan_paths(spec(), "/private");
  std::vector<std::string> executable;
  for (const PathRule& rule : plan.rules) {
    if (rule.access == PathAccess::read_execute) executable.push_back(rule.path);
  }
  ASSERT_EQ(executable.size(), 2U);
  EXPECT_EQ(executable[0], "/usr/bin/true");
  EXPECT_THAT(executable[1], ::testing::HasSubstr("ld-"));
}

TEST(child_plan, refuses_more_descriptors_than_it_has_room_for) {
  SandboxSpec with = spec();
  with.inherited.assign(k_max_inherited + 1, 0);
  const auto plan = plan_child(with, "/private");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, errc::sandbox_failed);
  EXPECT_EQ(plan.error().message, "61 descriptors are too many to inherit; 60 is the most");
}

TEST(child_plan, leaves_out_the_layers_above_the_tier_and_those_named) {
  SandboxSpec with = spec();
  with.at_most = SandboxTier::a;
  with.without = {SandboxExemption::from_token("let-candidates-reach-files").value()};
  EXPECT_FALSE(has_layer(with, SandboxLayer::cgroup));
  EXPECT_FALSE(has_layer(with, SandboxLayer::namespaces));
  EXPECT_FALSE(has_layer(with, SandboxLayer::landlock));
  EXPECT_TRUE(has_layer(with, SandboxLayer::system_calls));
}

/// No field as it is by default.
ChildPlan full_plan() {
  ChildPlan plan;
  plan.program = "/bin/program";
  plan.arguments = {"/bin/program", "", "two words"};
  plan.environment = {"PATH=/bin"};
  plan.descriptors = {0, 7, 7, 9};
  plan.close_others = false;
  plan.namespaces = true;
  plan.limits = {{RLIMIT_CPU, {3, RLIM_INFINITY}}};
  plan.drop_privileges = false;
  plan.reap = false;
  plan.use_landlock = false;
  plan.landlock = {{{"/a", PathAccess::read}, {"/b", PathAccess::directory}}, false};
  plan.filters = {{{1, 2, 3, 0xffffffffU}}, {}};
  plan.private_directory = "/private";
  plan.cgroup_directory = 11;
  plan.cgroup_members = {12, 13};
  plan.parents = {14};
  plan.name = "name";
  return plan;
}

TEST(child_plan, reaches_the_supervisor_as_it_is) {
  const ChildPlan sent = full_plan();
  const auto plan = decode_child_plan(encode(sent));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->program, sent.program);
  EXPECT_EQ(plan->arguments, sent.arguments);
  EXPECT_EQ(plan->environment, sent.environment);
  EXPECT_EQ(plan->descriptors, sent.descriptors);
  EXPECT_FALSE(plan->close_others);
  EXPECT_TRUE(plan->namespaces);
  ASSERT_EQ(plan->limits.size(), 1U);
  EXPECT_EQ(plan->limits[0].resource, RLIMIT_CPU);
  EXPECT_EQ(plan->limits[0].value.rlim_cur, 3U);
  EXPECT_EQ(plan->limits[0].value.rlim_max, RLIM_INFINITY);
  EXPECT_FALSE(plan->drop_privileges || plan->reap || plan->use_landlock || plan->landlock.governs_paths);
  ASSERT_EQ(plan->landlock.rules.size(), 2U);
  EXPECT_EQ(plan->landlock.rules[1].path, "/b");
  EXPECT_EQ(plan->landlock.rules[1].access, PathAccess::directory);
  ASSERT_EQ(plan->filters.size(), 2U);
  EXPECT_EQ(plan->filters[0].at(0).k, 0xffffffffU);
  EXPECT_EQ(plan->filters[0].at(0).jf, 3);
  EXPECT_EQ(plan->private_directory, sent.private_directory);
  EXPECT_EQ(plan->name, sent.name);
  EXPECT_EQ(descriptors_of(*plan), (std::vector<int>{0, 7, 7, 9, 12, 13, 14, 11}));
}

TEST(child_plan, is_none_where_bytes_are_missing_or_left_over) {
  const std::string bytes = encode(full_plan());
  EXPECT_FALSE(decode_child_plan(bytes + "x"));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_FALSE(decode_child_plan(std::string_view(bytes).substr(0, length))) << length;
  }
}

TEST(find_supervisor, says_what_is_missing_and_where) {
  const auto missing = find_supervisor("/nowhere");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, errc::sandbox_failed);
  EXPECT_EQ(missing.error().message, "the supervisor /nowhere/kernelwright-supervisor does not exist");
  EXPECT_EQ(missing.error().hint, "build the target kernelwright-supervisor, or install it beside kernelwright");
}

TEST(system_call_filters, fit_into_what_the_kernel_takes) {
  const auto filters = base_filters(Sockets::none);
  ASSERT_TRUE(filters) << filters.error().to_string();
  for (const auto& filter : *filters) EXPECT_LE(filter.size(), std::size_t{BPF_MAXINSNS});
}

TEST(probe_format, what_is_written_is_read_back) {
  const ProbeBait bait{"/a/canary", "/a/outside", 12, 5, 1 << 20, 32};
  const auto read = ProbeBait::decode(bait.encode());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->encode(), bait.encode());
  const auto result = decode_probe_result(encode(ProbeResult{"try", true, "EPERM"}));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->attempt, "try");
  EXPECT_TRUE(result->stopped);
  EXPECT_EQ(result->detail, "EPERM");
}

TEST(probe_format, anything_else_is_refused) {
  for (const char* text : {"", "\n", "a\nb\n", "a\nb\nc", "a\nb\nc\nd\n"}) {
    EXPECT_FALSE(decode_probe_result(text)) << text;
    EXPECT_FALSE(ProbeBait::decode(text)) << text;
  }
}

}  // namespace
}  // namespace kw
