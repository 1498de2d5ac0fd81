#include "record/sweep_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/identifier.hpp"
#include "base/text.hpp"
#include "record/json.hpp"

namespace kw {
namespace {

constexpr std::string_view k_first_line = "# kernelwright sweep 1";
constexpr std::string_view k_environment = "environment.";
constexpr auto k_columns = std::to_array<std::string_view>({"origin", "status", "reason", "time_ns", "low_ns",
                                                            "high_ns", "samples", "paired_ns", "reference", "estimate",
                                                            "build_ms", "registers", "spill_bytes", "shared_bytes"});
constexpr auto k_row_statuses = std::to_array(
    {VerdictStatus::accepted, VerdictStatus::rejected, VerdictStatus::unverified, VerdictStatus::screened});

using Bindings = std::map<std::string, std::int64_t, std::less<>>;

std::string sweep_number(double value) {
  return value == 0 ? "" : fmt::format("{:.9g}", value);
}
std::string sweep_number(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "";
}

/// "B=1 Hq=8"
std::string sweep_bindings(const Bindings& bindings) {
  return join(bindings, " ", [](const auto& entry) { return fmt::format("{}={}", entry.first, entry.second); });
}

std::string row_text(const SweepRow& row, const std::vector<std::string>& names) {
  std::string text =
      fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}", row.origin, to_string(row.status),
                  row.reason == Reason::none ? "" : to_string(row.reason), sweep_number(row.time_ns),
                  sweep_number(row.low_ns), sweep_number(row.high_ns), row.samples, sweep_number(row.paired_ns),
                  row.is_reference ? 1 : 0, sweep_number(row.estimate), fmt::format("{:.4g}", row.build_ms),
                  sweep_number(row.registers), sweep_number(row.spill_bytes), sweep_number(row.shared_bytes));
  for (const auto& name : names) {
    const auto value = row.assignment.find(name);
    text += value == row.assignment.end() ? "," : fmt::format(",{}", value->second);
  }
  return text + "\n";
}

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size()) return false;
  if constexpr (std::is_floating_point_v<Number>) return std::isfinite(number);
  return true;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// One reading of one table.
class SweepReader {
 public:
  SweepReader(std::string_view text, const std::string& file) : lines_(split(text, '\n')), file_(file) {
    if (!lines_.empty() && lines_.back().empty()) lines_.pop_back();
  }
  Result<SweepTable> read();

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(std::string what) const {
    return fail_at(errc::sweep_table, {file_, static_cast<int>(line_) + 1, 0}, std::move(what),
                   "take a file that `kernelwright sweep` wrote, as it wrote it");
  }
  Result<void> read_heading(std::string_view line);
  Result<void> read_bindings(std::string_view text, Bindings& bindings) const;
  Result<void> read_columns();
  Result<void> read_row();
  Result<void> read_status(std::string_view status, std::string_view reason, SweepRow& row) const;
  template <typename Number>
  Result<void> read_cell(std::string_view text, std::string_view column, Number& number) const;
  [[nodiscard]] Result<void> check_identity();

  std::vector<std::string_view> lines_;
  const std::string& file_;
  std::size_t line_ = 0;
  std::set<std::string, std::less<>> given_;
  SweepTable table_;
};

Result<void> SweepReader::read_bindings(std::string_view text, Bindings& bindings) const {
  for (const auto part : split(text, ' ')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    std::int64_t value = 0;
    if (equals == std::string_view::npos || !read_number(part.substr(equals + 1), value)) {
      return wrong(fmt::format("\"{}\" is no NAME=VALUE", part.substr(0, 80)));
    }
    bindings[std::string(part.substr(0, equals))] = value;
  }
  return {};
}

