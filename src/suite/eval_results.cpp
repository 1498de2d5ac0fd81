#include "suite/eval_results.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/byte_text.hpp"

namespace kw {
namespace {

using EvalJson = nlohmann::ordered_json;

constexpr double k_ns_in_a_millisecond = 1e6;

bool was_built(const SuiteRow& row) {
  if (row.as_kernelbench) return row.as_kernelbench->not_judged.empty();
  return row.status == SuiteStatus::solved || row.status == SuiteStatus::unsolved;
}

std::optional<double> runtime_ns(const SuiteRow& row) {
  return row.as_kernelbench ? row.as_kernelbench->median_ns : row.best_ns;
}

EvalJson metadata(const SuiteRow& row) {
  EvalJson json{{"hardware", to_displayable_text(row.device)},
                {"device", to_displayable_text(row.device)},
                {"kernelwright", to_string(row.status)},
                {"problem_name", to_displayable_text(row.item.name)}};
  if (!row.message.empty()) json["message"] = to_displayable_text(row.message);
  if (row.as_kernelbench) {
    json["by_kernelbench_rule"] = row.as_kernelbench->not_judged.empty()
                                      ? (row.as_kernelbench->correct() ? "correct" : "wrong")
                                      : "not judged: " + to_displayable_text(row.as_kernelbench->not_judged);
    json["correctness_trials"] = fmt::format("({} / {})", row.as_kernelbench->passed, row.as_kernelbench->trials);
  }
  if (!row.remarks.empty()) {
    json["remarks"] = EvalJson::array();
    for (const auto& remark : row.remarks) json["remarks"].push_back(to_displayable_text(remark));
  }
  return json;
}

EvalJson runtime_stats(const SuiteRow& row) {
  EvalJson stats = EvalJson::object();
  const auto ns = runtime_ns(row);
  if (!ns) return stats;
  stats["median"] = *ns / k_ns_in_a_millisecond;
  if (row.best_ci_ns && !row.as_kernelbench) {
    stats["median_low"] = row.best_ci_ns->low / k_ns_in_a_millisecond;
    stats["median_high"] = row.best_ci_ns->high / k_ns_in_a_millisecond;
  }
  stats["num_trials"] = row.as_kernelbench ? row.as_kernelbench->trials : row.best_samples;
  stats["hardware"] = to_displayable_text(row.device);
  stats["device"] = to_displayable_text(row.device);
  return stats;
}

EvalJson sample(const SuiteRow& row) {
  const auto ns = runtime_ns(row);
  const bool correct = row.status == SuiteStatus::solved || (row.as_kernelbench && row.as_kernelbench->correct());
  return {{"sample_id", 0},
          {"compiled", was_built(row)},
          {"correctness", correct},
          {"metadata", metadata(row)},
          {"runtime", correct && ns ? *ns / k_ns_in_a_millisecond : -1.0},
          {"runtime_stats", correct ? runtime_stats(row) : EvalJson::object()}};
}

}  // namespace

std::map<std::int64_t, std::string> eval_results(const SuiteState& state) {
  std::map<std::int64_t, std::map<std::int64_t, EvalJson>> levels;
  for (const auto& row : state.rows) {
    if (!row.item.id || !is_over(row.status)) continue;
    auto& samples = levels[row.item.level.value_or(0)][*row.item.id];
    if (samples.is_null()) samples = EvalJson::array();
    EvalJson one = sample(row);
    one["sample_id"] = samples.size();
    samples.push_back(std::move(one));
  }
  std::map<std::int64_t, std::string> texts;
  for (const auto& [level, problems] : levels) {
    EvalJson json = EvalJson::object();
    for (const auto& [id, samples] : problems) json[fmt::format("{}", id)] = samples;
    texts[level] = json.dump(4) + "\n";
  }
  return texts;
}

}  // namespace kw
