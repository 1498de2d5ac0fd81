// kernelwright explain: what is proved about a problem before any kernel is written.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/print.hpp"
#include "cli/program_input.hpp"
#include "problem/operator.hpp"
#include "program/explain/json.hpp"
#include "program/explain/text.hpp"

namespace kw {
namespace {

void print_explanation(const Problem& problem, const WorkloadCost& work, const Explanation& explanation) {
  print_text("{}: {}\n", problem.name, problem.description);
  print_text("primary   ");
  for (const auto& [axis, extent] : problem.primary().axes) print_text(" {}={}", axis, extent);
  print_text("\nwork       {:.3g} GFLOP{}{}, {:.3g} MB once in and out\n", work.flops / 1e9,
             explanation.counted.empty() ? "" : " ", explanation.counted, work.bytes / 1e6);
  for (const auto& line : explanation.lines) print_text("{}\n", line);
}

nlohmann::json to_json(const ExplainedValue& value);

nlohmann::json to_json(const ExplainedValue::List& list) {
  auto json = nlohmann::json::array();
  for (const auto& one : list) json.push_back(to_json(one));
  return json;
}

nlohmann::json to_json(const ExplainedValue::Table& table) {
  auto json = nlohmann::json::object();
  for (const auto& field : table) json[field.name] = to_json(field.value);
  return json;
}

nlohmann::json to_json(const ExplainedValue& value) {
  return std::visit(
      [](const auto& one) -> nlohmann::json {
        using Kind = std::decay_t<decltype(one)>;
        constexpr bool k_nested =
            std::is_same_v<Kind, ExplainedValue::List> || std::is_same_v<Kind, ExplainedValue::Table>;
        if constexpr (k_nested) {
          return to_json(one);
        } else {
          return one;
        }
      },
      value.of);
}

nlohmann::json to_json(const Problem& problem, const WorkloadCost& work, const Explanation& explanation) {
  nlohmann::json json = to_json(explanation.fields);
  json["problem"] = problem.name;
  json["axes"] = problem.primary().axes;
  json["flops"] = work.flops;
  json["bytes"] = work.bytes;
  return json;
}

/// Of the module as a problem, where it is one: a random module can be read, but not checked.
Result<Explanation> explain_as_problem(const ProblemInput& input) {
  KW_TRY(const auto problem, read_problem(input));
  return operator_of(problem).explain(problem);
}

Result<ExitCode> explain_module(const ExplainOptions& options) {
  KW_TRY(const auto program, read_program_input(options.input));
  const auto explanation = explain_as_problem(options.input);
  if (options.json) {
    auto json = nlohmann::ordered_json::parse(program_json(program));
    json["kernels"] = nullptr;
    for (const auto& field : explanation ? explanation->fields : std::vector<ExplainedField>{}) {
      if (field.name == "kernels" || field.name == "precision") json[field.name] = to_json(field.value);
    }
    std::fputs((json.dump(2) + "\n").c_str(), stdout);
  } else if (explanation) {
    for (const auto& line : explanation->lines) print_text("{}\n", line);
  } else {
    std::fputs(program_text(program).c_str(), stdout);
    print_text("kernels    none: {}\n", explanation.error().message);
  }
  return ExitCode::success;
}

}  // namespace

Result<ExitCode> run_explain(const ExplainOptions& options) {
  if (names_a_program(options.input.problem)) return explain_module(options);
  KW_TRY(const auto problem, read_problem(options.input));
  KW_TRY(const auto explanation, operator_of(problem).explain(problem));
  const WorkloadCost work = cost(problem, problem.primary());
  if (options.json) {
    // Infinite bounds of a tensor become null: JSON has no word for them.
    std::fputs((to_json(problem, work, explanation).dump(2) + "\n").c_str(), stdout);
  } else {
    print_explanation(problem, work, explanation);
  }
  return ExitCode::success;
}

}  // namespace kw