/// "# key = value"; unknown keys are passed over, because a newer program may write some.
Result<void> SweepReader::read_heading(std::string_view line) {
  line.remove_prefix(1);
  const std::size_t equals = line.find(" = ");
  if (equals == std::string_view::npos) return wrong("a comment that is not \"# key = value\"");
  const auto key = trimmed(line.substr(0, equals));
  const auto value = line.substr(equals + 3);
  if (!given_.emplace(key).second) return wrong(fmt::format("{} is given twice", key.substr(0, 80)));
  SweepIdentity& of = table_.of;
  const std::map<std::string_view, std::string*> texts = {
      {"problem", &of.problem},     {"problem_id", &of.problem_id},  {"op", &of.op},
      {"dtype", &of.dtype},         {"target", &of.target},          {"style", &of.style},
      {"version", &table_.version}, {"started", &table_.started_utc}};
  const std::map<std::string_view, double*> numbers = {
      {"useful_flops", &of.useful_flops}, {"useful_bytes", &of.useful_bytes}, {"bound_ns", &of.bound_ns}};
  if (const auto text = texts.find(key); text != texts.end()) *text->second = value;
  if (const auto number = numbers.find(key); number != numbers.end()) return read_cell(value, key, *number->second);
  if (key == "seed") return read_cell(value, key, table_.seed);
  if (key == "space") return read_cell(value, key, of.space);
  if (key == "axes") return read_bindings(value, of.axes);
  if (key.starts_with(k_environment)) {
    table_.environment.emplace_back(key.substr(k_environment.size()), value);
  }
  if (key == "device") {
    auto device = decode_device_facts(value);
    if (!device) return wrong("the device's facts cannot be read: " + device.error().message);
    of.device = *std::move(device);
  }
  return {};
}

template <typename Number>
Result<void> SweepReader::read_cell(std::string_view text, std::string_view column, Number& number) const {
  if (text.empty()) return {};
  if (!read_number(text, number)) return wrong(fmt::format("{}: \"{}\" is no such number", column, text.substr(0, 80)));
  return {};
}

Result<void> SweepReader::check_identity() {
  for (const std::string_view key : {"problem", "problem_id", "op", "axes", "target", "style", "device"}) {
    if (!given_.contains(key)) return wrong(fmt::format("the heading \"# {} = ...\" is missing", key));
  }
  return {};
}

Result<void> SweepReader::read_columns() {
  if (line_ == lines_.size()) return wrong("the line with the names of the columns is missing");
  const auto columns = split(lines_[line_], ',');
  if (columns.size() < k_columns.size() || !std::equal(k_columns.begin(), k_columns.end(), columns.begin())) {
    return wrong("the columns do not begin with " + join(k_columns, ","));
  }
  for (std::size_t i = k_columns.size(); i < columns.size(); ++i) {
    if (!is_c_identifier(columns[i])) return wrong("a column is no name of a tunable");
    if (std::ranges::count(table_.names, columns[i]) > 0) return wrong(fmt::format("two columns {}", columns[i]));
    table_.names.emplace_back(columns[i]);
  }
  return {};
}

Result<void> SweepReader::read_status(std::string_view status, std::string_view reason, SweepRow& row) const {
  const auto known = std::ranges::find(k_row_statuses, status, [](VerdictStatus one) { return to_string(one); });
  if (known == k_row_statuses.end()) return wrong(fmt::format("status: \"{}\" is none", status.substr(0, 80)));
  row.status = *known;
  if (reason.empty()) return {};
  const auto why = std::ranges::find(k_reason_names, reason, &EnumName<Reason>::name);
  if (why == k_reason_names.end()) return wrong(fmt::format("reason: \"{}\" is none", reason.substr(0, 80)));
  row.reason = why->value;
  return {};
}

