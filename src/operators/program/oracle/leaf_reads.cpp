// Which elements of its leaves an answer may read: a superset, found without computing anything.

#include <algorithm>
#include <optional>
#include <utility>

#include "operators/program/oracle/evaluation.hpp"
#include "operators/program/oracle/oracle.hpp"

namespace kw {
namespace {

using program_oracle::Answer;
using program_oracle::ByElement;
using program_oracle::BySpan;
using program_oracle::Operand;
using program_oracle::Reach;
using Ranges = std::vector<ElementRange>;

/// More ranges are not worth telling apart.
constexpr std::size_t k_most_ranges = std::size_t{1} << 18;

/// Ascending, and without gaps or overlaps between two.
Ranges joined(Ranges ranges) {
  std::ranges::sort(ranges, {}, &ElementRange::begin);
  Ranges all;
  for (const auto& range : ranges) {
    if (!all.empty() && range.begin <= all.back().end) {
      all.back().end = std::max(all.back().end, range.end);
    } else {
      all.push_back(range);
    }
  }
  return all;
}

/// The rows of `other` elements that stand in the places of the rows of `length` which these ranges touch.
Ranges rows_in_places(const Ranges& ranges, std::int64_t length, std::int64_t other) {
  Ranges rows;
  for (const auto& range : ranges) {
    rows.push_back({range.begin / length * other, (range.end + length - 1) / length * other});
  }
  return joined(std::move(rows));
}

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
    const auto operands = program_oracle::operands_of(node);
    for (std::size_t place = 0; place < operands.size(); ++place) {
      const std::size_t operand = operands[place];
      const auto reads =
          node.outputs.size() == 1 ? reads_of(answer, node.outputs.front(), place, operand) : std::nullopt;
      add(operand, reads ? *reads : Ranges{{0, elements_of(operand)}});
    }
    return {};
  }

  /// What the wanted elements of an only output read of an operand; nothing: any of its elements.
  std::optional<Ranges> reads_of(const Answer& answer, std::size_t output, std::size_t place, std::size_t operand) {
    wanted_[output] = joined(std::move(wanted_[output]));
    const Ranges& ranges = wanted_[output];
    const std::int64_t all = elements_of(output);
    if (const auto* by_element = std::get_if<ByElement>(&answer)) {
      if (elements_of(operand) != all) return std::nullopt;
      if (by_element->reach == Reach::same) return ranges;
      const std::int64_t group = by_element->groups != nullptr ? by_element->group_length : 0;
      return group > 0 ? std::optional(rows_in_places(ranges, group, group)) : std::nullopt;
    }
    const auto* spans = std::get_if<BySpan>(&answer);
    if (spans == nullptr || spans->first_operand_row == 0 || place != 0) return std::nullopt;
    if (elements_of(operand) / spans->first_operand_row != all / spans->length) return std::nullopt;
    return rows_in_places(ranges, spans->length, spans->first_operand_row);
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
