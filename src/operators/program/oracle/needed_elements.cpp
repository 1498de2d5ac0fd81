#include "operators/program/oracle/needed_elements.hpp"

#include <algorithm>
#include <utility>

#include "operators/program/oracle/evaluation.hpp"

namespace kw::program_oracle {
namespace {

/// What is read of leaves is worth some ten milliseconds.
constexpr std::int64_t k_most_of_leaves = std::int64_t{1} << 21;
/// More ranges of a value are joined now and then.
constexpr std::size_t k_most_ranges = std::size_t{1} << 20;

using Reads = std::map<std::size_t, Ranges>;

class Cone {
 public:
  Cone(const Graph& graph, const std::function<bool(std::size_t)>& is_leaf, OfLeaves of_leaves,
       const ParallelFor& parallel, std::int64_t most_reads)
      : graph_(graph),
        is_leaf_(is_leaf),
        of_leaves_(of_leaves),
        parallel_(parallel),
        most_reads_(most_reads),
        needed_(graph.values.size()) {}

  Result<std::vector<NeededElements>> find(std::span<const WantedElements> wanted) {
    std::vector<std::size_t> values;
    for (const auto& one : wanted) {
      values.push_back(one.value);
      for (const auto i : one.elements) add(one.value, {{i, i + 1}});
    }
    KW_TRY(const auto followed, needed_nodes(graph_, values, is_leaf_));
    for (std::size_t i = followed.size(); i-- > 0;) {
      if (followed[i]) KW_TRY_VOID(follow(graph_.nodes[i]));
    }
    for (auto& one : needed_) one.ranges = joined(std::move(one.ranges));
    return std::move(needed_);
  }

 private:
  void add(std::size_t value, const Ranges& ranges) {
    Ranges& all = needed_[value].ranges;
    for (const auto& range : ranges) {
      if (!all.empty() && all.back().end == range.begin) {
        all.back().end = range.end;
      } else {
        all.push_back(range);
      }
    }
    if (all.size() > k_most_ranges) all = joined(std::move(all));
  }
  void add_all(std::size_t value) { needed_[value] = {{{0, elements_of(graph_.values[value].type)}}, false}; }

  Result<void> follow(const Node& node) {
    const bool of_leaves = std::ranges::all_of(operands_of(node), is_leaf_);
    if (of_leaves && of_leaves_ == OfLeaves::none) return {};
    most_ = of_leaves ? std::min(most_reads_, k_most_of_leaves) : most_reads_;
    std::vector<Ranges> wanted;
    bool exact = true;
    for (const auto output : node.outputs) {
      needed_[output].ranges = joined(std::move(needed_[output].ranges));
      wanted.push_back(needed_[output].ranges);
      exact = exact && needed_[output].exact;
    }
    KW_TRY(const Reads reads, reads_of(node, wanted));
    for (const auto operand : operands_of(node)) {
      const auto known = reads.find(operand);
      if (known == reads.end()) {
        add_all(operand);
      } else {
        add(operand, known->second);
        needed_[operand].exact = needed_[operand].exact && exact;
      }
    }
    return {};
  }

  /// What the wanted elements of the outputs read of operands; of those that are not among them any element.
  Result<Reads> reads_of(const Node& node, const std::vector<Ranges>& wanted) {
    KW_TRY(const Answer answer, answer_of(graph_, node, zero_operands(graph_)));
    Reads reads;
    const auto operands = operands_of(node);
    const bool looks_at_rows = std::holds_alternative<BySpan>(answer) ||
                               (std::holds_alternative<ByElement>(answer) && std::get<ByElement>(answer).reads);
    if (looks_at_rows && is_all(node.outputs.front(), wanted.front())) {
      for (const auto operand : operands) reads[operand] = {{0, elements_of(graph_.values[operand].type)}};
      return reads;
    }
    const auto keep_first = [&](std::optional<Ranges> first) {
      // Who reads a tensor twice may read all of it in the other place.
      if (first && std::ranges::count(operands, operands.front()) == 1) reads[operands.front()] = *std::move(first);
    };
    const std::int64_t all = operands.empty() ? 0 : elements_of(graph_.values[operands.front()].type);
    if (const auto* spans = std::get_if<BySpan>(&answer)) {
      keep_first(first_operand_reads(*spans, wanted.front(), all, parallel_, most_));
      return reads_of_rest(operands, std::move(reads));
    }
    const auto* by_element = std::get_if<ByElement>(&answer);
    const auto* by_line = std::get_if<ByLine>(&answer);
    if (!(by_element != nullptr ? by_element->by_place : by_line->by_place)) return reads;
    if (by_element != nullptr && by_element->reads != nullptr) {
      Ranges any;
      for (const auto& ranges : wanted) any.insert(any.end(), ranges.begin(), ranges.end());
      keep_first(reads_of_groups(*by_element->reads, joined(std::move(any)), parallel_, most_));
      return reads_of_rest(operands, std::move(reads));
    }
    if (by_element != nullptr && by_element->reach == Reach::same)
      return reads_in_place(*by_element, operands, node.outputs.front(), wanted.front());
    auto traced = traced_reads(graph_, node, wanted, parallel_, most_);
    if (!traced) return reads;
    // What was not even looked at is not read.
    for (const auto operand : operands) traced->try_emplace(operand);
    return *std::move(traced);
  }

