#pragma once
// A report as data: sections of typed blocks. HTML, Markdown, JSON and the terminal all print this one object, so that
// they cannot disagree. Text is untrusted (kernel sources, compiler logs, problem names) and printers escape all of it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "record/attempt.hpp"
#include "report/value.hpp"

namespace kw {

/// `key` names the fact for programs, `name` for people.
struct Fact {
  std::string key;
  std::string name;
  Value value;
  std::string note = {};
};

struct Paragraph {
  std::string text;
};
struct Facts {
  std::string key;
  std::string caption;
  std::vector<Fact> facts;
};
/// A bulleted list.
struct Notes {
  std::string key;
  std::string caption;
  std::vector<std::string> items;
};
struct Column {
  std::string key;
  std::string title;
  bool numeric = false;
};
struct Table {
  std::string key;
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<Value>> rows;  ///< each as long as `columns`
  std::string when_empty;                ///< printed instead of a table without rows
  /// Where the first cell of each row leads, relative to the page; empty: nowhere. Absent: no row leads anywhere.
  std::vector<std::string> links = {};
};
/// Times side by side, drawn as bars from zero.
struct Bars {
  struct Bar {
    std::string label;
    Number time;
    bool emphasised = false;
  };
  std::string key;
  std::string caption;
  std::vector<Bar> bars;
};
/// Every candidate over the budget; the best time so far is the step line through the points of outcome `best`.
struct Progress {
  enum class Outcome : std::uint8_t { best, timed, untimed, rejected };
  struct Point {
    std::int64_t ordinal = 0;
    double elapsed_seconds = 0;
    std::optional<double> time_ns;  ///< absent: never timed
    Outcome outcome = Outcome::timed;
    std::string label;
  };
  struct Reference {
    std::string name;
    double time_ns = 0;
  };
  std::string key;
  std::string caption;
  std::vector<Point> points;
  std::vector<Reference> baselines;
  double end_seconds = 0;  ///< of the time axis: the budget used
};
/// How many of `total` were done after so many seconds: steps upward, to the end of the axis.
struct Curve {
  struct Step {
    double seconds = 0;
    std::int64_t done = 0;
  };
  std::string key;
  std::string caption;
  std::string seconds_title;  ///< of the axis below
  std::string done_title;     ///< of the axis at the left
  std::vector<Step> steps;    ///< both ascend
  std::int64_t total = 0;
  double end_seconds = 0;
};
/// How many times as fast as a baseline the best kernel was, over what was spent until then: seconds, or tokens (a
/// count). The first step is the first right kernel.
struct SpeedCurve {
  struct Step {
    Number spent;
    double speedup = 1;
    std::int64_t ordinal = 0;  ///< of the candidate
    std::string proposer;
  };
  std::string key;
  std::string caption;
  std::string spent_title;  ///< of the axis below: "minutes", "tokens"
  std::string baseline;     ///< that a speed of 1 is
  double per_unit = 1;      ///< of `spent` in one unit of the axis: 60 where it counts minutes
  std::vector<Step> steps;  ///< ascending in `spent`; never empty
  Number end;               ///< all that was spent
};
struct Code {
  std::string key;
  std::string caption;
  std::string language;  ///< of a Markdown fence
  std::string text;
  bool in_terminal = false;  ///< a few lines that a terminal shows as well
};

/// Long texts that a reader opens one by one. Markdown and the terminal, where nothing folds, give the heading alone.
struct Folded {
  std::string key;
  std::string heading;
  std::vector<Code> parts;
};

using Block = std::variant<Paragraph, Facts, Notes, Table, Bars, Progress, Curve, SpeedCurve, Code, Folded>;

struct Section {
  std::string key;
  std::string title;
  std::vector<Block> blocks;
};

struct ReportModel {
  std::string run_id;  ///< of a suite: its folder
  std::string title;
  std::string headline;          ///< one sentence: what came out
  std::vector<Fact> highlights;  ///< the few numbers to see first
  std::vector<Section> sections;
  std::string made_by = "run";  ///< what run_id names: "run" or "suite"
};

/// The table of that key, anywhere in the report; null when there is none.
[[nodiscard]] const Table* find_table(const ReportModel& model, std::string_view key);

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace kw
