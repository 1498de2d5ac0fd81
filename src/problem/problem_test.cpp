#include "problem/problem.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/file_system.hpp"

namespace kw {
namespace {

const std::vector<std::filesystem::path> k_search = {"problems"};

Problem load(const std::string& name) {
  auto problem = load_problem(name, RealFileSystem{}, k_search);
  EXPECT_TRUE(problem.has_value()) << (problem ? "" : problem.error().to_string());
  return problem ? *std::move(problem) : Problem{};
}

std::string with(const std::string& mod, const std::string& head = "") {
  return "name = \"t\"\nop = \"attention\"\n" + head +
         "[axes]\nB = 1\nHq = 2\nSq = 8\nD = 4\n[constants]\nW = 3\n[attention]\ndtype = \"f32\"\n" + mod +
         "[[workload]]\nname = \"w\"\nrole = \"edge\"\nSq = 5\n";
}

TEST(Problem, loads_every_problem_of_the_library) {
  for (const auto* name :
       {"full", "causal", "sliding_window", "prefix_lm", "relative", "alibi", "alibi_causal", "softcap"}) {
    const auto problem = load(std::string("attention/") + name);
    ASSERT_EQ(problem.name, std::string("attention/") + name);
    EXPECT_EQ(problem.primary().axes,
              (Axes{{"B", 1}, {"Hq", 8}, {"Hkv", 8}, {"Sq", 1024}, {"Skv", 1024}, {"D", 64}, {"Dv", 64}}))
        << name;
    EXPECT_GE(problem.workloads.size(), 6U) << name;
    for (const auto& workload : problem.workloads) {
      const bool primary = workload.role == WorkloadRole::primary;
      EXPECT_TRUE(primary || (workload.axes.at("Sq") <= 300 && workload.axes.at("Skv") <= 300)) << name;
    }
  }
}

TEST(Problem, fills_the_axes_that_may_be_left_out) {
  const auto problem = parse_problem(with(""), "t.toml").value();
  EXPECT_EQ(problem.primary().axes.at("Hkv"), 2);
  EXPECT_EQ(problem.primary().axes.at("Skv"), 8);
  EXPECT_EQ(problem.primary().axes.at("Dv"), 4);
  // A workload differs from the primary only where it says so.
  EXPECT_EQ(problem.workloads[1].axes.at("Sq"), 5);
  EXPECT_EQ(problem.workloads[1].axes.at("Skv"), 8);
}

TEST(Problem, names_its_tensors_with_their_axes) {
  const auto problem = load("attention/causal");
  ASSERT_EQ(problem.inputs.size(), 3U);
  EXPECT_EQ(problem.inputs[2].name, "V");
  EXPECT_EQ(problem.inputs[2].axes, (std::vector<std::string>{"B", "Hkv", "Skv", "Dv"}));
  EXPECT_EQ(problem.outputs[0].axes, (std::vector<std::string>{"B", "Hq", "Sq", "Dv"}));
}

TEST(Problem, has_the_identity_of_what_it_means_and_not_of_how_it_is_written) {
  const auto plain = parse_problem(with("mask_mod = \"lambda b, h, q, k: (q >= k) & (q - k <= W)\"\n"), "a").value();
  const auto spelled = parse_problem(with("mask_mod = \"\"\"\ndef far(x):  # a helper\n    return x <= 3\n"
                                          "def m(i, j, row, col):\n    unused = row * 5\n    near = far(row - col)\n"
                                          "    causal = row >= col\n    return causal & near\n\"\"\"\n",
                                          "description = \"other words\"\n"),
                                     "b");
  ASSERT_TRUE(spelled) << spelled.error().to_string();
  EXPECT_EQ(plain.canonical_text(), spelled->canonical_text());
  EXPECT_EQ(plain.id(), spelled->id());
  const auto wider = parse_problem(with("mask_mod = \"lambda b, h, q, k: (q >= k) & (q - k <= 4)\"\n"), "c").value();
  EXPECT_NE(plain.id(), wider.id());
}

TEST(WithAxes, changes_one_axis_of_the_primary_alone) {
  const auto problem = with_axes(load("attention/causal"), {"Sq=4096"}).value();
  EXPECT_EQ(problem.primary().axes.at("Sq"), 4096);
  EXPECT_EQ(problem.primary().axes.at("Skv"), 1024);
  EXPECT_EQ(problem.workloads[1].axes, load("attention/causal").workloads[1].axes);
}

TEST(WithAxes, refuses_what_no_problem_file_could_say) {
  const auto problem = load("attention/causal");
  const auto text = [&](const char* assignment) { return with_axes(problem, {assignment}).error().to_string(); };
  EXPECT_EQ(text("sq=4"), "the problem has no axis 'sq' [problem.set]\n  try: 'Sq'?");
  EXPECT_EQ(text("Sq"), "'Sq' does not set an axis [problem.set]\n  try: write AXIS=NUMBER, as in Sq=4096");
  EXPECT_EQ(text("Sq=4k"), "'Sq=4k' does not set an axis [problem.set]\n  try: write AXIS=NUMBER, as in Sq=4096");
  EXPECT_EQ(text("Sq=0"), "Sq = 0 is not within 1 to 16777216 [problem.set]\n  while setting Sq=0");
  EXPECT_EQ(text("Hkv=3"),
            "Hkv = 3 does not divide Hq = 8 [problem.set]\n  while setting Hkv=3\n  try: each key head serves the same "
            "number of query heads; set both when both change");
}

TEST(WithAxes, checks_what_all_of_them_say_together) {
  const auto problem = load("attention/causal");
  for (const auto& order : {std::vector<std::string>{"Hkv=3", "Hq=9"}, std::vector<std::string>{"Hq=9", "Hkv=3"}}) {
    const auto changed = with_axes(problem, order).value();
    EXPECT_EQ(changed.primary().axes.at("Hq"), 9);
    EXPECT_EQ(changed.primary().axes.at("Hkv"), 3);
  }
  EXPECT_EQ(with_axes(problem, {"Hkv=3", "Hq=8"}).error().context.front(), "setting Hkv=3 Hq=8");
}

TEST(Problem, holds_every_workload_to_what_its_mods_assert) {
  const auto asserting = [](const std::string& condition) {
    return with("mask_mod = \"\"\"\ndef mod(b, h, q, k):\n    assert " + condition + "\n    return q >= k\n\"\"\"\n");
  };
  const auto plain = parse_problem(with("mask_mod = \"lambda b, h, q, k: q >= k\"\n"), "a").value();
  const auto kept = parse_problem(asserting("Skv % 8 == 0 and Sq <= Skv, 'sizes'"), "b");
  ASSERT_TRUE(kept) << kept.error().to_string();
  EXPECT_EQ(kept->id(), plain.id()) << "an assert changes no value";
  const auto broken = parse_problem(asserting("Sq % 8 == 0, 'whole tiles'"), "c");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().to_string(),
            "the mask_mod asserts Sq % 8 == 0 (whole tiles), which does not hold in workload 'w' [problem.value]\n"
            "  try: change the workload, or leave the assert out if the mod is right without it");
  const auto set = with_axes(*kept, {"Skv=12"});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().message,
            "the mask_mod asserts Skv % 8 == 0 (sizes), which does not hold in workload 'primary'");
}

