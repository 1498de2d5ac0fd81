#include "report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "report/escape.hpp"
#include "report/format.hpp"

namespace kw {
namespace {

constexpr std::size_t k_columns = 100;
constexpr std::size_t k_widest_cell = 44;
constexpr std::size_t k_indent = 2;

/// Characters, not bytes: enough for the few signs above ASCII that we print, each one column wide.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }));
}

std::string clipped(const std::string& text, std::size_t width) {
  if (width_of(text) <= width) return text;
  std::size_t columns = 0;
  std::size_t bytes = 0;
  for (; bytes < text.size(); ++bytes) {
    const bool starts = (static_cast<unsigned char>(text[bytes]) & 0xc0U) != 0x80;
    if (starts && columns++ == width - 1) break;
  }
  return text.substr(0, bytes) + "\u2026";
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return right ? space + text : text + space;
}

class TerminalPrinter {
 public:
  explicit TerminalPrinter(bool styled) : styled_(styled) {}

  std::string print(const ReportModel& model) {
    text_ = emphasised(clipped(escape_terminal(model.title), k_columns)) + "\n";
    wrapped(escape_terminal(model.headline));
    for (const auto& section : model.sections) {
      for (const auto& block : section.blocks) std::visit([&](const auto& b) { print(b); }, block);
    }
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string emphasised(const std::string& text) const {
    return styled_ ? "\x1b[1m" + text + "\x1b[0m" : text;
  }
  [[nodiscard]] std::string quiet(const std::string& text) const {
    return styled_ ? "\x1b[2m" + text + "\x1b[0m" : text;
  }
  void heading(const std::string& text) { text_ += "\n" + emphasised(escape_terminal(text)) + "\n"; }

  void wrapped(const std::string& text, const std::string& first = "", const std::string& next = "") {
    std::string line = first;
    bool begun = false;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      const std::string word = clipped(text.substr(at, end - at), k_columns - next.size());
      if (begun && width_of(line) + 1 + width_of(word) > k_columns) {
        text_ += line + "\n";
        line = next;
        begun = false;
      }
      line += (begun ? " " : "") + word;
      begun = true;
      at = end + 1;
    }
    text_ += line + "\n";
  }

