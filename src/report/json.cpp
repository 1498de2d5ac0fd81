// The report as JSON, and the object that `optimize --json` prints.

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/byte_text.hpp"
#include "record/access_text.hpp"
#include "report/report.hpp"
#include "report/sections.hpp"
#include "report/summary.hpp"

namespace kw {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no number for an infinite or undefined one.
Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}
Json text(std::string_view bytes) {
  return to_displayable_text(bytes);
}

template <typename T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json interval(const Interval& ci) {
  return Json::array({finite(ci.low), finite(ci.high)});
}

Json print(const Number& number) {
  Json json{{"value", number.unit == Unit::count ? Json(std::llround(number.value)) : finite(number.value)},
            {"unit", to_string(number.unit)}};
  if (number.spread) {
    json["interval"] = interval(*number.spread);
    json["confidence"] = finite(number.spread->confidence);
  }
  return json;
}

Json print(const Value& value) {
  return std::visit(
      Overloaded{[](std::monostate) { return Json(); }, [](const std::string& string) { return text(string); },
                 [](const Number& number) { return print(number); }},
      value);
}

Json print(const std::vector<Fact>& facts) {
  Json array = Json::array();
  for (const auto& fact : facts) {
    Json item{{"key", text(fact.key)}, {"name", text(fact.name)}, {"value", print(fact.value)}};
    if (!fact.note.empty()) item["note"] = text(fact.note);
    array.push_back(std::move(item));
  }
  return array;
}

Json print(const Paragraph& paragraph) {
  return {{"type", "paragraph"}, {"text", text(paragraph.text)}};
}

Json print(const Facts& block) {
  return {{"type", "facts"}, {"key", block.key}, {"caption", text(block.caption)}, {"facts", print(block.facts)}};
}

Json print(const Notes& notes) {
  Json items = Json::array();
  for (const auto& item : notes.items) items.push_back(text(item));
  return {{"type", "notes"}, {"key", notes.key}, {"caption", text(notes.caption)}, {"items", std::move(items)}};
}

Json print(const Table& table) {
  Json columns = Json::array();
  for (const auto& column : table.columns) columns.push_back(Json{{"key", column.key}, {"title", text(column.title)}});
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) object[table.columns[i].key] = print(row[i]);
    rows.push_back(std::move(object));
  }
  return {{"type", "table"},
          {"key", table.key},
          {"caption", text(table.caption)},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)}};
}

Json print(const Bars& bars) {
  Json items = Json::array();
  for (const auto& bar : bars.bars) items.push_back(Json{{"label", text(bar.label)}, {"time", print(bar.time)}});
  return {{"type", "bars"}, {"key", bars.key}, {"caption", text(bars.caption)}, {"bars", std::move(items)}};
}

const char* name_of(Progress::Outcome outcome) {
  switch (outcome) {
    case Progress::Outcome::best:
      return "best";
    case Progress::Outcome::timed:
      return "timed";
    case Progress::Outcome::untimed:
      return "untimed";
    case Progress::Outcome::rejected:
      break;
  }
  return "rejected";
}

Json print(const Progress& progress) {
  Json points = Json::array();
  for (const auto& point : progress.points) {
    points.push_back(Json{{"ordinal", point.ordinal},
                          {"elapsed_s", finite(point.elapsed_seconds)},
                          {"time_ns", point.time_ns ? finite(*point.time_ns) : Json()},
                          {"outcome", name_of(point.outcome)}});
  }
  return {{"type", "progress"},
          {"key", progress.key},
          {"caption", text(progress.caption)},
          {"end_s", finite(progress.end_seconds)},
          {"points", std::move(points)}};
}

Json print(const Curve& curve) {
  Json steps = Json::array();
  for (const auto& step : curve.steps) steps.push_back(Json{{"seconds", finite(step.seconds)}, {"done", step.done}});
  return {{"type", "curve"},
          {"key", curve.key},
          {"caption", text(curve.caption)},
          {"total", curve.total},
          {"end_s", finite(curve.end_seconds)},
          {"steps", std::move(steps)}};
}

Json print(const SpeedCurve& curve) {
  Json steps = Json::array();
  for (const auto& step : curve.steps) {
    steps.push_back(Json{{"spent", print(step.spent)},
                         {"speedup", finite(step.speedup)},
                         {"ordinal", step.ordinal},
                         {"proposer", text(step.proposer)}});
  }
  return {{"type", "speed_curve"},          {"key", curve.key},
          {"caption", text(curve.caption)}, {"baseline", text(curve.baseline)},
          {"end", print(curve.end)},        {"steps", std::move(steps)}};
}

Json print(const Code& code) {
  return {{"type", "code"}, {"key", code.key}, {"caption", text(code.caption)}, {"text", text(code.text)}};
}

