// What a person types, and the options that come of it.

#include "cli/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

auto parse(std::vector<const char*> words) {
  words.insert(words.begin(), "kernelwright");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

/// The options of a command line that is right.
template <typename Options>
Options read(const std::vector<const char*>& words) {
  const auto parsed = parse(words);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().err << parsed.error().out;
    return {};
  }
  const auto* options = std::get_if<Options>(&*parsed);
  EXPECT_NE(options, nullptr) << "another command than the one that was typed";
  return options == nullptr ? Options{} : *options;
}

void expect_usage_error(const std::vector<const char*>& words, const std::string& says) {
  const auto parsed = parse(words);
  ASSERT_FALSE(parsed) << words.front();
  EXPECT_EQ(parsed.error().exit_code, ExitCode::usage);
  EXPECT_EQ(parsed.error().out, "");
  EXPECT_THAT(parsed.error().err, HasSubstr(says));
}

TEST(CommandLine, optimize_has_a_default_for_all_but_the_problem) {
  const auto options = read<OptimizeOptions>({"optimize", "attention/alibi"});
  EXPECT_EQ(options.input.problem, "attention/alibi");
  EXPECT_EQ(options.budget, "60s");
  EXPECT_EQ(options.device, "");
  EXPECT_EQ(options.target, "opencl");
  EXPECT_EQ(options.style, "");
  EXPECT_EQ(options.seed, 1U);
  EXPECT_EQ(options.out, "kw-runs");
  EXPECT_EQ(options.require_sandbox, "none");
  EXPECT_FALSE(options.resume);
  EXPECT_FALSE(options.json);
  EXPECT_EQ(options.model.proposer, "search");
}

TEST(CommandLine, optimize_takes_every_option) {
  const auto options = read<OptimizeOptions>({"optimize",
                                              "p.toml",
                                              "--set",
                                              "Sq=4096",
                                              "--set",
                                              "B=2",
                                              "--mod",
                                              "m.py:window(256)",
                                              "--budget",
                                              "2h",
                                              "--device",
                                              "cuda:1",
                                              "--target",
                                              "cuda",
                                              "--style",
                                              "mma",
                                              "--seed",
                                              "7",
                                              "--out",
                                              "runs",
                                              "--require-sandbox",
                                              "b",
                                              "--resume",
                                              "--json"});
  EXPECT_EQ(options.input.problem, "p.toml");
  EXPECT_THAT(options.input.set, ElementsAre("Sq=4096", "B=2"));
  EXPECT_THAT(options.input.mods, ElementsAre("m.py:window(256)"));
  EXPECT_EQ(options.budget, "2h");
  EXPECT_EQ(options.device, "cuda:1");
  EXPECT_EQ(options.target, "cuda");
  EXPECT_EQ(options.style, "mma");
  EXPECT_EQ(options.seed, 7U);
  EXPECT_EQ(options.out, "runs");
  EXPECT_EQ(options.require_sandbox, "b");
  EXPECT_TRUE(options.resume);
  EXPECT_TRUE(options.json);
}

