// Which elements of its leaves an answer may read: a superset, found without computing anything.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "operators/program/oracle/evaluation.hpp"
#include "operators/program/oracle/oracle.hpp"
#include "operators/program/oracle/traced_reads.hpp"

namespace kw {
namespace {

using program_oracle::Answer;
using program_oracle::ByElement;
using program_oracle::BySpan;
using program_oracle::joined;
using program_oracle::Operand;
using program_oracle::Ranges;
using program_oracle::Reach;
using program_oracle::rows_in_places;

/// More ranges are not worth telling apart.
constexpr std::size_t k_most_ranges = std::size_t{1} << 18;
/// Reads that are looked at one by one, some ten milliseconds: every timed launch has data of its own.
constexpr std::int64_t k_most_traced = std::int64_t{1} << 20;

class LeafReads {
 public:
  explicit LeafReads(const Graph& graph) : graph_(graph), wanted_(graph.values.size()) {}

  Result<std::vector<Ranges>> find(std::span<const WantedElements> wanted, std::span<const std::size_t> leaves) {
    std::vector<std::size_t> values;
    for (const auto& one : wanted) {
      values.push_back(one.value);
      for (const auto i : one.elements) add(one.value, {{i, i + 1}});
    }
    KW_TRY(const auto needed, program_oracle::needed_nodes(graph_, values, [&](std::size_t value) {
             return !graph_.values[value].node.has_value();
           }));
    for (std::size_t i = needed.size(); i-- > 0;) {
      if (needed[i]) KW_TRY_VOID(follow(graph_.nodes[i]));
    }
    std::vector<Ranges> reads;
    for (const auto leaf : leaves) reads.push_back(joined(wanted_[leaf]));
    return reads;
  }

 private:
  [[nodiscard]] std::int64_t elements_of(std::size_t value) const {
    return program_oracle::elements_of(graph_.values[value].type);
  }

  void add(std::size_t value, const Ranges& ranges) {
    Ranges& all = wanted_[value];
    for (const auto& range : ranges) {
      if (!all.empty() && all.back().end == range.begin) {
        all.back().end = range.end;
      } else {
        all.push_back(range);
      }
    }
    if (all.size() > k_most_ranges) all = {{0, elements_of(value)}};
  }

  Result<void> follow(const Node& node) {
    const program_oracle::OracleCall::OperandOf zeros = [&](std::size_t value) {
      const auto& type = graph_.values[value].type;
      return Operand(type.dtype, values_of(type.shape), [](std::int64_t) { return 0.0; });
    };
    KW_TRY(const Answer answer, program_oracle::answer_of(graph_, node, zeros));
    for (const auto output : node.outputs) wanted_[output] = joined(std::move(wanted_[output]));
    const auto reads = reads_of(answer, node);
    for (const auto operand : program_oracle::operands_of(node)) {
      const auto known = reads.find(operand);
      add(operand, known != reads.end() ? known->second : Ranges{{0, elements_of(operand)}});
    }
    return {};
  }

  /// What the wanted elements of the outputs read of operands; of those that are not among them any element.
  std::map<std::size_t, Ranges> reads_of(const Answer& answer, const Node& node) {
    const auto operands = program_oracle::operands_of(node);
    const std::size_t output = node.outputs.front();
    const Ranges& ranges = wanted_[output];
    std::map<std::size_t, Ranges> reads;
    if (const auto* spans = std::get_if<BySpan>(&answer)) {
      auto first = program_oracle::first_operand_reads(*spans, ranges, k_most_ranges);
      // Who reads a tensor twice may read all of it in the other place.
      if (first && std::ranges::count(operands, operands.front()) == 1) reads[operands.front()] = *std::move(first);
      return reads;
    }
    const auto* by_element = std::get_if<ByElement>(&answer);
    if (by_element == nullptr || !by_element->by_place) return reads;
    const bool in_rows = by_element->groups != nullptr && by_element->group_length > 0;
    if (by_element->reach != Reach::same && !in_rows) {
      std::vector<Ranges> wanted;
      for (const auto value : node.outputs) wanted.push_back(wanted_[value]);
      return program_oracle::traced_reads(graph_, node, wanted, k_most_traced).value_or(std::move(reads));
    }
    for (const auto operand : operands) {
      if (elements_of(operand) != elements_of(output)) continue;
      const std::int64_t group = by_element->group_length;
      reads[operand] = in_rows ? rows_in_places(ranges, group, group) : ranges;
    }
    return reads;
  }

  const Graph& graph_;
  std::vector<Ranges> wanted_;  ///< by value
};

}  // namespace

Result<std::vector<std::vector<ElementRange>>> leaf_reads(const Graph& graph, std::span<const WantedElements> wanted,
                                                          std::span<const std::size_t> leaves) {
  return LeafReads(graph).find(wanted, leaves);
}

}  // namespace kw
