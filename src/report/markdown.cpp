#include "base/fenced_text.hpp"
#include "report/escape.hpp"
#include "report/format.hpp"
#include "report/report.hpp"

namespace kw {
namespace {

std::string cell(const Value& value) {
  return escape_markdown(format_value(value));
}

class MarkdownPrinter {
 public:
  std::string print(const ReportModel& model) {
    text_ = fmt::format("# {}\n\n{}\n\n", escape_markdown(model.title), escape_markdown(model.headline));
    facts(model.highlights);
    for (const auto& section : model.sections) {
      text_ += fmt::format("\n## {}\n", escape_markdown(section.title));
      for (const auto& block : section.blocks) {
        text_ += '\n';
        std::visit([&](const auto& b) { print(b); }, block);
      }
    }
    return std::move(text_);
  }

 private:
  void caption(const std::string& text) { text_ += fmt::format("### {}\n\n", escape_markdown(text)); }

  void facts(const std::vector<Fact>& facts) {
    text_ += "| | | |\n|---|---|---|\n";
    for (const auto& fact : facts) {
      text_ +=
          fmt::format("| {} | {} | {} |\n", escape_markdown(fact.name), cell(fact.value), escape_markdown(fact.note));
    }
  }

  void print(const Paragraph& paragraph) { text_ += escape_markdown(paragraph.text) + "\n"; }
  void print(const Facts& block) {
    caption(block.caption);
    facts(block.facts);
  }
  void print(const Notes& notes) {
    caption(notes.caption);
    for (const auto& item : notes.items) text_ += fmt::format("- {}\n", escape_markdown(item));
  }
  void print(const Table& table) {
    caption(table.caption);
    if (table.rows.empty()) {
      text_ += escape_markdown(table.when_empty) + "\n";
      return;
    }
    std::string rule = "|";
    for (const auto& column : table.columns) {
      text_ += fmt::format("| {} ", escape_markdown(column.title));
      rule += column.numeric ? "---:|" : "---|";
    }
    text_ += "|\n" + rule + "\n";
    for (const auto& row : table.rows) {
      for (const auto& value : row) text_ += fmt::format("| {} ", cell(value));
      text_ += "|\n";
    }
  }
  void print(const Bars& bars) {
    caption(bars.caption);
    text_ += "| Kernel | Time |\n|---|---:|\n";
    for (const auto& bar : bars.bars) {
      text_ += fmt::format("| {} | {} |\n", escape_markdown(bar.label), cell(bar.time));
    }
  }
  // Its points are the rows of the candidates' table; only the steps of the best are worth a list of their own.
  void print(const Progress& progress) {
    caption("Every new best");
    text_ += "| No. | At | Time |\n|---:|---:|---:|\n";
    for (const auto& point : progress.points) {
      if (point.outcome != Progress::Outcome::best || !point.time_ns) continue;
      text_ += fmt::format("| {} | {} | {} |\n", point.ordinal, cell(Number{point.elapsed_seconds, Unit::seconds}),
                           cell(Number{*point.time_ns, Unit::nanoseconds}));
    }
  }
  void print(const Curve& curve) {
    caption(curve.caption);
    text_ += fmt::format("| {} | {} of {} |\n|---:|---:|\n", escape_markdown(curve.seconds_title),
                         escape_markdown(curve.done_title), curve.total);
    for (const auto& step : curve.steps) {
      text_ += fmt::format("| {} | {} |\n", cell(Number{step.seconds, Unit::seconds}), step.done);
    }
  }
  void print(const SpeedCurve& curve) {
    caption(curve.caption);
    text_ +=
        fmt::format("| After | Speed vs. {} | No. | By |\n|---:|---:|---:|---|\n", escape_markdown(curve.baseline));
    for (const auto& step : curve.steps) {
      text_ += fmt::format("| {} | {} | {} | {} |\n", cell(step.spent), cell(Number{step.speedup, Unit::times, {}}),
                           step.ordinal, escape_markdown(step.proposer));
    }
    text_ += fmt::format("\nAll that was spent: {}.\n", cell(curve.end));
  }
  void print(const Code& code) {
    caption(code.caption);
    text_ += fenced(code.language, escape_code(code.text));
  }

  void print(const Folded& folded) { text_ += fmt::format("- {}\n", escape_markdown(folded.heading)); }

  std::string text_;
};

}  // namespace

std::string to_markdown(const ReportModel& model) {
  return MarkdownPrinter().print(model);
}

}  // namespace kw
