// The analyses of an attention problem as lines for people and as values for programs.

#include <fmt/format.h>

#include <utility>

#include "operators/attention/explain.hpp"

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

void add_mod(const ModExplanation& mod, std::vector<std::string>& lines) {
  lines.push_back(fmt::format("\n{}  {}", mod.role, mod.name));
  lines.push_back(fmt::format("  traced     {}", mod.text));
  for (const auto& sentence : mod.proved) lines.push_back(fmt::format("  proved     {}", sentence));
  for (const auto& term : mod.hoisted) lines.push_back(fmt::format("  {:<9}  {}", to_string(term.rate), term.text));
  lines.push_back(fmt::format("  per score  {}", work_text(mod.per_score)));
}

void add_tiles(const ProblemExplanation& explanation, std::vector<std::string>& lines) {
  lines.push_back(fmt::format("\nattended   {}{:.2f} % of all pairs", explanation.attended.exact ? "" : "about ",
                              100 * explanation.attended.share));
  lines.push_back(fmt::format("{:<14} {:>8} {:>8} {:>8}", "tile (q x k)", "empty", "full", "partial"));
  for (const auto& tile : explanation.tiles) {
    const auto& shares = tile.shares;
    lines.push_back(fmt::format("{:<14} {:>6.1f} % {:>6.1f} % {:>6.1f} %{}",
                                fmt::format("{} x {}", tile.queries, tile.keys), 100 * shares.empty, 100 * shares.full,
                                100 * shares.partial, shares.exact ? "" : "  estimated"));
  }
}

std::vector<std::string> lines_of(const ProblemExplanation& explanation) {
  std::vector<std::string> lines;
  for (const auto& capture : explanation.captures) {
    lines.push_back(fmt::format("tensor     {} {} {}, {} to {}{}, from {}", capture.name, capture.type, capture.shape,
                                capture.low, capture.high, capture.sorted ? ", sorted" : "", capture.values));
  }
  for (const auto& mod : explanation.mods) add_mod(mod, lines);
  if (explanation.mods.empty()) {
    lines.emplace_back("\nno mod: every key is attended with the scaled score as it is");
  }
  if (!explanation.tiles.empty()) add_tiles(explanation, lines);
  return lines;
}

using ValueTable = ExplainedValue::Table;
using ValueList = ExplainedValue::List;

ExplainedValue whole_number(std::int64_t value) {
  return {value};
}

ExplainedValue explained(const ModExplanation& mod) {
  ValueList proved;
  for (const auto& sentence : mod.proved) proved.push_back({sentence});
  ValueList hoisted;
  for (const auto& term : mod.hoisted) {
    hoisted.push_back({ValueTable{{"rate", {std::string(to_string(term.rate))}}, {"text", {term.text}}}});
  }
  const auto& work = mod.per_score;
  ValueTable per_score = {{"arithmetic", whole_number(work.arithmetic)},
                          {"divisions", whole_number(work.divisions)},
                          {"transcendental", whole_number(work.transcendental)},
                          {"gathers", whole_number(work.gathers)}};
  return {ValueTable{{"role", {mod.role}},
                     {"name", {mod.name}},
                     {"text", {mod.text}},
                     {"proved", {std::move(proved)}},
                     {"hoisted", {std::move(hoisted)}},
                     {"per_score", {std::move(per_score)}}}};
}

ExplainedValue explained(const CaptureRow& capture) {
  return {ValueTable{{"name", {capture.name}},
                     {"dtype", {capture.type}},
                     {"shape", {capture.shape}},
                     {"low", {capture.low}},
                     {"high", {capture.high}},
                     {"sorted", {capture.sorted}},
                     {"values", {capture.values}}}};
}

ExplainedValue explained(const TileRow& tile) {
  return {ValueTable{{"queries", whole_number(tile.queries)},
                     {"keys", whole_number(tile.keys)},
                     {"empty", {tile.shares.empty}},
                     {"full", {tile.shares.full}},
                     {"partial", {tile.shares.partial}},
                     {"exact", {tile.shares.exact}}}};
}

template <typename Row>
ExplainedValue list_of(const std::vector<Row>& rows) {
  ValueList list;
  for (const auto& row : rows) list.push_back(explained(row));
  return {std::move(list)};
}

}  // namespace

Result<Explanation> explain_attention(const Problem& problem) {
  KW_TRY(const auto explanation, analyse(problem));
  return Explanation{.counted = "on attended pairs",
                     .lines = lines_of(explanation),
                     .fields = {{"mask_density", {explanation.attended.share}},
                                {"mask_density_exact", {explanation.attended.exact}},
                                {"tensors", list_of(explanation.captures)},
                                {"mods", list_of(explanation.mods)},
                                {"tiles", list_of(explanation.tiles)}}};
}

}  // namespace kw
