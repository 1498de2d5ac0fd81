#pragma once
// Which elements of its operands an answer asks for, found by asking it with zeros in their place.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "operators/program/oracle/answers.hpp"
#include "problem/values.hpp"
#include "program/graph/graph.hpp"

namespace kw::program_oracle {

using Ranges = std::vector<ElementRange>;

/// Ascending, and without gaps or overlaps between two.
[[nodiscard]] Ranges joined(Ranges ranges);
/// The rows of `other` elements that stand in the places of the rows of `length` which these ranges touch.
[[nodiscard]] Ranges rows_in_places(const Ranges& ranges, std::int64_t length, std::int64_t other);
/// Parts of rows of `length`, each in one range.
[[nodiscard]] std::vector<RowPart> parts_of_rows(const Ranges& ranges, std::int64_t length);

/// What rows of a span's answer read of its first operand. Nothing where that is not known, or is more than `most`
/// ranges.
[[nodiscard]] std::optional<Ranges> first_operand_reads(const BySpan& answer, const Ranges& wanted, std::size_t most);

/// By operand, what the node's answer asks for where these elements are wanted of its outputs. Exact where that follows
/// from their places alone (ByElement::by_place), and a guess where it follows from data. Nothing where it asks more
/// than `most` times, or refuses.
[[nodiscard]] std::optional<std::map<std::size_t, Ranges>> traced_reads(const Graph& graph, const Node& node,
                                                                        const std::vector<Ranges>& wanted,
                                                                        std::int64_t most);

}  // namespace kw::program_oracle
