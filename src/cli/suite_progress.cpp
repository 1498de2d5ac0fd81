#include "cli/suite_progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "report/escape.hpp"
#include "report/format.hpp"

namespace kw {
namespace {

constexpr std::size_t k_name_columns = 40;

/// Whole characters, at most so many of them.
std::string cut(const std::string& text, std::size_t columns) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80;
    if (begins && count++ == columns) return text.substr(0, i);
  }
  return text;
}

std::string name_cell(const std::string& name) {
  const std::string shown = escape_terminal(name);
  const std::string short_name = cut(shown, k_name_columns) == shown ? shown : cut(shown, k_name_columns - 3) + "...";
  return fmt::format("{:<{}}", short_name, k_name_columns);
}

std::string times_text(double ratio) {
  return fmt::format("{:.3g}x plain", ratio);
}

std::string counts_text(const SuiteState& state) {
  std::int64_t over = 0;
  std::int64_t solved = 0;
  for (const auto& row : state.rows) {
    over += is_over(row.status) ? 1 : 0;
    solved += row.status == SuiteStatus::solved ? 1 : 0;
  }
  std::string text = fmt::format("{} of {} problems over, {} solved, {}", over, state.rows.size(), solved,
                                 format_duration(state.elapsed_seconds));
  if (!state.settings.budget.empty()) text += " of " + state.settings.budget;
  return text;
}

}  // namespace

std::string suite_row_line(const SuiteRow& row, int columns) {
  std::string text = fmt::format("{}  {:<11}", name_cell(row.item.name), to_string(row.status));
  if (row.best_ns) text += "  " + format_value(Number{*row.best_ns, Unit::nanoseconds, {}});
  if (row.speedup) text += "  " + times_text(*row.speedup);
  if (row.first_correct_seconds) text += fmt::format("  first after {:.1f} s", *row.first_correct_seconds);
  if (row.used.candidates > 0) text += fmt::format("  {} kernels", row.used.candidates);
  if (!row.message.empty()) text += "  " + escape_terminal(row.message);
  for (const auto& remark : row.remarks) text += "  (" + escape_terminal(remark) + ")";
  return columns > 0 ? cut(text, static_cast<std::size_t>(columns)) : text;
}

int terminal_columns(std::FILE* stream) {
  constexpr int k_usual = 100;
  const int file = fileno(stream);
  if (isatty(file) != 1) return 0;
  winsize size{};
  return ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : k_usual;
}

SuiteProgress::SuiteProgress(std::FILE* stream, int columns) : stream_(stream), columns_(columns) {}

void SuiteProgress::clear() {
  // Line by line: terminals keep what is erased of a whole screen for scrolling back.
  for (; drawn_ > 0; --drawn_) std::fputs("\x1b[1A\r\x1b[2K", stream_);
  std::fflush(stream_);
}

void SuiteProgress::draw() {
  if (columns_ == 0) return;
  clear();
  const auto width = static_cast<std::size_t>(std::max(1, columns_ - 1));
  for (const auto& [device, doing] : at_work_) {
    std::fputs((cut(fmt::format("  {}: {}", escape_terminal(device), doing), width) + "\n").c_str(), stream_);
    ++drawn_;
  }
  std::fputs((cut("  " + summary_, width) + "\n").c_str(), stream_);
  ++drawn_;
  std::fflush(stream_);
}

void SuiteProgress::line(const std::string& text) {
  clear();
  std::fputs((text + "\n").c_str(), stream_);
  std::fflush(stream_);
  draw();
}

void SuiteProgress::begun(const SuiteState& state, const SuiteRow& row) {
  at_work_[row.device] = escape_terminal(row.item.name);
  summary_ = counts_text(state);
  draw();
}

void SuiteProgress::phase(const SuiteRow& row, const std::string& doing) {
  at_work_[row.device] = fmt::format("{}  {}", escape_terminal(row.item.name), escape_terminal(doing));
  draw();
}

void SuiteProgress::attempt(const SuiteRow& row, const RunRecord& run, const Attempt&, const BudgetUse& used) {
  std::string text = fmt::format("{}  {:.0f}", escape_terminal(row.item.name), used.wall_seconds);
  text += run.limits.wall_seconds ? fmt::format("/{:.0f} s", *run.limits.wall_seconds) : std::string(" s");
  text += fmt::format(", {} kernels", used.candidates);
  if (run.best_ordinal) text += ", solved";
  at_work_[row.device] = text;
  draw();
}

void SuiteProgress::ended(const SuiteState& state, const SuiteRow& row) {
  at_work_.erase(row.device);
  summary_ = counts_text(state);
  const auto over = std::ranges::count_if(state.rows, [](const SuiteRow& one) { return is_over(one.status); });
  const std::string place = fmt::format("{:>3}/{}  ", over, state.rows.size());
  line(place + suite_row_line(row, columns_ > 0 ? std::max(20, columns_ - 1 - static_cast<int>(place.size())) : 0));
}

void SuiteProgress::warning(const SuiteRow& row, const std::string& text) {
  line(fmt::format("warning: {}: {}", escape_terminal(row.item.name), escape_terminal(text)));
}

}  // namespace kw
