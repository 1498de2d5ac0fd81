#pragma once
// The sections of a report, one function each; build_report() puts them in order.

#include <optional>
#include <span>

#include "record/run_record.hpp"
#include "record/turn.hpp"
#include "report/model.hpp"
#include "report/summary.hpp"

namespace kw {

[[nodiscard]] Section asked_section(const RunRecord& run);
/// How exactly products are to be computed, where the canonical text of the problem says that it is not strictly;
/// otherwise empty.
[[nodiscard]] std::string asked_precision(const std::string& problem_text);
[[nodiscard]] Section result_section(const RunRecord& run, const RunSummary& summary);
/// What compiler, hardware and simulator say of the best kernel, which there must be.
void add_machine_evidence(const RunSummary& summary, Section& section);
[[nodiscard]] Section evidence_section(const RunRecord& run, const RunSummary& summary);
[[nodiscard]] Section search_section(const RunRecord& run, std::span<const Attempt> attempts,
                                     std::span<const Turn> turns, const RunSummary& summary);
/// How fast the best kernel was over the minutes, and with `turns` over the tokens of the model; empty where nothing
/// was timed.
[[nodiscard]] std::vector<SpeedCurve> speed_curves(const RunRecord& run, std::span<const Attempt> attempts,
                                                   std::span<const Turn> turns);
/// What the wall clock of the run went to; for a run that recorded it.
[[nodiscard]] Table time_table(const RunRecord& run);
/// For a run with a model_use.
[[nodiscard]] Section model_section(const RunRecord& run, std::span<const Attempt> attempts,
                                    std::span<const Turn> turns);
[[nodiscard]] Section kernel_section(const RunRecord& run, const RunSummary& summary);
[[nodiscard]] Section environment_section(const RunRecord& run);

/// For the best kernel of a run on a CUDA device: the shell commands that rebuild it and look at it with the toolkit's
/// own programs, one per line; empty for every other run.
[[nodiscard]] std::vector<std::string> closer_look(const RunRecord& run);

/// The budget in words: "60 s, 200 candidates".
[[nodiscard]] std::string budget_text(const BudgetLimits& limits);

/// Without an interval when none was recorded or a single value gave none, rather than with one of no width.
[[nodiscard]] inline Number time_of(double median_ns, const Interval& ci) {
  return {median_ns, Unit::nanoseconds, ci.high > 0 && ci.confidence > 0 ? std::optional(ci) : std::nullopt};
}
/// Throughput and share of the roofline; nothing where they are not known.
[[nodiscard]] Fact throughput_fact(const RunRecord& run, const Measurement& measured);
[[nodiscard]] Value roofline_of(const Measurement& measured);
/// Where the kernel was set beside a copy.
[[nodiscard]] std::optional<Fact> copy_fact(const Measurement& measured);
[[nodiscard]] Number ratio_of(const Speedup& speedup);
[[nodiscard]] inline Number counted(std::int64_t count) {
  return {static_cast<double>(count), Unit::count, std::nullopt};
}
[[nodiscard]] inline Value counted_or_nothing(const std::optional<std::int64_t>& count) {
  return count ? Value(counted(*count)) : Value();
}
/// Text, or nothing when it is empty.
[[nodiscard]] inline Value text_or_nothing(const std::string& text) {
  return text.empty() ? Value{} : Value{text};
}
[[nodiscard]] inline Value number_or_nothing(double value, Unit unit) {
  return value > 0 ? Value{Number{value, unit, std::nullopt}} : Value{};
}

}  // namespace kw