Json print(const Folded& folded) {
  Json parts = Json::array();
  for (const auto& part : folded.parts) parts.push_back(print(part));
  return {{"type", "folded"}, {"key", folded.key}, {"heading", text(folded.heading)}, {"parts", std::move(parts)}};
}

Json texts(const std::vector<std::string>& items) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(text(item));
  return array;
}

Json counters_json(const HardwareCounters& c) {
  Json stalls = Json::array();
  for (const auto& stall : c.stalls) stalls.push_back({{"name", text(stall.name)}, {"share", finite(stall.share)}});
  Json instructions = Json::array();
  for (const auto& one : c.instructions) {
    instructions.push_back({{"name", text(one.name)}, {"share", finite(one.share)}});
  }
  return {{"tool", text(c.tool)},
          {"kernel", text(c.kernel)},
          {"duration_ns", optional(c.duration_ns)},
          {"dram_read_bytes", optional(c.dram_read_bytes)},
          {"dram_write_bytes", optional(c.dram_write_bytes)},
          {"dram_peak_share", optional(c.dram_peak_share)},
          {"l2_hit_share", optional(c.l2_hit_share)},
          {"tensor_pipe_share", optional(c.tensor_pipe_share)},
          {"achieved_occupancy", optional(c.achieved_occupancy)},
          {"issue_share", optional(c.issue_share)},
          {"registers_per_thread", c.registers_per_thread ? Json(*c.registers_per_thread) : Json()},
          {"stalls", std::move(stalls)},
          {"instructions", std::move(instructions)},
          {"sectors_per_load", optional(c.sectors_per_load)},
          {"bank_conflict_share", optional(c.bank_conflict_share)},
          {"divergent_branch_share", optional(c.divergent_branch_share)}};
}

Json machine_code_json(const BuildReport& build) {
  Json kernels = Json::array();
  for (const auto& code : build.machine_code) {
    kernels.push_back({{"kernel", text(code.kernel)},
                       {"loop", code.loop},
                       {"instructions", code.instructions},
                       {"vector_floats", code.vector_floats},
                       {"scalar_floats", code.scalar_floats},
                       {"vector_bits", code.vector_bits},
                       {"loads_stores", code.loads_stores},
                       {"stack_accesses", code.stack_accesses},
                       {"calls", code.calls},
                       {"called", texts(code.called)}});
  }
  return kernels;
}

Json accesses_json(const SimulatedAccesses& accesses) {
  Json lines = Json::array();
  Json branches = Json::array();
  for (const auto& one : accesses.lines) {
    if (counts_branches(one)) {
      branches.push_back({{"kernel", text(one.kernel)},
                          {"line", one.line},
                          {"executed", one.requests},
                          {"parted", one.partial},
                          {"lanes", one.lanes}});
      continue;
    }
    lines.push_back({{"kernel", text(one.kernel)},
                     {"line", one.line},
                     {"space", one.shared ? "shared" : "global"},
                     {"write", one.write},
                     {"requests", one.requests},
                     {"partial", one.partial},
                     {"lanes", one.lanes},
                     {"transactions", one.transactions},
                     {"least", one.least}});
  }
  return {{"device", text(accesses.device)}, {"groups", accesses.groups}, {"of", accesses.of},
          {"uncounted", accesses.uncounted}, {"lines", std::move(lines)}, {"branches", std::move(branches)}};
}

/// What is known of the kernel below its source, as far as it is.
void add_evidence(const Attempt& attempt, Json& json) {
  if (!attempt.build.machine_code.empty()) json["machine_code"] = machine_code_json(attempt.build);
  if (attempt.accesses) json["accesses"] = accesses_json(*attempt.accesses);
}

Json best_json(const RunRecord& run, const RunSummary& summary) {
  if (summary.best == nullptr) return {};
  if (!summary.best_measured) {
    Json untimed = {{"candidate", summary.best->candidate.id().hex()},
                    {"bundle_path", text(run.best_path)},
                    {"time_ns", Json()},
                    {"ranked_by", "static estimate"}};
    add_evidence(*summary.best, untimed);
    return untimed;
  }
  const Measurement& best = *summary.best_measured;
  Json json = {{"candidate", summary.best->candidate.id().hex()},
               {"bundle_path", text(run.best_path)},
               {"time_ns", finite(best.median_ns)},
               {"ci95_ns", interval(best.ci_ns)},
               {"gflops", finite(best.gflops)},
               {"roofline_fraction", optional(best.roofline_fraction)}};
  if (best.beside_copy) {
    json["copy_fraction"] = finite(best.beside_copy->share);
    json["copy_ci95"] = interval(best.beside_copy->ci);
    json["copy_pairs"] = best.beside_copy->pairs;
  }
  if (best.counters) json["counters"] = counters_json(*best.counters);
  add_evidence(*summary.best, json);
  if (const auto commands = closer_look(run); !commands.empty()) json["commands"] = texts(commands);
  return json;
}

