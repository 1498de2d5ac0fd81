#include "verify/tools/ncu_report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace kw {
namespace {

constexpr std::size_t k_most_columns = 10000;
constexpr std::size_t k_most_rows = 1000;
constexpr std::size_t k_most_chars = 200;
constexpr double k_most_value = 1e18;
constexpr std::string_view k_stalled = "smsp__pcsamp_warps_issue_stalled_";
/// Instructions that threads executed, those left out whose predicate was false; between the two stands the class.
constexpr std::string_view k_executed = "smsp__sass_thread_inst_executed_op_";
constexpr std::string_view k_executed_end = "_pred_on.sum";
/// Classes that leave no instruction out and count none twice: ffma and fadd are in fp32.
constexpr auto k_instruction_classes =
    std::to_array<std::string_view>({"bit", "control", "conversion", "fp16", "fp32", "fp64", "integer",
                                     "inter_thread_communication", "memory", "misc"});

using Row = std::vector<std::string>;

std::string printable_cell(std::string_view text) {
  std::string line = on_one_line(text);
  std::erase_if(line, [](char c) { return c < ' ' || c > '~'; });
  return line.substr(0, k_most_chars);
}

/// Fields in quotes, a quote in them doubled. Nothing for a line that is none of those, or is cut off.
std::optional<Row> read_row(std::string_view line) {
  Row row;
  for (std::size_t at = 0; row.size() < k_most_columns;) {
    if (at >= line.size() || line[at] != '"') return std::nullopt;
    std::string& field = row.emplace_back();
    for (++at; at < line.size(); ++at) {
      if (line[at] == '"' && (at + 1 == line.size() || line[at + 1] != '"')) break;
      if (line[at] == '"') ++at;
      field += line[at];
    }
    if (at++ >= line.size()) return std::nullopt;
    if (at == line.size()) return row;
    if (line[at++] != ',') return std::nullopt;
  }
  return std::nullopt;
}

/// The rows as long as the first one, and the lines in which the tool speaks of itself.
struct Lines {
  std::vector<Row> rows;
  std::vector<std::string> messages;
};

Lines split(std::string_view report) {
  Lines lines;
  while (!report.empty() && lines.rows.size() < k_most_rows && lines.messages.size() < k_most_rows) {
    const std::size_t end = report.find('\n');
    std::string_view line = report.substr(0, end);
    report.remove_prefix(end == std::string_view::npos ? report.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("==")) lines.messages.push_back(printable_cell(line));
    if (!line.starts_with('"')) continue;
    auto row = read_row(line);
    const bool fits = row && (lines.rows.empty() || row->size() == lines.rows.front().size());
    if (fits) lines.rows.push_back(*std::move(row));
  }
  return lines;
}

/// "6,016" and "4.5"; nothing else.
std::optional<double> number(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= k_most_value)) {
    return std::nullopt;
  }
  return value;
}

/// By what a number in this unit has to be multiplied to be in bytes, nanoseconds, shares or plain.
std::optional<double> scale_of(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 16> k_units{{
      {"", 1},
      {"byte", 1},
      {"Kbyte", 1e3},
      {"Mbyte", 1e6},
      {"Gbyte", 1e9},
      {"ns", 1},
      {"nsecond", 1},
      {"us", 1e3},
      {"usecond", 1e3},
      {"ms", 1e6},
      {"msecond", 1e6},
      {"s", 1e9},
      {"second", 1e9},
      {"%", 0.01},
      {"warp", 1},
      {"register/thread", 1},
  }};
  for (const auto& [name, scale] : k_units) {
    if (name == unit) return scale;
  }
  return std::nullopt;
}

/// One launch: names and units of its columns, and its values.
struct Launch {
  const Row& names;
  const Row& units;
  const Row& values;

  [[nodiscard]] std::optional<std::string> text(std::string_view name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return values[static_cast<std::size_t>(found - names.begin())];
  }
  [[nodiscard]] std::optional<double> value_at(std::size_t column) const {
    const auto scale = scale_of(units[column]);
    const auto value = number(values[column]);
    return scale && value ? std::optional(*scale * *value) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> value(std::string_view name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return value_at(static_cast<std::size_t>(found - names.begin()));
  }
  /// Whatever its unit is called: a number of something.
  [[nodiscard]] std::optional<double> count(std::string_view name) const {
    const auto found = text(name);
    return found ? number(*found) : std::nullopt;
  }
  /// One count over another that is not zero.
  [[nodiscard]] std::optional<double> ratio(std::string_view part, std::string_view whole) const {
    const auto over = count(part);
    const auto under = count(whole);
    return over && under && *under > 0 ? std::optional(*over / *under) : std::nullopt;
  }
  /// Of a launch that is over too soon some counters make no sense: more than everything.
  [[nodiscard]] std::optional<double> share(std::string_view name) const {
    const auto found = value(name);
    return found && *found <= 1 ? found : std::nullopt;
  }
};

/// Shares of all samples; issuing an instruction is no reason to wait, and is left out.
std::vector<StallReason> stall_reasons(const Launch& launch) {
  std::vector<StallReason> reasons;
  double samples = 0;
  for (std::size_t column = 0; column < launch.names.size(); ++column) {
    const std::string_view name = launch.names[column];
    if (!name.starts_with(k_stalled)) continue;
    // Whatever the unit is called: these are counts.
    const auto count = number(launch.values[column]);
    if (!count || *count < 1) continue;
    samples += *count;
    const std::string_view reason = name.substr(k_stalled.size());
    if (reason != "selected") reasons.push_back({printable_cell(reason), *count});
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const StallReason& a, const StallReason& b) { return a.share > b.share; });
  if (reasons.size() > k_most_stall_reasons) reasons.resize(k_most_stall_reasons);
  for (StallReason& reason : reasons) reason.share /= samples;
  return reasons;
}

