#pragma once
// Algebra on the graph of a module, before its stages are fused: what gives the same answers with fewer nodes or less
// work. Rules hold for all finite inputs whose intermediate results stay a factor of 2^20 away from the largest float,
// and for every binding of the axes; what they change is rounding. The oracle, the baseline and the problem keep the
// module as it was written.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/simplify/graph_rewriter.hpp"

namespace kw {

struct SimplificationRule {
  std::string_view name;
  std::string_view why;  ///< the equation
  /// The rule finds that a result does not depend on its operand at all.
  bool degenerate = false;
  /// Changes the graph where node `index` is of the rule's form. Nodes behind it keep their order.
  bool (*apply)(GraphRewriter& graph, std::size_t index);
};

/// All of them, each once.
[[nodiscard]] std::vector<SimplificationRule> simplification_rules();

struct AppliedRule {
  SimplificationRule rule;
  std::string node;  ///< that it was applied to: "linear (layers.0), line 12"
};
/// "one_scale at mul, line 7: (x * a) * b = x * (a * b)"
[[nodiscard]] std::string applied_text(const AppliedRule& applied);

struct SimplifiedGraph {
  Graph graph;                       ///< values keep their numbers; nodes that nobody needs are gone
  std::vector<std::size_t> outputs;  ///< in the order of those that were asked for
  std::vector<AppliedRule> applied;
};

/// `outputs` are values of the graph.
[[nodiscard]] SimplifiedGraph simplified(Graph graph, std::vector<std::size_t> outputs);

}  // namespace kw
