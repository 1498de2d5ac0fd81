#include "suite/baseline_file.hpp"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using Json = nlohmann::json;

constexpr const char* k_form = "write {\"eager\": {\"level1/23_Softmax\": 1.25}}, with times in milliseconds";

tl::unexpected<Error> not_of_the_form(const std::string& file, std::string what) {
  return fail(Error{errc::suite_baseline, fmt::format("{}: {}", file, what), k_form});
}

std::string without_extension(std::string name) {
  if (name.ends_with(".py")) name.resize(name.size() - 3);
  return name;
}

/// A number, or the "mean" of KernelBench's object.
Result<double> milliseconds_in(const Json& value, const std::string& problem, const std::string& file) {
  const Json* number = &value;
  if (value.is_object() && value.contains("mean")) number = &value.at("mean");
  if (!number->is_number()) return not_of_the_form(file, fmt::format("the time of \"{}\" is no number", problem));
  const auto time = number->get<double>();
  if (!(time > 0) || !std::isfinite(time)) {
    return not_of_the_form(file, fmt::format("the time of \"{}\" is {:g}, which no kernel takes", problem, time));
  }
  return time;
}

bool is_of_kernelbench(const Json& root) {
  for (const auto& [level, problems] : root.items()) {
    for (const auto& [problem, value] : problems.items()) return value.is_object();
  }
  return false;
}

}  // namespace

std::optional<double> SuiteBaseline::ns_of(std::string_view problem) const {
  constexpr double k_ns_per_millisecond = 1e6;
  auto found = milliseconds.find(std::string(problem));
  if (found == milliseconds.end()) found = milliseconds.find(std::string(problem.substr(problem.rfind('/') + 1)));
  if (found == milliseconds.end()) return std::nullopt;
  return found->second * k_ns_per_millisecond;
}

Result<std::vector<SuiteBaseline>> parse_suite_baselines(std::string_view json, const std::string& file) {
  const Json root = Json::parse(json, nullptr, false);
  if (root.is_discarded()) return not_of_the_form(file, "this is not JSON");
  if (!root.is_object() || root.empty()) return not_of_the_form(file, "there is no object of baselines");
  for (const auto& [name, problems] : root.items()) {
    if (!problems.is_object()) return not_of_the_form(file, fmt::format("\"{}\" is no object of problems", name));
  }
  const bool of_kernelbench = is_of_kernelbench(root);
  std::vector<SuiteBaseline> baselines;
  if (of_kernelbench) baselines.push_back({std::filesystem::path(file).stem().string(), {}});
  for (const auto& [name, problems] : root.items()) {
    if (!of_kernelbench) baselines.push_back({name, {}});
    for (const auto& [problem, value] : problems.items()) {
      KW_TRY(const double time, milliseconds_in(value, problem, file));
      const std::string known = without_extension(problem);
      baselines.back().milliseconds[of_kernelbench ? name + "/" + known : known] = time;
    }
  }
  return baselines;
}

}  // namespace kw