Result<void> SweepReader::read_row() {
  const auto cells = split(lines_[line_], ',');
  if (cells.size() != k_columns.size() + table_.names.size()) {
    return wrong(fmt::format("{} cells under {} columns", cells.size(), k_columns.size() + table_.names.size()));
  }
  SweepRow row;
  row.origin = cells[0];
  KW_TRY_VOID(read_status(cells[1], cells[2], row));
  std::int64_t reference = 0;
  const auto number = [&](std::size_t column, auto& into) { return read_cell(cells[column], k_columns[column], into); };
  KW_TRY_VOID(number(3, row.time_ns));
  KW_TRY_VOID(number(4, row.low_ns));
  KW_TRY_VOID(number(5, row.high_ns));
  KW_TRY_VOID(number(6, row.samples));
  KW_TRY_VOID(number(7, row.paired_ns));
  KW_TRY_VOID(number(8, reference));
  // Of what the style's cost model takes for impossible.
  if (cells[9] == "inf") {
    row.estimate = std::numeric_limits<double>::infinity();
  } else {
    KW_TRY_VOID(number(9, row.estimate));
  }
  KW_TRY_VOID(number(10, row.build_ms));
  std::size_t column = 11;
  for (auto* reported : {&row.registers, &row.spill_bytes, &row.shared_bytes}) {
    if (!cells[column].empty()) KW_TRY_VOID(number(column, reported->emplace()));
    ++column;
  }
  row.is_reference = reference == 1;
  if (row.time_ns < 0 || row.paired_ns < 0) return wrong("a time is below zero");
  for (std::size_t i = 0; i < table_.names.size(); ++i) {
    const auto cell = cells[k_columns.size() + i];
    if (!cell.empty()) KW_TRY_VOID(read_cell(cell, table_.names[i], row.assignment[table_.names[i]]));
  }
  table_.rows.push_back(std::move(row));
  return {};
}

Result<SweepTable> SweepReader::read() {
  if (lines_.empty() || lines_.front() != k_first_line) {
    return wrong(fmt::format("the first line is not \"{}\"", k_first_line));
  }
  for (line_ = 1; line_ < lines_.size() && lines_[line_].starts_with('#'); ++line_) {
    KW_TRY_VOID(read_heading(lines_[line_]));
  }
  KW_TRY_VOID(check_identity());
  KW_TRY_VOID(read_columns());
  for (++line_; line_ < lines_.size(); ++line_) KW_TRY_VOID(read_row());
  return std::move(table_);
}

}  // namespace

std::string encode_sweep(const SweepTable& table) {
  const SweepIdentity& of = table.of;
  std::string text = std::string(k_first_line) + "\n";
  const auto heading = [&](std::string_view key, std::string_view value) {
    text += fmt::format("# {} = {}\n", key, on_one_line(value));
  };
  heading("problem", of.problem);
  heading("problem_id", of.problem_id);
  heading("op", of.op);
  heading("dtype", of.dtype);
  heading("axes", sweep_bindings(of.axes));
  heading("target", of.target);
  heading("style", of.style);
  heading("space", fmt::format("{}", of.space));
  heading("useful_flops", fmt::format("{:.9g}", of.useful_flops));
  heading("useful_bytes", fmt::format("{:.9g}", of.useful_bytes));
  heading("bound_ns", fmt::format("{:.9g}", of.bound_ns));
  heading("device", encode(of.device));
  heading("seed", fmt::format("{}", table.seed));
  heading("version", table.version);
  heading("started", table.started_utc);
  for (const auto& [name, value] : table.environment) heading(std::string(k_environment) + name, value);
  text += join(k_columns, ",");
  for (const auto& name : table.names) text += "," + name;
  text += "\n";
  for (const auto& row : table.rows) text += row_text(row, table.names);
  return text;
}

Result<SweepTable> parse_sweep(std::string_view text, const std::string& file) {
  if (static_cast<std::int64_t>(text.size()) > k_most_sweep_bytes) {
    return fail(errc::sweep_table, "{}: {} bytes, at most {} are read", file, text.size(), k_most_sweep_bytes);
  }
  return SweepReader(text, file).read();
}

}  // namespace kw
