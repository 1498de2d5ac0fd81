#include "propose/llm/prompts/memory_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/fenced_text.hpp"
#include "propose/llm/prompts/compiler_errors.hpp"
#include "propose/llm/replies/code_blocks.hpp"
#include "record/access_text.hpp"

namespace kw {
namespace {

constexpr std::size_t k_quoted_lines = 3;
constexpr std::size_t k_shown_name_bytes = 60;

/// The costliest line of one space: ", most at line 12".
std::string worst_place(const SimulatedAccesses& accesses, MemorySpace space) {
  for (const AccessCounts& one : costly_lines(accesses, k_max_access_lines)) {
    if (one.shared != (space == MemorySpace::shared) || excess_of(one) == 0) continue;
    return fmt::format(", most of the excess at line {}: {}", one.line, costly_text(one));
  }
  return "";
}

/// Transactions of one space, where they are `factor` times the least or more.
std::optional<std::string> in_excess(const Attempt& kernel, MemorySpace space, double factor, std::string_view units) {
  if (!kernel.accesses) return std::nullopt;
  const AccessCounts sum = sum_of(*kernel.accesses, space);
  if (sum.requests == 0 || static_cast<double>(sum.transactions) < factor * static_cast<double>(sum.least)) {
    return std::nullopt;
  }
  return fmt::format("{} {} where {} would do{}", sum.transactions, units, sum.least,
                     worst_place(*kernel.accesses, space));
}

const HardwareCounters* counters_of(const Attempt& kernel) {
  return kernel.measurement && kernel.measurement->counters ? &*kernel.measurement->counters : nullptr;
}

/// Of the branches that warps come to, those that part them, where they are many.
std::optional<std::string> parting_branches(const SimulatedAccesses& accesses) {
  constexpr double k_many = 0.25;
  const AccessCounts branches = branches_of(accesses);
  if (branches.requests == 0 || static_cast<double>(branches.partial) < k_many * static_cast<double>(branches.requests))
    return std::nullopt;
  return fmt::format("{} of the {} branches that warps come to part them", branches.partial, branches.requests);
}

bool is_about(std::string_view reason, Wait wait) {
  constexpr auto k_global = std::to_array<std::string_view>({"long_scoreboard", "lg_throttle", "drain"});
  constexpr auto k_shared = std::to_array<std::string_view>({"short_scoreboard", "mio_throttle"});
  constexpr auto k_barriers = std::to_array<std::string_view>({"barrier", "membar", "warpgroup_arrive"});
  const auto is_among = [&](const auto& names) { return std::ranges::find(names, reason) != names.end(); };
  return wait == Wait::global_memory   ? is_among(k_global)
         : wait == Wait::shared_memory ? is_among(k_shared)
                                       : is_among(k_barriers);
}

}  // namespace

std::string access_lines_text(const Attempt& attempt) {
  if (!attempt.accesses) return "";
  std::string text =
      fmt::format("* The simulator ({}) counted what warps ask of memory {}; it counts, and times nothing:\n",
                  one_line(attempt.accesses->device, k_shown_name_bytes), counted_part(*attempt.accesses));
  for (const std::string& sentence : access_sentences(*attempt.accesses)) text += "  * " + sentence + "\n";
  std::vector<CompilerError> places;
  for (const AccessCounts& one : costly_lines(*attempt.accesses, k_quoted_lines)) {
    places.push_back({static_cast<int>(one.line), 0, costly_text(one)});
  }
  if (!places.empty()) text += "\n" + fenced("text", quote_errors(attempt.candidate.bundle, places));
  return text;
}

std::optional<std::string> scattered_accesses(const Attempt& kernel) {
  return in_excess(kernel, MemorySpace::global, 2, "sectors of global memory");
}

std::optional<std::string> bank_conflicts(const Attempt& kernel) {
  if (auto counted = in_excess(kernel, MemorySpace::shared, 1.5, "passes over the banks")) return counted;
  constexpr double k_much = 1.0 / 3;
  const HardwareCounters* counters = counters_of(kernel);
  if (counters == nullptr || counters->bank_conflict_share.value_or(0) < k_much) return std::nullopt;
  return fmt::format("conflicts are {:.0f} % of the passes over the banks", 100 * *counters->bank_conflict_share);
}

std::optional<std::string> missing_lanes(const Attempt& kernel) {
  constexpr double k_few = 0.75;
  if (!kernel.accesses) return std::nullopt;
  const AccessCounts global = sum_of(*kernel.accesses, MemorySpace::global);
  const AccessCounts shared = sum_of(*kernel.accesses, MemorySpace::shared);
  AccessCounts both;
  both.requests = global.requests + shared.requests;
  both.lanes = global.lanes + shared.lanes;
  if (lane_share(both) >= k_few) return parting_branches(*kernel.accesses);
  return fmt::format("{:.0f} % of the lanes take part in their warps' {} requests", 100 * lane_share(both),
                     both.requests);
}

std::optional<double> wait_share(const HardwareCounters& counters, Wait wait) {
  if (counters.stalls.empty()) return std::nullopt;
  double share = 0;
  for (const StallReason& stall : counters.stalls) share += is_about(stall.name, wait) ? stall.share : 0;
  return share;
}

std::optional<std::string> long_wait(const Attempt& kernel, Wait wait) {
  constexpr double k_long = 1.0 / 3;
  const HardwareCounters* counters = counters_of(kernel);
  if (counters == nullptr || wait_share(*counters, wait).value_or(0) < k_long) return std::nullopt;
  std::string names;
  for (const StallReason& stall : counters->stalls) {
    if (is_about(stall.name, wait)) names += (names.empty() ? "" : ", ") + one_line(stall.name, k_shown_name_bytes);
  }
  return fmt::format("{:.0f} % of all samples of warps: {}", 100 * *wait_share(*counters, wait), names);
}

std::optional<std::string> much_overhead(const Attempt& kernel) {
  constexpr double k_much = 0.5;
  constexpr double k_busy = 0.5;
  constexpr auto k_overhead = std::to_array<std::string_view>({"integer", "bit", "conversion", "control", "misc"});
  const HardwareCounters* counters = counters_of(kernel);
  if (counters == nullptr || counters->issue_share.value_or(0) < k_busy) return std::nullopt;
  double share = 0;
  std::string names;
  for (const InstructionShare& one : counters->instructions) {
    if (std::ranges::find(k_overhead, one.name) == k_overhead.end()) continue;
    share += one.share;
    names += fmt::format("{}{} {:.0f} %", names.empty() ? "" : ", ", one.name, 100 * one.share);
  }
  if (share < k_much) return std::nullopt;
  return fmt::format("of the instructions that threads execute, {}", names);
}

}  // namespace kw
