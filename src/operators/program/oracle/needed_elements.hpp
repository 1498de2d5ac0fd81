#pragma once
// Which elements of each value some elements of others follow from, found without computing anything.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/result.hpp"
#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/oracle.hpp"
#include "operators/program/oracle/ranges.hpp"

namespace kw::program_oracle {

struct NeededElements {
  Ranges ranges = {};  ///< ascending, without gaps or overlaps between two
  bool exact = true;   ///< false: `ranges` is all, for nobody knows which are needed
};

/// Whether it is of interest what is read of leaves.
enum class OfLeaves : bool { none, reads };

/// By value; of leaves, which are those that `is_leaf` names, what is read of them if that is of interest. Of the reads
/// of a node, in ranges or one by one, about `most_reads` are looked at; which more are is not known. Errors as
/// evaluate_elements.
[[nodiscard]] Result<std::vector<NeededElements>> needed_elements(const Graph& graph,
                                                                  std::span<const WantedElements> wanted,
                                                                  const std::function<bool(std::size_t)>& is_leaf,
                                                                  OfLeaves of_leaves, const ParallelFor& parallel,
                                                                  std::int64_t most_reads);

/// By operand, what the node's answer asks for where these elements are wanted of its outputs: found by asking it with
/// zeros. Exact where that follows from their places alone (ByElement::by_place), and a guess where it follows from
/// data. Nothing where it asks more than about `most` times, or refuses.
[[nodiscard]] std::optional<std::map<std::size_t, Ranges>> traced_reads(const Graph& graph, const Node& node,
                                                                        const std::vector<Ranges>& wanted,
                                                                        const ParallelFor& parallel, std::int64_t most);

/// What rows of a span's answer read of its first operand. Nothing where that is not known, or is more than about
/// `most` ranges.
[[nodiscard]] std::optional<Ranges> first_operand_reads(const BySpan& answer, const Ranges& wanted,
                                                        std::int64_t operand_elements, const ParallelFor& parallel,
                                                        std::int64_t most);

}  // namespace kw::program_oracle