  /// Sources and the problem's text are in the files; prose about the method too.
  void print(const Paragraph&) {}
  void print(const Code& code) {
    if (!code.in_terminal) return;
    heading(code.caption);
    // Never wrapped: lines are there to be copied.
    std::string_view rest = code.text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      text_ += std::string(k_indent, ' ') + escape_terminal(rest.substr(0, end)) + "\n";
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  void print(const Bars&) {}
  void print(const Progress&) {}
  void print(const Folded&) {}

  /// Ten rows of blocks, a column for each of some moments.
  void print(const Curve& curve) {
    constexpr int k_rows = 8;
    constexpr int k_moments = 60;
    if (curve.total == 0 || curve.end_seconds <= 0) return;
    heading(curve.caption);
    const auto done_at = [&](double seconds) {
      std::int64_t done = 0;
      for (const auto& step : curve.steps) done = step.seconds <= seconds ? step.done : done;
      return done;
    };
    const std::size_t width = fmt::format("{}", curve.total).size();
    for (int row = k_rows; row > 0; --row) {
      const double level = static_cast<double>(curve.total) * (row - 0.5) / k_rows;
      const std::string label = row == k_rows ? fmt::format("{}", curve.total) : "";
      std::string line = std::string(k_indent, ' ') + padded(label, width, true) + " |";
      for (int i = 1; i <= k_moments; ++i) {
        line += static_cast<double>(done_at(curve.end_seconds * i / k_moments)) >= level ? "#" : " ";
      }
      text_ += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    const std::string end = format_duration(curve.end_seconds);
    text_ += std::string(k_indent, ' ') + padded("0", width, true) + " +" + std::string(k_moments, '-') + "\n";
    text_ += std::string(k_indent + width + 2, ' ') + padded(end, k_moments, true) + "\n";
  }

  /// A bar for each new best, as long as its speed on the chart's axis; of many, those that gained most.
  void print(const SpeedCurve& curve) {
    constexpr int k_longest_bar = 40;
    heading(curve.caption);
    double low = 1, high = 1;
    for (const auto& step : curve.steps) {
      low = std::min(low, step.speedup);
      high = std::max(high, step.speedup);
    }
    for (const auto* step : worth_a_line(curve)) {
      const double share = high > low ? std::log(step->speedup / low) / std::log(high / low) : 1;
      const auto bar = static_cast<std::size_t>(std::lround(share * k_longest_bar));
      text_ += std::string(k_indent, ' ') + padded(format_value(step->spent), 12, true) + "  " +
               padded(format_value(Number{step->speedup, Unit::times, {}}), 8, true) + "  " + std::string(bar, '#') +
               "\n";
    }
    text_ += std::string(k_indent, ' ') + padded(format_value(curve.end), 12, true) + "  " +
             quiet("all that was spent") + "\n";
  }

  static std::vector<const SpeedCurve::Step*> worth_a_line(const SpeedCurve& curve) {
    constexpr std::size_t k_most_lines = 12;
    std::vector<const SpeedCurve::Step*> steps;
    std::vector<double> gains;
    for (std::size_t i = 0; i < curve.steps.size(); ++i) {
      const double before = i == 0 ? 1e-300 : curve.steps[i - 1].speedup;
      gains.push_back(i + 1 == curve.steps.size() ? 1e300 : curve.steps[i].speedup / before);
    }
    std::vector<double> sorted = gains;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const double least = sorted[std::min(sorted.size(), k_most_lines) - 1];
    for (std::size_t i = 0; i < curve.steps.size() && steps.size() < k_most_lines; ++i) {
      if (gains[i] >= least) steps.push_back(&curve.steps[i]);
    }
    return steps;
  }

  void print(const Facts& block) {
    if (block.key == "device" || block.key == "environment") return;
    heading(block.caption);
    std::size_t width = 0;
    for (const auto& fact : block.facts) width = std::max(width, width_of(fact.name));
    for (const auto& fact : block.facts) {
      if (std::holds_alternative<std::monostate>(fact.value)) continue;
      const std::string start = std::string(k_indent, ' ') + padded(escape_terminal(fact.name), width, false) + "  ";
      const std::string value = escape_terminal(format_value(fact.value));
      const std::size_t used = width_of(start) + width_of(value);
      if (used > k_columns) {
        wrapped(value, start, std::string(width_of(start), ' '));
        continue;
      }
      const std::string note = escape_terminal(fact.note);
      const bool room = !note.empty() && used + 2 + width_of(note) < k_columns;
      text_ += start + value + (room ? "  " + quiet(note) : "") + "\n";
    }
  }

  void print(const Notes& notes) {
    heading(notes.caption);
    for (const auto& item : notes.items) wrapped(escape_terminal(item), "  - ", "    ");
  }

  void print(const Table& table) {
    // Long ones; a suite has said its rows as they came.
    const bool is_long = table.key == "candidates" || table.key == "accuracy" || table.key == "turns";
    if (is_long || table.key == "problems") return;
    heading(table.caption);
    if (table.rows.empty()) {
      text_ += std::string(k_indent, ' ') + table.when_empty + "\n";
      return;
    }
    std::vector<std::vector<std::string>> cells(1);
    for (const auto& column : table.columns) cells[0].push_back(column.title);
    for (const auto& row : table.rows) {
      auto& line = cells.emplace_back();
      for (std::size_t i = 0; i < row.size(); ++i) {
        // The last one has the rest of the line, which is clipped as a whole.
        const std::size_t widest = i + 1 < row.size() ? k_widest_cell : k_columns;
        line.push_back(clipped(escape_terminal(format_value(row[i])), widest));
      }
    }
    std::vector<std::size_t> widths(table.columns.size());
    for (const auto& line : cells) {
      for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
    }
    for (std::size_t row = 0; row < cells.size(); ++row) {
      std::string line;
      for (std::size_t i = 0; i < cells[row].size(); ++i) {
        line += std::string(k_indent, ' ') + padded(cells[row][i], widths[i], table.columns[i].numeric);
      }
      line = clipped(line.substr(0, line.find_last_not_of(' ') + 1), k_columns);
      text_ += (row == 0 ? quiet(line) : line) + "\n";
    }
  }

  bool styled_;
  std::string text_;
};

}  // namespace

std::string to_terminal(const ReportModel& model, bool is_terminal) {
  return TerminalPrinter(is_terminal).print(model);
}

}  // namespace kw
