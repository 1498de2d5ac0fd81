// kernelwright explain: what is proved about a problem before any kernel is written.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "spec/mod_explain.hpp"

namespace kw {
namespace {

std::string work_text(const ScoreWork& work) {
  std::vector<std::string> parts;
  const auto add = [&](int count, const char* one, const char* many) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
  };
  add(work.arithmetic, "simple operation", "simple operations");
  add(work.divisions, "division", "divisions");
  add(work.transcendental, "transcendental function", "transcendental functions");
  add(work.gathers, "gather", "gathers");
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

void print_mod(const ModExplanation& mod) {
  fmt::print("\n{}  {}\n  traced     {}\n", mod.role, mod.name, mod.text);
  for (const auto& sentence : mod.proved) fmt::print("  proved     {}\n", sentence);
  for (const auto& term : mod.hoisted) fmt::print("  {:<9}  {}\n", to_string(term.rate), term.text);
  fmt::print("  per score  {}\n", work_text(mod.per_score));
}

void print_explanation(const Problem& problem, const ProblemExplanation& explanation) {
  fmt::print("{}: {}\n", problem.name, problem.description);
  fmt::print("primary   ");
  for (const auto& [axis, extent] : problem.primary().axes) fmt::print(" {}={}", axis, extent);
  fmt::print("\nwork       {:.3g} GFLOP on attended pairs, {:.3g} MB once in and out\n", explanation.cost.flops / 1e9,
             explanation.cost.bytes / 1e6);
  for (const auto& capture : explanation.captures) {
    fmt::print("tensor     {} {} {}, {} to {}{}, from {}\n", capture.name, capture.type, capture.shape, capture.low,
               capture.high, capture.sorted ? ", sorted" : "", capture.values);
  }
  for (const auto& mod : explanation.mods) print_mod(mod);
  if (explanation.mods.empty()) fmt::print("\nno mod: every key is attended with the scaled score as it is\n");
  if (explanation.tiles.empty()) return;
  fmt::print("\nattended   {}{:.2f} % of all pairs\n", explanation.cost.density_exact ? "" : "about ",
             100 * explanation.cost.mask_density);
  fmt::print("{:<14} {:>8} {:>8} {:>8}\n", "tile (q x k)", "empty", "full", "partial");
  for (const auto& tile : explanation.tiles) {
    const auto& shares = tile.shares;
    fmt::print("{:<14} {:>6.1f} % {:>6.1f} % {:>6.1f} %{}\n", fmt::format("{} x {}", tile.queries, tile.keys),
               100 * shares.empty, 100 * shares.full, 100 * shares.partial, shares.exact ? "" : "  estimated");
  }
}

nlohmann::json to_json(const ModExplanation& mod) {
  auto hoisted = nlohmann::json::array();
  for (const auto& term : mod.hoisted) hoisted.push_back({{"rate", to_string(term.rate)}, {"text", term.text}});
  return {{"role", mod.role},
          {"name", mod.name},
          {"text", mod.text},
          {"proved", mod.proved},
          {"hoisted", hoisted},
          {"per_score",
           {{"arithmetic", mod.per_score.arithmetic},
            {"divisions", mod.per_score.divisions},
            {"transcendental", mod.per_score.transcendental},
            {"gathers", mod.per_score.gathers}}}};
}

nlohmann::json to_json(const Problem& problem, const ProblemExplanation& explanation) {
  auto mods = nlohmann::json::array();
  for (const auto& mod : explanation.mods) mods.push_back(to_json(mod));
  auto captures = nlohmann::json::array();
  for (const auto& capture : explanation.captures) {
    captures.push_back({{"name", capture.name},
                        {"dtype", capture.type},
                        {"shape", capture.shape},
                        {"low", capture.low},
                        {"high", capture.high},
                        {"sorted", capture.sorted},
                        {"values", capture.values}});
  }
  auto tiles = nlohmann::json::array();
  for (const auto& tile : explanation.tiles) {
    tiles.push_back({{"queries", tile.queries},
                     {"keys", tile.keys},
                     {"empty", tile.shares.empty},
                     {"full", tile.shares.full},
                     {"partial", tile.shares.partial},
                     {"exact", tile.shares.exact}});
  }
  return {{"problem", problem.name},
          {"axes", problem.primary().axes},
          {"flops", explanation.cost.flops},
          {"bytes", explanation.cost.bytes},
          {"mask_density", explanation.cost.mask_density},
          {"mask_density_exact", explanation.cost.density_exact},
          {"tensors", captures},
          {"mods", mods},
          {"tiles", tiles}};
}

}  // namespace

Result<ExitCode> run_explain(const ExplainOptions& options) {
  KW_TRY(const auto problem, read_problem(options.input));
  KW_TRY(const auto explanation, explain(problem));
  if (options.json) {
    // Infinite bounds of a tensor become null: JSON has no word for them.
    std::fputs((to_json(problem, explanation).dump(2) + "\n").c_str(), stdout);
  } else {
    print_explanation(problem, explanation);
  }
  return ExitCode::success;
}

}  // namespace kw