TEST(CommandLine, optimize_takes_what_it_asks_of_a_model) {
  const auto model = read<OptimizeOptions>({"optimize",
                                            "p",
                                            "--proposer",
                                            "hybrid",
                                            "--provider",
                                            "vllm",
                                            "--base-url",
                                            "http://h/v1",
                                            "--model",
                                            "r1",
                                            "--key-file",
                                            "key",
                                            "--chains",
                                            "3",
                                            "--samples",
                                            "2",
                                            "--exemplars",
                                            "top",
                                            "--prompt",
                                            "own.md",
                                            "--prompts",
                                            "folder",
                                            "--plan",
                                            "--constraint",
                                            "no atomics",
                                            "--require",
                                            "no_spills",
                                            "--require",
                                            "registers<=128",
                                            "--leave-out",
                                            "notes",
                                            "--effort",
                                            "high",
                                            "--max-tokens",
                                            "9000",
                                            "--first-token-timeout",
                                            "5",
                                            "--idle-timeout",
                                            "6",
                                            "--prices",
                                            "p.toml",
                                            "--allow-key-over-http",
                                            "--replay",
                                            "last"})
                         .model;
  EXPECT_EQ(model.proposer, "hybrid");
  EXPECT_EQ(model.provider, "vllm");
  EXPECT_EQ(model.base_url, "http://h/v1");
  EXPECT_EQ(model.model, "r1");
  EXPECT_EQ(model.key_file, "key");
  EXPECT_EQ(model.chains, 3);
  EXPECT_EQ(model.samples, 2);
  EXPECT_EQ(model.exemplars, "top");
  EXPECT_EQ(model.prompt, "own.md");
  EXPECT_EQ(model.prompts, "folder");
  EXPECT_TRUE(model.plan);
  EXPECT_THAT(model.constraints, ElementsAre("no atomics"));
  EXPECT_THAT(model.require, ElementsAre("no_spills", "registers<=128"));
  EXPECT_EQ(model.leave_out, "notes");
  EXPECT_EQ(model.effort, "high");
  EXPECT_EQ(model.max_tokens, 9000);
  EXPECT_EQ(model.first_token_seconds, 5);
  EXPECT_EQ(model.idle_seconds, 6);
  EXPECT_EQ(model.prices, "p.toml");
  EXPECT_TRUE(model.allow_key_over_http);
  EXPECT_EQ(model.replay, "last");
}

TEST(CommandLine, verify_takes_problem_bundle_and_tunables) {
  const auto options = read<VerifyOptions>({"verify", "p", "k.cl", "--device", "opencl:0", "--tune", "ROWS=4", "--tune",
                                            "UNROLL=2", "--require-sandbox", "c", "--json"});
  EXPECT_EQ(options.input.problem, "p");
  EXPECT_EQ(options.bundle, "k.cl");
  EXPECT_EQ(options.device, "opencl:0");
  EXPECT_THAT(options.tune, ElementsAre("ROWS=4", "UNROLL=2"));
  EXPECT_EQ(options.require_sandbox, "c");
  EXPECT_TRUE(options.json);
}

TEST(CommandLine, emit_takes_several_devices_between_commas) {
  const auto options = read<EmitOptions>({"emit", "p", "--target", "cuda", "--style", "mma", "--device", "h200,a100",
                                          "--structure", "PINGPONG=1", "--source-only"});
  EXPECT_EQ(options.target, "cuda");
  EXPECT_EQ(options.style, "mma");
  EXPECT_THAT(options.devices, ElementsAre("h200", "a100"));
  EXPECT_THAT(options.structure, ElementsAre("PINGPONG=1"));
  EXPECT_TRUE(options.source_only);
}

TEST(CommandLine, emit_takes_the_problem_after_its_devices) {
  const auto options = read<EmitOptions>({"emit", "--target", "cuda", "--device", "h200", "p"});
  EXPECT_EQ(options.input.problem, "p");
  EXPECT_THAT(options.devices, ElementsAre("h200"));
}

TEST(CommandLine, build_takes_a_file_for_the_binary) {
  const auto options =
      read<BuildOptions>({"build", "p", "k.cu", "--device", "h200", "--tune", "A=1", "--binary", "k.cubin", "--json"});
  EXPECT_EQ(options.bundle, "k.cu");
  EXPECT_EQ(options.device, "h200");
  EXPECT_THAT(options.tune, ElementsAre("A=1"));
  EXPECT_EQ(options.binary, "k.cubin");
  EXPECT_TRUE(options.json);
}

