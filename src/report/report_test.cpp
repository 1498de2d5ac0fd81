#include "report/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/file_system.hpp"
#include "record/testing/synthetic_run.hpp"
#include "report/terminal.hpp"

namespace kw {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

ReportModel model_of(const SyntheticRun& synthetic) {
  return build_report(synthetic.run, synthetic.attempts);
}

/// The text of a golden file. With KW_ACCEPT=1 the file is written first; the change is then read in review.
void expect_golden(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path("tests/golden") / name;
  RealFileSystem files;
  const char* const accept = std::getenv("KW_ACCEPT");
  if (accept != nullptr && std::string_view(accept) == "1") {
    ASSERT_TRUE(files.write_atomic(path, text)) << path;
  }
  const auto golden = files.read(path, 1 << 20);
  ASSERT_TRUE(golden) << path << " is missing; KW_ACCEPT=1 writes it";
  EXPECT_EQ(text, *golden) << "KW_ACCEPT=1 rewrites " << path;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

const Json& table_in(const Json& report, const std::string& key) {
  for (const auto& section : report.at("sections")) {
    for (const auto& block : section.at("blocks")) {
      if (block.at("type") == "table" && block.at("key") == key) return block;
    }
  }
  ADD_FAILURE() << "no table " << key;
  return report;
}

TEST(Report, markdown_of_a_fixed_run_is_as_reviewed) {
  expect_golden("report_alibi.md", to_markdown(model_of(synthetic_run(7, 12))));
}

TEST(Report, of_a_cuda_kernel_says_what_the_compiler_reports_and_how_to_look_closer) {
  SyntheticRun synthetic = synthetic_run(7, 12);
  synthetic.run.target = "cuda";
  synthetic.run.device.id = "cuda:1";
  synthetic.run.device.kind = DeviceKind::gpu;
  synthetic.run.problem_input = "attention/alibi --set Sq=2048";
  for (auto& attempt : synthetic.attempts) {
    attempt.build.registers = 168;
    attempt.build.occupancy = 0.375;
    attempt.build.tensor_core_instructions = 64;
  }
  const std::string text = to_markdown(model_of(synthetic));
  EXPECT_THAT(text, HasSubstr("168"));
  EXPECT_THAT(text, HasSubstr("37.5"));
  const std::string build =
      "kernelwright build attention/alibi --set Sq=2048 out/attention-alibi.cl --device cuda:1 --json --binary "
      "kernel.cubin > kernel.json";
  const std::string replay = "python3 tools/gpu/replay.py kernel.json kernel.cubin --device 1";
  EXPECT_THAT(
      text, HasSubstr("```sh\n" + build + "\ncompute-sanitizer --tool memcheck " + replay +
                      "\ncompute-sanitizer --tool racecheck " + replay + "\ncompute-sanitizer --tool initcheck " +
                      replay + "\ncompute-sanitizer --tool synccheck " + replay + "\nncu --set full " + replay + "\n"));
  // Everywhere, and in a terminal on one line each, to be copied.
  EXPECT_THAT(to_terminal(model_of(synthetic), false), HasSubstr(build + "\n"));
  EXPECT_THAT(to_html(model_of(synthetic)), HasSubstr("ncu --set full " + replay));
  EXPECT_THAT(to_json(model_of(synthetic)), HasSubstr("ncu --set full " + replay));
  const Json final = Json::parse(final_json(synthetic.run, synthetic.attempts));
  EXPECT_EQ(final.at("best").at("commands").at(0), build);
  EXPECT_EQ(final.at("best").at("commands").size(), 6);
  EXPECT_THAT(to_markdown(model_of(synthetic_run(7, 12))), Not(HasSubstr("compute-sanitizer")));
}

TEST(Report, shows_what_the_hardware_counted_where_it_did) {
  SyntheticRun synthetic = synthetic_run(7, 12);
  EXPECT_THAT(to_markdown(model_of(synthetic)), Not(HasSubstr("hardware counted")));
  ASSERT_TRUE(synthetic.run.best_final);
  HardwareCounters& counters = synthetic.run.best_final->counters.emplace();
  counters.tool = "Nsight Compute 2025.3.1.0";
  counters.kernel = "attention";
  counters.tensor_pipe_share = 0.1104;
  counters.stalls = {{"long_scoreboard", 0.307}};
  EXPECT_THAT(to_markdown(model_of(synthetic)), HasSubstr("one launch of attention (Nsight Compute 2025.3.1.0)"));
  EXPECT_THAT(to_markdown(model_of(synthetic)), HasSubstr("| Tensor cores busy | 11.0 % | of the cycles |"));
  EXPECT_THAT(to_markdown(model_of(synthetic)), HasSubstr("long\\_scoreboard 31 %"));
  const Json json = Json::parse(final_json(synthetic.run, synthetic.attempts)).at("best").at("counters");
  EXPECT_EQ(json.at("tensor_pipe_share"), 0.1104);
  EXPECT_EQ(json.at("l2_hit_share"), Json());
  EXPECT_EQ(json.at("stalls").at(0).at("name"), "long_scoreboard");
}

TEST(Report, shows_what_the_machine_code_of_the_best_kernel_does) {
  SyntheticRun synthetic = synthetic_run(7, 12);
  EXPECT_THAT(to_markdown(model_of(synthetic)), Not(HasSubstr("machine code")));
  for (Attempt& attempt : synthetic.attempts) {
    attempt.build.machine_code = {{"attention", true, 43, 22, 1, 256, 13, 2, 1, {"expf"}}};
  }
  const std::string text = to_markdown(model_of(synthetic));
  EXPECT_THAT(text, HasSubstr("The machine code where each kernel computes most, counted as it stands"));
  EXPECT_THAT(text, HasSubstr("| attention | inner loop | 43 | 22 | 256 | 1 | 13 | 2 | 1 | expf |"));
  const Json code = Json::parse(final_json(synthetic.run, synthetic.attempts)).at("best").at("machine_code").at(0);
  EXPECT_EQ(code.at("loads_stores"), 13);
}

TEST(Report, shows_the_lines_that_cost_most_of_what_the_simulator_counted) {
  SyntheticRun synthetic = synthetic_run(7, 12);
  EXPECT_THAT(to_markdown(model_of(synthetic)), Not(HasSubstr("What warps ask of memory")));
  for (Attempt& attempt : synthetic.attempts) {
    attempt.accesses = SimulatedAccesses{"h200",
                                         8,
                                         64,
                                         0,
                                         {{"attention", 3, false, false, 10, 0, 320, 40, 40},
                                          {"attention", 9, true, true, 10, 5, 240, 320, 20},
                                          {"attention", 7, false, false, 90, 30, 2880, 0, 0}}};
  }
  const std::string text = to_markdown(model_of(synthetic));
  EXPECT_THAT(text, HasSubstr("counted by the simulator h200 in the first 8 of 64 groups"));
  EXPECT_THAT(text, HasSubstr("| attention | 9 | writes to shared | 10 | 320 | 20 | 5 |"));
  EXPECT_THAT(text, Not(HasSubstr("reads of global"))) << "they cost no more than they must";
  EXPECT_THAT(text, HasSubstr("Branches of warps, counted with them"));
  EXPECT_THAT(text, HasSubstr("| attention | 7 | 90 | 30 |"));
  const Json accesses = Json::parse(final_json(synthetic.run, synthetic.attempts)).at("best").at("accesses");
  EXPECT_EQ(accesses.at("lines").size(), 2U);
  EXPECT_EQ(accesses.at("branches").at(0).at("parted"), 30);
  for (Attempt& attempt : synthetic.attempts) attempt.accesses->lines.resize(1);
  EXPECT_THAT(to_markdown(model_of(synthetic)), HasSubstr("| attention | 3 | reads of global | 10 | 40 | 40 | 0 |"));
}

TEST(Report, says_of_the_best_kernel_that_no_tool_sanitized_it) {
  SyntheticRun synthetic = synthetic_run(7, 12);
  synthetic.run.sanitizers = {"compute-sanitizer"};
  for (Attempt& attempt : synthetic.attempts) {
    attempt.verdict.gates_passed = {GateId::read, GateId::build, GateId::check, GateId::time};
    attempt.verdict.evidence = {{GateId::sanitize, "not sanitized: too large"}};
  }
  EXPECT_THAT(to_markdown(model_of(synthetic)),
              HasSubstr("The best kernel under a sanitizer: not sanitized: too large."));
  EXPECT_THAT(to_markdown(model_of(synthetic)), HasSubstr("\nA verified kernel (not sanitized) runs in "));
}

TEST(Report, of_a_cuda_kernel_quotes_what_a_shell_would_not_take_as_it_is) {
  SyntheticRun synthetic = synthetic_run(7, 12);
  synthetic.run.target = "cuda";
  synthetic.run.device.id = "cuda:0";
  synthetic.run.device.kind = DeviceKind::gpu;
  synthetic.run.problem = "attention/alibi";
  synthetic.run.best_path = "my runs/best.cu";
  EXPECT_THAT(to_markdown(model_of(synthetic)), HasSubstr("kernelwright build attention/alibi 'my runs/best.cu' "));
}

TEST(Report, of_a_simulated_run_says_that_no_time_was_measured) {
  SyntheticRun synthetic = synthetic_run(7, 12);
  synthetic.run.device.kind = DeviceKind::simulator;
  synthetic.run.baselines.clear();
  synthetic.run.best_final.reset();
  for (auto& attempt : synthetic.attempts) attempt.measurement.reset();
  const ReportModel model = model_of(synthetic);
  EXPECT_THAT(model.headline, HasSubstr("No time was measured: the best kernel is the one with the lowest static"));
  const std::string text = to_terminal(model, false);
  EXPECT_THAT(text, HasSubstr("The best kernel by static estimate, not timed"));
  EXPECT_THAT(text, HasSubstr("the simulator itself")) << "which looks at every launch; no sanitizer has to";
  EXPECT_THAT(text, Not(HasSubstr("pairs of workload and inputs")));
  synthetic.run.cases_left_out = 22;
  EXPECT_THAT(to_markdown(model_of(synthetic)), HasSubstr("Correctness on 22 pairs of workload and inputs"));
  EXPECT_THAT(text, HasSubstr("not measured"));
  const Json json = Json::parse(final_json(synthetic.run, synthetic.attempts));
  EXPECT_EQ(json.at("best").at("ranked_by"), "static estimate");
  EXPECT_TRUE(json.at("best").at("time_ns").is_null());
}

TEST(Report, terminal_text_of_a_fixed_run_is_as_reviewed) {
  expect_golden("report_alibi.txt", to_terminal(model_of(synthetic_run(7, 12)), false));
}

TEST(Report, final_json_of_a_fixed_run_is_as_reviewed) {
  const SyntheticRun synthetic = synthetic_run(7, 12);
  expect_golden("report_final.json", final_json(synthetic.run, synthetic.attempts) + "\n");
}

TEST(Report, is_the_same_bytes_every_time) {
  const SyntheticRun synthetic = synthetic_run(7, 50);
  EXPECT_EQ(to_html(model_of(synthetic)), to_html(model_of(synthetic)));
}

// Every string a run can carry is one that somebody else wrote.
TEST(Report, hostile_text_stays_text_in_every_format) {
  const std::string evil = "<script>alert(1)</script>\"' onload=x ]]> --> `` | [a](javascript:1) \x1b[31m\xff &lt;";
  SyntheticRun synthetic = synthetic_run(7, 30);
  RunRecord& run = synthetic.run;
  for (auto* text :
       {&run.problem, &run.problem_text, &run.failure, &run.device.name, &run.device.driver, &run.sandbox_tier,
        &run.best_path, &run.id, &run.started_utc, &run.target, &run.proposer, &run.version}) {
    *text = evil;
  }
  run.environment = {{evil, evil}};
  run.workloads = run.distributions = run.sanitizers = {evil};
  run.baselines[0].name = evil;
  run.best_accuracy = {{evil, evil, 1, 1}};
  for (auto& attempt : synthetic.attempts) {
    attempt.origin = attempt.verdict.message = attempt.candidate.bundle.source = evil;
    attempt.candidate.bundle.generator = evil;
    attempt.candidate.tunables[evil] = 1;
  }
  const std::string html = to_html(model_of(synthetic));
  EXPECT_EQ(count_of(html, "<script"), 0U);
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39; onload=x ]]&gt; --&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("\" onload")));
  EXPECT_THAT(html, Not(HasSubstr("\x1b")));
  EXPECT_THAT(html, Not(HasSubstr("\xff")));
  const std::string markdown = to_markdown(model_of(synthetic));
  EXPECT_THAT(markdown,
              HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;\"' onload=x \\]\\]&gt; --&gt; \\`\\` \\| \\[a\\]("));
  EXPECT_THAT(to_terminal(model_of(synthetic), true), Not(HasSubstr("\x1b[31m")));
  EXPECT_TRUE(Json::accept(to_json(model_of(synthetic))));
  EXPECT_EQ(Json::parse(final_json(run, synthetic.attempts)).at("run_id").get<std::string>().substr(0, 8), "<script>");
}