std::string executed_metric(std::string_view of_class) {
  return std::string(k_executed) + std::string(of_class) + std::string(k_executed_end);
}

/// Where one class was not counted, nothing is a share of all.
std::vector<InstructionShare> instruction_mix(const Launch& launch) {
  std::vector<InstructionShare> mix;
  double all = 0;
  for (const std::string_view one : k_instruction_classes) {
    const auto count = launch.count(executed_metric(one));
    if (!count) return {};
    all += *count;
    if (*count >= 1) mix.push_back({std::string(one), *count});
  }
  std::ranges::stable_sort(mix, std::greater<>(), &InstructionShare::share);
  if (mix.size() > k_most_instruction_classes) mix.resize(k_most_instruction_classes);
  for (InstructionShare& one : mix) one.share /= all;
  return mix;
}

std::optional<double> at_most_one(std::optional<double> share) {
  return share && *share <= 1 ? share : std::nullopt;
}

constexpr std::string_view k_load_sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr std::string_view k_load_requests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
constexpr std::string_view k_bank_conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
constexpr std::string_view k_shared_passes = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
constexpr std::string_view k_divergent_branches = "smsp__sass_branch_targets_threads_divergent.sum";
constexpr std::string_view k_branches = "smsp__sass_branch_targets.sum";

HardwareCounters counters_of(const Launch& launch) {
  HardwareCounters counters;
  counters.kernel = printable_cell(launch.text("Kernel Name").value_or(""));
  counters.duration_ns = launch.value("gpu__time_duration.sum");
  counters.dram_read_bytes = launch.value("dram__bytes_read.sum");
  counters.dram_write_bytes = launch.value("dram__bytes_write.sum");
  counters.dram_peak_share = launch.share("dram__throughput.avg.pct_of_peak_sustained_elapsed");
  counters.l2_hit_share = launch.share("lts__t_sector_hit_rate.pct");
  counters.tensor_pipe_share = launch.share("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed");
  counters.achieved_occupancy = launch.share("sm__warps_active.avg.pct_of_peak_sustained_active");
  counters.issue_share = launch.share("smsp__issue_active.avg.pct_of_peak_sustained_active");
  constexpr double k_most_registers = 1e6;
  if (const auto registers = launch.value("launch__registers_per_thread"); registers && *registers < k_most_registers) {
    counters.registers_per_thread = static_cast<std::int64_t>(*registers);
  }
  counters.stalls = stall_reasons(launch);
  counters.instructions = instruction_mix(launch);
  counters.sectors_per_load = launch.ratio(k_load_sectors, k_load_requests);
  counters.bank_conflict_share = at_most_one(launch.ratio(k_bank_conflicts, k_shared_passes));
  counters.divergent_branch_share = at_most_one(launch.ratio(k_divergent_branches, k_branches));
  return counters;
}

std::string why_nothing(const std::string& report, const std::vector<std::string>& messages) {
  if (report.find("ERR_NVGPUCTRPERM") != std::string::npos) {
    return "the driver lets only administrators count (ERR_NVGPUCTRPERM): load the module nvidia with "
           "NVreg_RestrictProfilingToAdminUsers=0, or run as root";
  }
  for (const std::string& message : messages) {
    if (message.starts_with("==ERROR==")) return "Nsight Compute says: " + message;
  }
  return "Nsight Compute counted nothing";
}

}  // namespace

const std::vector<std::string>& profiled_metrics() {
  static const std::vector<std::string> metrics = [] {
    std::vector<std::string> all{"gpu__time_duration.sum",
                                 "dram__bytes_read.sum",
                                 "dram__bytes_write.sum",
                                 "dram__throughput.avg.pct_of_peak_sustained_elapsed",
                                 "lts__t_sector_hit_rate.pct",
                                 "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
                                 "sm__warps_active.avg.pct_of_peak_sustained_active",
                                 "smsp__issue_active.avg.pct_of_peak_sustained_active",
                                 "launch__registers_per_thread",
                                 "group:smsp__pcsamp_warp_stall_reasons"};
    for (const std::string_view one :
         {k_load_sectors, k_load_requests, k_bank_conflicts, k_shared_passes, k_divergent_branches, k_branches}) {
      all.emplace_back(one);
    }
    for (const std::string_view one : k_instruction_classes) all.push_back(executed_metric(one));
    return all;
  }();
  return metrics;
}

std::variant<HardwareCounters, std::string> read_counters(const std::string& report) {
  const Lines lines = split(report);
  std::optional<HardwareCounters> longest;
  // The first row names the columns, the second their units.
  for (std::size_t i = 2; i < lines.rows.size(); ++i) {
    HardwareCounters counters = counters_of({lines.rows[0], lines.rows[1], lines.rows[i]});
    if (!counters.duration_ns) continue;
    if (!longest || *counters.duration_ns > *longest->duration_ns) longest = std::move(counters);
  }
  if (longest) return *std::move(longest);
  return why_nothing(report, lines.messages);
}

}  // namespace kw
