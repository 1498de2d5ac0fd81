#include "device/cuda/ptxas_log.hpp"

#include <charconv>
#include <optional>

namespace kw::cuda {
namespace {

constexpr std::string_view k_entry = "Compiling entry function '";

/// Takes the next line, without its end, off `text`.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

bool is_report(std::string_view line) {
  // Such as warpgroups' products that cannot overlap.
  if (line.find("Potential Performance Loss") != std::string_view::npos) return false;
  return line.starts_with("ptxas info") || line.starts_with("ptxas         .");
}

/// The number right before `unit`; nothing when the line has no such unit.
std::optional<std::int64_t> number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(line.data() + begin, line.data() + at, number);
  return error == std::errc{} && end == line.data() + at ? std::optional(number) : std::nullopt;
}

void read_line(std::string_view line, PtxasReport& report) {
  const auto stores = number_before(line, " bytes spill stores");
  const auto loads = number_before(line, " bytes spill loads");
  if (stores && loads) report.spill_bytes = *stores + *loads;
  if (const auto shared = number_before(line, " bytes smem")) report.static_shared_bytes = *shared;
}

}  // namespace

PtxasReport ptxas_report(std::string_view log, std::string_view kernel) {
  std::string wanted(k_entry);
  wanted.append(kernel).append("' for");
  const std::size_t start = log.rfind(wanted);
  if (start == std::string_view::npos) return {};
  PtxasReport report{true};
  std::string_view rest = log.substr(start);
  next_line(rest);
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    if (line.find(k_entry) != std::string_view::npos) break;
    // Functions that are called and not inlined follow their kernel, and spill on its behalf.
    PtxasReport part;
    read_line(line, part);
    report.spill_bytes += part.spill_bytes;
    report.static_shared_bytes += part.static_shared_bytes;
  }
  return report;
}

std::string without_ptxas_reports(std::string_view log) {
  std::string kept;
  while (!log.empty()) {
    const std::string_view line = next_line(log);
    if (!is_report(line)) kept.append(line).append("\n");
  }
  return kept == "\n" ? "" : kept;
}

}  // namespace kw::cuda
