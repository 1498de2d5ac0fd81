// suite.json, version 1. Keys are in the text; reading passes over unknown ones.

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/byte_text.hpp"
#include "suite/suite_state.hpp"

namespace kw {
namespace {

using StateJson = nlohmann::ordered_json;

template <typename T>
StateJson optional_json(const std::optional<T>& value) {
  return value ? StateJson(*value) : StateJson();
}

StateJson interval_json(const std::optional<Interval>& interval) {
  if (!interval) return {};
  return StateJson::array({interval->low, interval->high, interval->confidence});
}

StateJson text_json(std::string_view bytes) {
  return to_displayable_text(bytes);
}

StateJson verdict_json(const std::optional<KernelBenchVerdict>& verdict) {
  if (!verdict) return {};
  return {{"trials", verdict->trials},
          {"passed", verdict->passed},
          {"worst_difference",
           std::isfinite(verdict->worst_difference) ? StateJson(verdict->worst_difference) : StateJson()},
          {"median_ns", optional_json(verdict->median_ns)},
          {"not_judged", text_json(verdict->not_judged)}};
}

StateJson row_json(const SuiteRow& row) {
  StateJson remarks = StateJson::array();
  for (const auto& remark : row.remarks) remarks.push_back(text_json(remark));
  return {{"name", text_json(row.item.name)},
          {"input", row.item.input},
          {"level", optional_json(row.item.level)},
          {"id", optional_json(row.item.id)},
          {"file_hash", row.file_hash},
          {"status", to_string(row.status)},
          {"error_code", row.error_code},
          {"message", text_json(row.message)},
          {"remarks", std::move(remarks)},
          {"is_smaller", row.is_smaller},
          {"device", text_json(row.device)},
          {"run_id", row.run_id},
          {"first_correct_seconds", optional_json(row.first_correct_seconds)},
          {"best_ns", optional_json(row.best_ns)},
          {"best_ci_ns", interval_json(row.best_ci_ns)},
          {"best_samples", row.best_samples},
          {"plain_ns", optional_json(row.plain_ns)},
          {"speedup", optional_json(row.speedup)},
          {"speedup_ci", interval_json(row.speedup_ci)},
          {"best_path", row.best_path},
          {"used",
           {{"wall_seconds", row.used.wall_seconds},
            {"candidates", row.used.candidates},
            {"device_seconds", row.used.device_seconds},
            {"tokens", row.used.tokens},
            {"dollars", row.used.dollars}}},
          {"as_kernelbench", verdict_json(row.as_kernelbench)},
          {"exported", text_json(row.exported)}};
}

template <typename T>
std::optional<T> optional_from(const StateJson& value) {
  if (value.is_null()) return std::nullopt;
  return value.get<T>();
}

std::optional<Interval> interval_from(const StateJson& value) {
  if (value.is_null()) return std::nullopt;
  return Interval{value.at(0).get<double>(), value.at(1).get<double>(), value.at(2).get<double>()};
}

std::optional<KernelBenchVerdict> verdict_from(const StateJson& value) {
  if (value.is_null()) return std::nullopt;
  KernelBenchVerdict verdict;
  value.at("trials").get_to(verdict.trials);
  value.at("passed").get_to(verdict.passed);
  verdict.worst_difference =
      optional_from<double>(value.at("worst_difference")).value_or(std::numeric_limits<double>::infinity());
  verdict.median_ns = optional_from<double>(value.at("median_ns"));
  value.at("not_judged").get_to(verdict.not_judged);
  return verdict;
}

SuiteStatus status_from(const std::string& name) {
  for (const auto status : {SuiteStatus::waiting, SuiteStatus::running, SuiteStatus::interrupted, SuiteStatus::solved,
                            SuiteStatus::unsolved, SuiteStatus::unscorable}) {
    if (name == to_string(status)) return status;
  }
  return SuiteStatus::failed;
}

SuiteRow row_from(const StateJson& value) {
  SuiteRow row;
  value.at("name").get_to(row.item.name);
  value.at("input").get_to(row.item.input);
  row.item.level = optional_from<std::int64_t>(value.at("level"));
  row.item.id = optional_from<std::int64_t>(value.at("id"));
  value.at("file_hash").get_to(row.file_hash);
  row.status = status_from(value.at("status").get<std::string>());
  value.at("error_code").get_to(row.error_code);
  value.at("message").get_to(row.message);
  value.at("remarks").get_to(row.remarks);
  value.at("is_smaller").get_to(row.is_smaller);
  value.at("device").get_to(row.device);
  value.at("run_id").get_to(row.run_id);
  row.first_correct_seconds = optional_from<double>(value.at("first_correct_seconds"));
  row.best_ns = optional_from<double>(value.at("best_ns"));
  row.best_ci_ns = interval_from(value.at("best_ci_ns"));
  value.at("best_samples").get_to(row.best_samples);
  row.plain_ns = optional_from<double>(value.at("plain_ns"));
  row.speedup = optional_from<double>(value.at("speedup"));
  row.speedup_ci = interval_from(value.at("speedup_ci"));
  value.at("best_path").get_to(row.best_path);
  const auto& used = value.at("used");
  used.at("wall_seconds").get_to(row.used.wall_seconds);
  used.at("candidates").get_to(row.used.candidates);
  used.at("device_seconds").get_to(row.used.device_seconds);
  used.at("tokens").get_to(row.used.tokens);
  used.at("dollars").get_to(row.used.dollars);
  row.as_kernelbench = verdict_from(value.at("as_kernelbench"));
  value.at("exported").get_to(row.exported);
  return row;
}

SuiteSettings settings_from(const StateJson& value) {
  SuiteSettings settings;
  value.at("mode").get_to(settings.mode);
  settings.precision = value.value("precision", settings.precision);  // suites from before there was a choice lack it
  value.at("fit").get_to(settings.most_steps);
  value.at("target").get_to(settings.target);
  value.at("style").get_to(settings.style);
  value.at("seed").get_to(settings.seed);
  value.at("devices").get_to(settings.devices);
  value.at("budget_per_problem").get_to(settings.budget_per_problem);
  value.at("budget").get_to(settings.budget);
  return settings;
}

}  // namespace

std::string encode_suite(const SuiteState& state) {
  const SuiteSettings& settings = state.settings;
  StateJson rows = StateJson::array();
  for (const auto& row : state.rows) rows.push_back(row_json(row));
  const StateJson json{{"format", 1},
                       {"record", "suite"},
                       {"settings",
                        {{"mode", settings.mode},
                         {"precision", settings.precision},
                         {"fit", settings.most_steps},
                         {"target", settings.target},
                         {"style", settings.style},
                         {"seed", settings.seed},
                         {"devices", settings.devices},
                         {"budget_per_problem", settings.budget_per_problem},
                         {"budget", settings.budget}}},
                       {"elapsed_seconds", state.elapsed_seconds},
                       {"rows", std::move(rows)}};
  return json.dump(1, ' ', false, StateJson::error_handler_t::replace) + "\n";
}

Result<SuiteState> decode_suite(std::string_view json, const std::string& file) {
  const auto refused = [&](const std::string& what) {
    return fail(Error{errc::suite_state, fmt::format("{} is no suite of this program: {}", file, what),
                      "choose another folder with --out, or remove the file to begin again"});
  };
  try {
    const StateJson root = StateJson::parse(json);
    if (root.at("format").get<int>() != 1 || root.at("record").get<std::string>() != "suite") {
      return refused("it has another format");
    }
    SuiteState state;
    state.settings = settings_from(root.at("settings"));
    root.at("elapsed_seconds").get_to(state.elapsed_seconds);
    for (const auto& row : root.at("rows")) state.rows.push_back(row_from(row));
    return state;
  } catch (const StateJson::exception& error) {
    return refused(error.what());
  }
}

}  // namespace kw