TEST(CommandLine, dispatch_has_two_commands) {
  const auto shown = read<DispatchShowOptions>({"dispatch", "show", "p", "k.cu", "--device", "a100", "--json"});
  EXPECT_EQ(shown.input.problem, "p");
  EXPECT_EQ(shown.bundle, "k.cu");
  EXPECT_EQ(shown.device, "a100");
  EXPECT_TRUE(shown.json);
  const auto added = read<DispatchAddOptions>({"dispatch", "add", "--device", "Hopper", "--when", "Skv >= 4096",
                                               "--when", "B == 1", "--tune", "STAGES=3", "k.cu", "--into", "new.cu"});
  EXPECT_EQ(added.bundle, "k.cu");
  EXPECT_EQ(added.device, "Hopper");
  EXPECT_THAT(added.when, ElementsAre("Skv >= 4096", "B == 1"));
  EXPECT_THAT(added.tune, ElementsAre("STAGES=3"));
  EXPECT_EQ(added.into, "new.cu");
}

TEST(CommandLine, retune_takes_every_option) {
  const auto options = read<RetuneOptions>({"retune", "p", "k.cl", "--budget", "9c", "--device", "opencl:0", "--when",
                                            "Sq == 1", "--into", "new.cl", "--seed", "5", "--out", "runs",
                                            "--require-sandbox", "a", "--resume", "--json"});
  EXPECT_EQ(options.input.problem, "p");
  EXPECT_EQ(options.bundle, "k.cl");
  EXPECT_EQ(options.budget, "9c");
  EXPECT_EQ(options.device, "opencl:0");
  EXPECT_THAT(options.when, ElementsAre("Sq == 1"));
  EXPECT_EQ(options.into, "new.cl");
  EXPECT_EQ(options.seed, 5U);
  EXPECT_EQ(options.out, "runs");
  EXPECT_EQ(options.require_sandbox, "a");
  EXPECT_TRUE(options.resume);
  EXPECT_TRUE(options.json);
}

TEST(CommandLine, the_small_commands_take_their_options) {
  EXPECT_EQ(read<ExplainOptions>({"explain", "p", "--set", "Sq=8"}).input.problem, "p");
  EXPECT_EQ(read<ExplainOptions>({"explain", "p.py", "--precision", "tf32"}).input.precision, "tf32");
  EXPECT_TRUE(read<ExplainOptions>({"explain", "p", "--json"}).json);
  EXPECT_FALSE(read<DoctorOptions>({"doctor"}).json);
  EXPECT_TRUE(read<DoctorOptions>({"doctor", "--json"}).json);
  EXPECT_TRUE(read<ProblemsOptions>({"problems", "--json"}).json);
  EXPECT_EQ(read<ShowOptions>({"show"}).run, "last");
  const auto show = read<ShowOptions>({"show", "4f1c", "--out", "runs", "--format", "html"});
  EXPECT_EQ(show.run, "4f1c");
  EXPECT_EQ(show.out, "runs");
  EXPECT_EQ(show.format, "html");
}

TEST(CommandLine, suite_takes_paths_devices_and_baselines) {
  const auto options = read<SuiteOptions>({"suite",  "level1",      "a.py",   "--device",   "cuda:0,cuda:1", "--device",
                                           "cuda:2", "--baseline",  "e.json", "--baseline", "c.json",        "--fit",
                                           "1e6",    "--budget",    "2h",     "--export",   "files",         "--mode",
                                           "eval",   "--precision", "tf32"});
  EXPECT_THAT(options.paths, ElementsAre("level1", "a.py"));
  EXPECT_THAT(options.devices, ElementsAre("cuda:0", "cuda:1", "cuda:2"));
  EXPECT_THAT(options.baselines, ElementsAre("e.json", "c.json"));
  EXPECT_EQ(options.most_steps, 1e6);
  EXPECT_EQ(options.budget, "2h");
  EXPECT_EQ(options.budget_per_problem, "") << "the command decides";
  EXPECT_EQ(options.export_to, "files");
  EXPECT_EQ(options.mode, "eval");
  EXPECT_EQ(options.precision, "tf32");
  EXPECT_EQ(options.out, "kw-suite");
}