Json candidates_json(const CandidateCounts& counts) {
  Json rejected = Json::object();
  for (const auto& [gate, count] : counts.rejected_by) rejected[std::string(to_string(gate))] = count;
  return {{"proposed", counts.proposed},       {"built", counts.built}, {"correct", counts.correct},
          {"screened", counts.screened},       {"timed", counts.timed}, {"undecided", counts.unverified},
          {"rejected_by", std::move(rejected)}};
}

Json budget_json(const RunRecord& run) {
  return {{"limits",
           {{"wall_seconds", optional(run.limits.wall_seconds)},
            {"candidates", optional(run.limits.candidates)},
            {"device_seconds", optional(run.limits.device_seconds)},
            {"tokens", optional(run.limits.tokens)},
            {"dollars", optional(run.limits.dollars)}}},
          {"used",
           {{"wall_seconds", finite(run.used.wall_seconds)},
            {"candidates", run.used.candidates},
            {"device_seconds", finite(run.used.device_seconds)},
            {"tokens", run.used.tokens},
            {"dollars", finite(run.used.dollars)}}}};
}

Json model_json(const RunRecord& run) {
  if (!run.model_use) return {};
  const ModelUse& use = *run.model_use;
  const OpenRequests open = open_requests(use);
  return {{"provider", text(use.provider)},
          {"model", text(use.model)},
          {"judge", use.judge ? text(*use.judge) : Json()},
          {"effort", use.effort ? text(*use.effort) : Json()},
          {"budget_share", optional(use.budget_share)},
          {"requests", optional(use.requests)},
          {"open_requests", use.requests ? Json(open.count) : Json()},
          {"open_prompt_tokens", use.requests ? Json(open.tokens) : Json()},
          {"turns", use.turns},
          {"faulty_turns", use.faulty_turns},
          {"prompt_tokens", use.prompt_tokens},
          {"completion_tokens", use.completion_tokens},
          {"dollars", optional(use.dollars)}};
}

Json time_json(const RunRecord& run) {
  Json uses = Json::array();
  for (const auto& use : run.time_uses) {
    uses.push_back({{"stage", text(use.stage)}, {"activity", text(use.activity)}, {"seconds", finite(use.seconds)}});
  }
  return {{"uses", std::move(uses)},
          {"beside_seconds", optional(run.beside_seconds)},
          {"found_builds", run.found_builds.value_or(0)}};
}

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const ReportModel& model) {
  Json sections = Json::array();
  for (const auto& section : model.sections) {
    Json blocks = Json::array();
    for (const auto& block : section.blocks) {
      blocks.push_back(std::visit([](const auto& b) { return print(b); }, block));
    }
    sections.push_back(Json{{"key", section.key}, {"title", text(section.title)}, {"blocks", std::move(blocks)}});
  }
  const Json json{{"format", 1},
                  {"record", "report"},
                  {"run_id", text(model.run_id)},
                  {"title", text(model.title)},
                  {"headline", text(model.headline)},
                  {"highlights", print(model.highlights)},
                  {"sections", std::move(sections)}};
  return dumped(json) + "\n";
}

std::string final_json(const RunRecord& run, std::span<const Attempt> attempts) {
  const RunSummary summary = summarize(run, attempts);
  Json baselines = Json::array();
  for (const auto& baseline : run.baselines) {
    baselines.push_back(Json{{"name", text(baseline.name)}, {"time_ns", finite(baseline.median_ns)}});
  }
  Json speedups = Json::object();
  for (const auto& speedup : summary.speedups)
    speedups[speedup.name] = speedup.stands() ? finite(speedup.ratio) : Json();
  const auto precision = asked_precision(run.problem_text);
  const Json json{{"run_id", text(run.id)},
                  {"problem", text(run.problem)},
                  {"precision", precision.empty() ? Json() : text(precision)},
                  {"device", text(run.device.name)},
                  {"target", text(run.target)},
                  {"status", to_string(run.status)},
                  {"best", best_json(run, summary)},
                  {"baselines", std::move(baselines)},
                  {"speedup", std::move(speedups)},
                  {"candidates", candidates_json(summary.counts)},
                  {"budget", budget_json(run)},
                  {"model", model_json(run)},
                  {"time", time_json(run)},
                  {"verifier",
                   {{"tier", text(run.sandbox_tier)},
                    {"workloads", texts(run.workloads)},
                    {"distributions", texts(run.distributions)},
                    {"sanitizers", texts(run.sanitizers)}}}};
  return dumped(json);
}

}  // namespace kw
