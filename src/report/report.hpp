#pragma once
// From a run and its attempts to something to read. Pure: same input, same bytes; nothing here touches a file or a
// clock. The printers take the model alone.

#include <span>
#include <string>

#include "record/run_record.hpp"
#include "record/turn.hpp"
#include "report/model.hpp"

namespace kw {

/// `attempts` in order of ordinal, `turns` in the order they ended. Works for a run with no attempts, and for one where
/// none was correct.
[[nodiscard]] ReportModel build_report(const RunRecord& run, std::span<const Attempt> attempts,
                                       std::span<const Turn> turns = {});

/// One self-contained page: no script, nothing loaded from anywhere, which its Content-Security-Policy enforces.
[[nodiscard]] std::string to_html(const ReportModel& model);
[[nodiscard]] std::string to_markdown(const ReportModel& model);
[[nodiscard]] std::string to_json(const ReportModel& model);

/// The single object that `optimize --json` prints; keys in docs/formats.md, section JSON. Times in nanoseconds.
[[nodiscard]] std::string final_json(const RunRecord& run, std::span<const Attempt> attempts);

}  // namespace kw
