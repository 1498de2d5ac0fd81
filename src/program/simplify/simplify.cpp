#include "program/simplify/simplify.hpp"

#include <fmt/format.h>

#include "program/simplify/rule_tables.hpp"

namespace kw {
namespace {

std::string place_text(const Node& node) {
  return fmt::format("{}{}, line {}", node.op, node.module.empty() ? "" : " (" + node.module + ")", node.where.line);
}

}  // namespace

std::vector<SimplificationRule> simplification_rules() {
  std::vector<SimplificationRule> rules;
  for (const auto theme : {identity_rules(), function_rules(), range_rules(), sum_rules()}) {
    rules.insert(rules.end(), theme.begin(), theme.end());
  }
  return rules;
}

std::string applied_text(const AppliedRule& applied) {
  return fmt::format("{} at {}: {}{}", applied.rule.name, applied.node, applied.rule.why,
                     applied.rule.degenerate ? "; the module's result there is a constant" : "");
}

SimplifiedGraph simplified(Graph graph, std::vector<std::size_t> outputs) {
  SimplifiedGraph result;
  GraphRewriter rewriter(std::move(graph), std::move(outputs));
  const auto rules = simplification_rules();
  // Every rule takes a node away or moves one behind a sum, so that this ends.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < rewriter.graph().nodes.size(); ++i) {
      for (const auto& rule : rules) {
        if (i >= rewriter.graph().nodes.size()) break;
        auto place = place_text(rewriter.graph().nodes[i]);
        if (!rule.apply(rewriter, i)) continue;
        result.applied.push_back({rule, std::move(place)});
        rewriter.drop_unread();
        changed = true;
      }
    }
  }
  result.graph = rewriter.graph();
  result.outputs = rewriter.outputs();
  return result;
}

}  // namespace kw