TEST(LoadProblem, finds_a_name_or_a_path_and_suggests_the_nearest) {
  EXPECT_EQ(load("problems/attention/alibi.toml").id(), load("attention/alibi").id());
  const RealFileSystem files;
  EXPECT_EQ(load_problem("attention/alibbi", files, k_search).error().to_string(),
            "there is no problem named 'attention/alibbi' [base.not_found]\n  try: attention/alibi?");
  EXPECT_EQ(load_problem("../secret", files, k_search).error().code, errc::not_found);
  EXPECT_EQ(load_problem("no/such.toml", files, k_search).error().code, errc::not_found);
}

/// Archives, exemplars and --resume know a problem by this number.
TEST(Problem, keeps_the_identity_that_archives_know_it_by) {
  for (const auto& [name, id] : {
           std::pair{"full", "8126db97f67d0d4f8182d57aff6692a086d0a48dc79fd7371a0c95ecab3148f7"},
           {"alibi_causal", "0cc053a8af897d6a0ae3a416d5a06164d36e7528a342813b2b60713b488d75c8"},
           {"document_causal", "56111e98e375049951de5c2553674ce29e6e04881fc7a6ad05f234d64a71dc17"},
           {"learned_relative", "75948daf985fff3292ff88cc656e1ba59c57f34a1c8401f71ffb551b11d2d7ab"},
           {"softcap", "de361e4153da9190cf036170e6d6316f6a3486122a25f2d3f230d5db3009f48d"},
       }) {
    EXPECT_EQ(load(std::string("attention/") + name).id().hex(), id) << name;
  }
}

}  // namespace
}  // namespace kw