TEST(CommandLine, a_resumed_suite_keeps_its_settings) {
  const auto options = read<SuiteOptions>({"suite", "--resume", "night", "--budget", "3h", "--json"});
  EXPECT_EQ(options.resume, "night");
  for (const auto& [option, value] : {std::pair("--mode", "eval"),
                                      {"--precision", "tf32"},
                                      {"--fit", "1e6"},
                                      {"--device", "cuda:0"},
                                      {"--budget-per-problem", "9s"},
                                      {"--out", "elsewhere"}}) {
    expect_usage_error({"suite", "--resume", "night", option, value}, "excludes");
  }
  expect_usage_error({"suite", "level1", "--mode", "sometimes"}, "sometimes not in {");
  expect_usage_error({"suite", "level1", "--precision", "half"}, "half not in {");
}

TEST(CommandLine, refuses_what_it_does_not_know) {
  expect_usage_error(
      {"frobnicate"},
      "kernelwright: there is no command \"frobnicate\" [cli.usage]\n  try: one of: optimize, suite, verify, "
      "emit, build, dispatch, retune, "
      "sweep, predict, explain, doctor, problems, show, archive\n");
  expect_usage_error({"optimize", "p", "--nosuch"}, "--nosuch");
  expect_usage_error({"explain", "p", "another"}, "another");
  expect_usage_error({"show", "--format", "pdf"}, "pdf not in {");
  expect_usage_error({"optimize", "p", "--seed", "many"}, "Could not convert: --seed = many");
}

TEST(CommandLine, refuses_a_command_that_lacks_something) {
  expect_usage_error({"optimize"}, "problem is required");
  expect_usage_error({"verify", "p"}, "bundle is required");
  expect_usage_error({"dispatch"}, "A subcommand is required");
  expect_usage_error({"optimize", "p", "--budget"}, "--budget");
  const auto nothing = parse({});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().exit_code, ExitCode::usage);
}

TEST(CommandLine, help_and_version_are_answers_and_not_errors) {
  const auto help = parse({"--help"});
  ASSERT_FALSE(help);
  EXPECT_EQ(help.error().exit_code, ExitCode::success);
  EXPECT_EQ(help.error().err, "");
  EXPECT_THAT(help.error().out, HasSubstr("Exit codes: 0 success"));
  const auto of_one = parse({"emit", "--help"});
  ASSERT_FALSE(of_one);
  EXPECT_EQ(of_one.error().exit_code, ExitCode::success);
  EXPECT_THAT(of_one.error().out, HasSubstr("a100, b200, h100"));
  const auto version = parse({"--version"});
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().exit_code, ExitCode::success);
  EXPECT_EQ(version.error().out, "0.1.0\n");
}

TEST(CommandLine, archive_has_three_commands) {
  EXPECT_EQ(read<ArchiveCheckOptions>({"archive", "check"}).out, "kw-runs");
  EXPECT_TRUE(read<ArchiveCheckOptions>({"archive", "check", "--out", "x", "--json"}).json);
  EXPECT_EQ(read<ArchiveRepairOptions>({"archive", "repair", "--out", "x"}).out, "x");
  const auto exported = read<ArchiveExportOptions>({"archive", "export", "ab", "last", "--to", "runs.jsonl"});
  EXPECT_THAT(exported.runs, ElementsAre("ab", "last"));
  EXPECT_EQ(exported.to, "runs.jsonl");
  expect_usage_error({"archive"}, "subcommand");
}

TEST(CommandLine, shows_control_characters_of_a_wrong_word_instead_of_obeying_them) {
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"\x1b[2J"}, {"show", "--\x1b[2J"}, {"show", "--format", "\x1b[2J"}}) {
    const auto parsed = parse(words);
    ASSERT_FALSE(parsed);
    EXPECT_THAT(parsed.error().err, HasSubstr("\xef\xbf\xbd[2J"));
    EXPECT_EQ(parsed.error().err.find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace kw
