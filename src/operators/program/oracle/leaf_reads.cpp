// Which elements of its leaves an answer may read: a superset, found without computing anything.

#include "operators/program/oracle/needed_elements.hpp"
#include "operators/program/oracle/oracle.hpp"

namespace kw {
namespace {

/// Reads of one node that are looked at, in some ten milliseconds: every timed launch has data of its own.
constexpr std::int64_t k_most_reads = std::int64_t{1} << 21;

}  // namespace

Result<std::vector<std::vector<ElementRange>>> leaf_reads(const Graph& graph, std::span<const WantedElements> wanted,
                                                          std::span<const std::size_t> leaves) {
  const auto is_leaf = [&](std::size_t value) { return !graph.values[value].node.has_value(); };
  KW_TRY(const auto needed, program_oracle::needed_elements(graph, wanted, is_leaf, program_oracle::OfLeaves::reads,
                                                            serial_for, k_most_reads));
  std::vector<std::vector<ElementRange>> reads;
  for (const auto leaf : leaves) reads.push_back(needed[leaf].ranges);
  return reads;
}

}  // namespace kw
