#include "record/access_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace kw {
namespace {

constexpr std::int64_t k_warp_lanes = 32;
constexpr double k_few_lanes = 0.75;

void add_to(AccessCounts& sum, const AccessCounts& one) {
  sum.requests += one.requests;
  sum.partial += one.partial;
  sum.lanes += one.lanes;
  sum.transactions += one.transactions;
  sum.least += one.least;
}

std::string_view space_name(bool shared) {
  return shared ? "shared memory" : "global memory";
}

std::string_view unit_name(bool shared) {
  return shared ? "passes over the banks" : "sectors of 32 bytes";
}

double each(std::int64_t number, std::int64_t requests) {
  return requests == 0 ? 0 : static_cast<double>(number) / static_cast<double>(requests);
}

std::string sentence_of(const std::string& kernel, const AccessCounts& sum) {
  std::string text = fmt::format("{}, {}: {} requests of warps in {} {}; {} would do", kernel, space_name(sum.shared),
                                 sum.requests, sum.transactions, unit_name(sum.shared), sum.least);
  if (sum.partial > 0) text += fmt::format("; {} requests without some of the lanes", sum.partial);
  return text + ".";
}

/// "", or the branch at which warps of the kernel part most often.
std::string worst_branch(const SimulatedAccesses& accesses, const std::string& kernel) {
  const AccessCounts* worst = nullptr;
  for (const AccessCounts& one : accesses.lines) {
    if (!counts_branches(one) || one.kernel != kernel || one.line == 0) continue;
    if (worst == nullptr || one.partial > worst->partial) worst = &one;
  }
  return worst == nullptr ? "" : fmt::format(", most often at the end of what begins at line {}", worst->line);
}

std::string branch_sentence(const SimulatedAccesses& accesses, const std::string& kernel, const AccessCounts& sum) {
  std::string text = fmt::format("{}, branches: warps come to {}, and part at ", kernel, sum.requests);
  return text + (sum.partial == 0 ? "none." : fmt::format("{}{}.", sum.partial, worst_branch(accesses, kernel)));
}

}  // namespace

AccessCounts branches_of(const SimulatedAccesses& accesses) {
  AccessCounts sum;
  for (const AccessCounts& one : accesses.lines) {
    if (counts_branches(one)) add_to(sum, one);
  }
  return sum;
}

AccessCounts sum_of(const SimulatedAccesses& accesses, MemorySpace space) {
  AccessCounts sum;
  sum.shared = space == MemorySpace::shared;
  for (const AccessCounts& one : accesses.lines) {
    if (one.shared == sum.shared && !counts_branches(one)) add_to(sum, one);
  }
  return sum;
}

double lane_share(const AccessCounts& counts) {
  return counts.requests == 0 ? 1 : each(counts.lanes, counts.requests * k_warp_lanes);
}

std::vector<AccessCounts> costly_lines(const SimulatedAccesses& accesses, std::size_t most) {
  std::vector<AccessCounts> lines;
  for (const AccessCounts& one : accesses.lines) {
    if (!counts_branches(one) && one.line > 0 && (excess_of(one) > 0 || lane_share(one) < k_few_lanes))
      lines.push_back(one);
  }
  const auto cost = [](const AccessCounts& one) { return std::pair(excess_of(one), one.partial); };
  std::ranges::stable_sort(lines, std::greater<>(), cost);
  if (lines.size() > most) lines.resize(most);
  return lines;
}

std::string costly_text(const AccessCounts& counts) {
  std::string text =
      fmt::format("{} {}: {:.3g} {} a request of a warp, {:.3g} would do", counts.write ? "writes to" : "reads of",
                  space_name(counts.shared), each(counts.transactions, counts.requests),
                  counts.shared ? "passes" : "sectors", each(counts.least, counts.requests));
  if (counts.partial > 0)
    text += fmt::format("; {:.3g} of {} lanes", each(counts.lanes, counts.requests), k_warp_lanes);
  return text;
}

std::vector<std::string> access_sentences(const SimulatedAccesses& accesses) {
  std::map<std::pair<std::string, bool>, AccessCounts> sums;
  std::map<std::string, AccessCounts> branches;
  for (const AccessCounts& one : accesses.lines) {
    if (counts_branches(one)) {
      add_to(branches[one.kernel], one);
      continue;
    }
    AccessCounts& sum = sums[{one.kernel, one.shared}];
    sum.shared = one.shared;
    add_to(sum, one);
  }
  std::vector<std::string> sentences;
  for (const auto& [key, sum] : sums) sentences.push_back(sentence_of(key.first, sum));
  for (const auto& [kernel, sum] : branches) sentences.push_back(branch_sentence(accesses, kernel, sum));
  return sentences;
}

std::string counted_part(const SimulatedAccesses& accesses) {
  std::string text = accesses.groups == accesses.of
                         ? fmt::format("in all {} groups", accesses.of)
                         : fmt::format("in the first {} of {} groups", accesses.groups, accesses.of);
  if (accesses.uncounted > 0) text += fmt::format(", {} accesses left out", accesses.uncounted);
  return text;
}

std::vector<std::string> access_lines(const SimulatedAccesses& accesses) {
  constexpr std::size_t k_shown = 5;
  std::vector<std::string> lines{
      fmt::format("accesses of memory, counted by the simulator {} {}", accesses.device, counted_part(accesses))};
  for (const std::string& sentence : access_sentences(accesses)) lines.push_back("  " + sentence);
  for (const AccessCounts& one : costly_lines(accesses, k_shown)) {
    lines.push_back(fmt::format("  line {}: {}", one.line, costly_text(one)));
  }
  return lines;
}

}  // namespace kw
