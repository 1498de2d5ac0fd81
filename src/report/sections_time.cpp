// What the wall clock of a run went to, one row for each stage.

#include "report/format.hpp"
#include "report/sections.hpp"
#include "report/stage_times.hpp"

namespace kw {

Table time_table(const RunRecord& run) {
  const auto stages = stage_times(run.time_uses);
  double all = 0;
  for (const auto& stage : stages) all += stage.seconds;
  std::string caption = fmt::format("Where {:.3g} s of wall clock went", all);
  if (run.beside_seconds.value_or(0) > 0)
    caption += fmt::format(", {:.3g} s of builds beside them", *run.beside_seconds);
  if (run.found_builds)
    caption +=
        fmt::format("; {} {} found as kept", *run.found_builds, *run.found_builds == 1 ? "build was" : "builds were");
  Table table{"time_uses",
              caption,
              {{"stage", "Stage"}, {"seconds", "Time", true}, {"share", "Share", true}, {"parts", "Of which"}},
              {},
              "No time was recorded."};
  for (const auto& stage : stages) {
    table.rows.push_back({stage.name, Number{stage.seconds, Unit::seconds, std::nullopt},
                          Number{all > 0 ? stage.seconds / all : 0, Unit::share, std::nullopt},
                          text_or_nothing(parts_text(stage))});
  }
  return table;
}

}  // namespace kw