TEST(Report, html_loads_nothing_and_runs_nothing) {
  const std::string html = to_html(model_of(synthetic_run(7, 60)));
  EXPECT_THAT(html, HasSubstr("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                              "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">"));
  for (const char* loads :
       {"<script", "<link", "<iframe", "<img", "http:", "https:", " src=", "url(", "@import", " onclick"}) {
    EXPECT_THAT(html, Not(HasSubstr(loads)));
  }
}

/// Elements that are never closed, or closed in the wrong order; empty when the page is well formed.
std::string nesting_error(const std::string& html) {
  static const std::regex k_tag("<(/?)([a-zA-Z0-9]+)[^>]*?(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator it(html.begin(), html.end(), k_tag), end; it != end; ++it) {
    const std::string name = (*it)[2];
    if ((*it)[3] == "/" || name == "meta") continue;
    if ((*it)[1] != "/") {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " is never closed";
}

TEST(Report, html_is_well_formed_and_its_ids_are_unique) {
  const std::string html = to_html(model_of(synthetic_run(7, 60)));
  EXPECT_EQ(nesting_error(html), "");
  std::vector<std::string> ids;
  static const std::regex k_id(" id=\"([^\"]*)\"");
  for (std::sregex_iterator it(html.begin(), html.end(), k_id), end; it != end; ++it) ids.push_back((*it)[1]);
  auto unique = ids;
  std::sort(unique.begin(), unique.end());
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  EXPECT_EQ(unique.size(), ids.size());
  EXPECT_EQ(count_of(html, "<h1>"), 1U);
  EXPECT_EQ(count_of(html, "<caption>"), count_of(html, "<table"));
}

TEST(Report, every_number_of_the_html_tables_equals_the_json) {
  const ReportModel model = model_of(synthetic_run(7, 80));
  const std::string html = to_html(model);
  const Json json = Json::parse(to_json(model));
  for (const char* key : {"candidates", "baselines", "accuracy", "rejections"}) {
    std::vector<double> expected;
    for (const auto& row : table_in(json, key).at("rows")) {
      for (const auto& column : table_in(json, key).at("columns")) {
        const Json& value = row.at(column.at("key").get<std::string>());
        if (value.is_object()) expected.push_back(value.at("value").get<double>());
      }
    }
    const auto begin = html.find(fmt::format("<table id=\"table-{}\">", key));
    ASSERT_NE(begin, std::string::npos) << key;
    const std::string table = html.substr(begin, html.find("</table>", begin) - begin);
    std::vector<double> shown;
    static const std::regex k_data("<data value=\"([^\"]*)\">");
    for (std::sregex_iterator it(table.begin(), table.end(), k_data), end; it != end; ++it) {
      shown.push_back(std::strtod((*it)[1].str().c_str(), nullptr));
    }
    EXPECT_FALSE(shown.empty()) << key;
    EXPECT_EQ(shown, expected) << key;
  }
}

TEST(Report, the_final_object_agrees_with_the_report) {
  const SyntheticRun synthetic = synthetic_run(7, 80);
  const Json final = Json::parse(final_json(synthetic.run, synthetic.attempts));
  const Json report = Json::parse(to_json(model_of(synthetic)));
  const Json& best = report.at("highlights").at(0);
  EXPECT_EQ(best.at("key"), "best_time");
  EXPECT_EQ(best.at("value").at("value"), final.at("best").at("time_ns"));
  EXPECT_EQ(best.at("value").at("interval"), final.at("best").at("ci95_ns"));
  EXPECT_EQ(table_in(report, "baselines").at("rows").at(0).at("speedup").at("value"), final.at("speedup").at("plain"));
  std::int64_t rejected = 0;
  for (const auto& count : final.at("candidates").at("rejected_by")) rejected += count.get<std::int64_t>();
  EXPECT_EQ(final.at("candidates").at("timed").get<std::int64_t>() + rejected, 80);
}

TEST(Report, the_final_object_has_exactly_the_documented_keys) {
  const SyntheticRun synthetic = synthetic_run(7, 20);
  const auto keys = [](const Json& object) {
    std::vector<std::string> names;
    for (const auto& item : object.items()) names.push_back(item.key());
    return names;
  };
  const Json json = Json::parse(final_json(synthetic.run, synthetic.attempts));
  using ::testing::UnorderedElementsAre;
  EXPECT_THAT(keys(json),
              UnorderedElementsAre("run_id", "problem", "precision", "device", "target", "status", "best", "baselines",
                                   "speedup", "candidates", "budget", "model", "time", "verifier"));
  EXPECT_THAT(keys(json.at("best")),
              UnorderedElementsAre("candidate", "bundle_path", "time_ns", "ci95_ns", "gflops", "roofline_fraction"));
  EXPECT_THAT(keys(json.at("baselines").at(0)), UnorderedElementsAre("name", "time_ns"));
  EXPECT_THAT(keys(json.at("candidates")),
              UnorderedElementsAre("proposed", "built", "correct", "screened", "timed", "undecided", "rejected_by"));
  EXPECT_THAT(keys(json.at("verifier")), UnorderedElementsAre("tier", "workloads", "distributions", "sanitizers"));
}

TEST(Report, sets_the_best_kernel_beside_a_copy_where_that_was_measured) {
  SyntheticRun synthetic = synthetic_run(7, 20);
  EXPECT_THAT(to_markdown(model_of(synthetic)), Not(HasSubstr("Beside a copy")));
  synthetic.run.best_final.value().beside_copy = BesideCopy{0.913, {0.88, 0.94, 0.95}, 24};
  EXPECT_THAT(to_markdown(model_of(synthetic)), HasSubstr("of the rate of a copy in turn, 24 pairs"));
  const Json best = Json::parse(final_json(synthetic.run, synthetic.attempts)).at("best");
  EXPECT_EQ(best.at("copy_fraction"), 0.913);
  EXPECT_EQ(best.at("copy_ci95"), Json::array({0.88, 0.94}));
  EXPECT_EQ(best.at("copy_pairs"), 24);
}

TEST(Report, says_which_precision_was_asked_for_where_it_is_not_strict) {
  SyntheticRun synthetic = synthetic_run(7, 20);
  EXPECT_TRUE(Json::parse(final_json(synthetic.run, synthetic.attempts)).at("precision").is_null());
  EXPECT_THAT(to_markdown(model_of(synthetic)), Not(HasSubstr("Precision")));
  synthetic.run.problem_text += "\nprecision tf32_convolutions\n";
  EXPECT_EQ(Json::parse(final_json(synthetic.run, synthetic.attempts)).at("precision"), "tf32_convolutions");
  EXPECT_THAT(to_markdown(model_of(synthetic)), HasSubstr("tf32_convolutions"));
}

TEST(Report, a_run_without_candidates_says_so) {
  SyntheticRun synthetic = synthetic_run(7, 0);
  synthetic.run.best_accuracy.clear();
  const ReportModel model = model_of(synthetic);
  EXPECT_EQ(model.headline, "No candidate was tried, so there is no kernel to report.");
  EXPECT_THAT(to_markdown(model), HasSubstr("There were no candidates."));
  EXPECT_EQ(nesting_error(to_html(model)), "");
  EXPECT_THAT(to_terminal(model, false), HasSubstr("No candidate was tried"));
  EXPECT_TRUE(Json::parse(final_json(synthetic.run, synthetic.attempts)).at("best").is_null());
}

TEST(Report, a_run_where_none_was_correct_says_so) {
  SyntheticRun synthetic = synthetic_run(7, 20);
  std::erase_if(synthetic.attempts, [](const Attempt& attempt) { return attempt.verdict.accepted(); });
  ASSERT_EQ(synthetic.attempts.size(), 3U);
  synthetic.run.best_ordinal.reset();
  synthetic.run.best_final.reset();
  synthetic.run.best_accuracy.clear();
  synthetic.run.status = RunStatus::interrupted;
  const ReportModel model = model_of(synthetic);
  EXPECT_THAT(model.headline, HasSubstr("None of 3 candidates was correct"));
  EXPECT_THAT(model.headline, HasSubstr("The run was interrupted; it can be resumed."));
  const std::string html = to_html(model);
  EXPECT_EQ(nesting_error(html), "");
  EXPECT_THAT(html, HasSubstr("No candidate passed every gate, so there is no best kernel."));
  EXPECT_THAT(html, HasSubstr("class=\"rejected\""));
  const Json json = Json::parse(final_json(synthetic.run, synthetic.attempts));
  EXPECT_TRUE(json.at("best").is_null());
  EXPECT_EQ(json.at("speedup"), Json::object());
}

TEST(Report, of_a_single_sample_gives_no_interval) {
  SyntheticRun synthetic = synthetic_run(7, 12);
  Measurement& best = synthetic.run.best_final.value();
  best.samples = 1;
  best.ci_ns = {best.median_ns, best.median_ns, 0};
  for (Versus& versus : best.versus) versus.speedup_ci = {versus.speedup, versus.speedup, 0};
  const std::string text = to_markdown(model_of(synthetic));
  EXPECT_THAT(text, HasSubstr("| one sample, which gives no interval |"));
  EXPECT_THAT(text.substr(0, text.find("\n\n", text.find("verified kernel"))), Not(HasSubstr("[")));
}

TEST(Report, names_the_check_that_the_best_kernel_came_nearest_to_failing) {
  SyntheticRun synthetic = synthetic_run(7, 12);
  synthetic.run.best_accuracy = {{"primary", "normal", 1e-6, 4e-6}, {"odd", "spikes", 1e-7, 2e-7}};
  EXPECT_THAT(to_markdown(model_of(synthetic)),
              HasSubstr("| Largest error | 50.0 % | of what is allowed, on odd with spikes inputs |"));
  synthetic.run.best_accuracy.clear();
  EXPECT_THAT(to_markdown(model_of(synthetic)), Not(HasSubstr("| Largest error | ")));
}

TEST(Report, numbers_that_are_not_finite_break_nothing) {
  SyntheticRun synthetic = synthetic_run(7, 10);
  const double infinity = std::numeric_limits<double>::infinity();
  const double undefined = std::numeric_limits<double>::quiet_NaN();
  synthetic.run.baselines[0] = {"plain", infinity, {undefined, infinity, 0.95}};
  synthetic.run.best_accuracy[0].max_error = infinity;
  synthetic.run.used.wall_seconds = undefined;
  synthetic.run.best_final->versus.clear();
  synthetic.attempts[1].elapsed_seconds = infinity;
  for (auto& attempt : synthetic.attempts) {
    if (attempt.measurement) attempt.measurement->median_ns = 0;
  }
  const ReportModel model = model_of(synthetic);
  const std::string html = to_html(model);
  EXPECT_EQ(nesting_error(html), "");
  static const std::regex k_bad_coordinate(" (x|y|x1|x2|y1|y2|cx|cy|width|height)=\"-?(nan|inf)");
  EXPECT_FALSE(std::regex_search(html, k_bad_coordinate));
  EXPECT_TRUE(Json::accept(to_json(model)));
  EXPECT_THAT(to_markdown(model), HasSubstr("infinite"));
}

TEST(Report, weak_evidence_is_named_as_such) {
  SyntheticRun synthetic = synthetic_run(7, 30);
  synthetic.run.best_final.reset();
  const std::string markdown = to_markdown(model_of(synthetic));
  EXPECT_THAT(markdown, HasSubstr("The best kernel was not re-measured in fresh processes"));
  EXPECT_THAT(markdown, HasSubstr("No sanitizer ran"));
  EXPECT_THAT(markdown, HasSubstr("not compared in pairs; the medians are divided"));
}

}  // namespace
}  // namespace kw