  [[nodiscard]] bool is_all(std::size_t value, const Ranges& ranges) const {
    return count_of(ranges) == elements_of(graph_.values[value].type);
  }

  /// Weights and the like: all of them, which are known then to be all.
  Reads reads_of_rest(const std::vector<std::size_t>& operands, Reads reads) {
    if (operands.empty() || !reads.contains(operands.front())) return reads;
    for (const auto operand : operands) {
      reads.try_emplace(operand, Ranges{{0, elements_of(graph_.values[operand].type)}});
    }
    return reads;
  }

  Reads reads_in_place(const ByElement& answer, const std::vector<std::size_t>& operands, std::size_t output,
                       const Ranges& ranges) {
    Reads reads;
    for (const auto operand : operands) {
      const std::int64_t all = elements_of(graph_.values[operand].type);
      if (all == elements_of(graph_.values[output].type)) {
        reads[operand] = ranges;
      } else if (answer.repeats && all > 1 && !is_leaf_(operand) && count_of(ranges) <= most_) {
        reads[operand] = reads_of_repeated(operand, output, ranges);
      } else {
        reads[operand] = {{0, all}};
      }
    }
    return reads;
  }

  Ranges reads_of_repeated(std::size_t operand, std::size_t output, const Ranges& ranges) {
    constexpr std::int64_t k_elements_of_task = 4096;
    const Extents from = values_of(graph_.values[operand].type.shape);
    const Extents to = values_of(graph_.values[output].type.shape);
    const StridedMap place_of(to, broadcast_strides(from, to));
    const Ranges parts = cut(ranges, k_elements_of_task);
    ElementSet reads(volume_of(from));
    parallel_(std::ssize(parts), [&](std::int64_t part) {
      const ElementRange& some = parts[static_cast<std::size_t>(part)];
      for (auto i = some.begin; i < some.end; ++i) reads.add(place_of(i));
    });
    return reads.ranges();
  }

  const Graph& graph_;
  const std::function<bool(std::size_t)>& is_leaf_;
  OfLeaves of_leaves_;
  const ParallelFor& parallel_;
  std::int64_t most_reads_;
  std::int64_t most_ = 0;               ///< of the node that is looked at
  std::vector<NeededElements> needed_;  ///< by value
};

}  // namespace

Result<std::vector<NeededElements>> needed_elements(const Graph& graph, std::span<const WantedElements> wanted,
                                                    const std::function<bool(std::size_t)>& is_leaf, OfLeaves of_leaves,
                                                    const ParallelFor& parallel, std::int64_t most_reads) {
  return Cone(graph, is_leaf, of_leaves, parallel, most_reads).find(wanted);
}

std::optional<Ranges> first_operand_reads(const BySpan& answer, const Ranges& wanted, std::int64_t operand_elements,
                                          const ParallelFor& parallel, std::int64_t most) {
  if (answer.first_operand == nullptr) return std::nullopt;
  const auto parts = parts_of_rows(wanted, answer.length);
  if (parts.empty()) return Ranges();
  ElementSet reads(operand_elements);
  const auto add = [&](const RowPart& part) {
    Ranges ranges;
    answer.first_operand(part, ranges);
    for (const auto& range : ranges) reads.add(range);
    return std::ssize(ranges);
  };
  if (std::ssize(parts) * (1 + add(parts[parts.size() / 2])) > most) return std::nullopt;
  parallel(std::ssize(parts), [&](std::int64_t i) { add(parts[static_cast<std::size_t>(i)]); });
  return reads.ranges();
}

}  // namespace kw::program_oracle
