#include "program/stages/same_program.hpp"

#include <fmt/format.h>

#include "program/errors.hpp"
#include "program/graph/same_structure.hpp"
#include "program/stages/lower.hpp"

namespace kw {
namespace {

/// Their texts are the same: extents are symbolic, so what differs was decided by the value of one.
Result<void> check_same_stages(const Program& first, const StageProgram& a, const StageProgram& b, const Axes& axes) {
  for (std::size_t i = 0; i < a.stages.size(); ++i) {
    if (i < b.stages.size() && stage_text(a, a.stages[i]) == stage_text(b, b.stages[i])) continue;
    const auto node = a.stages[i].node;
    std::vector<std::string> bindings;
    for (const auto& [name, value] : axes) bindings.push_back(fmt::format("{}={}", name, value));
    return fail_at(errc::program_structure, node ? first.graph.nodes[*node].where : SourcePlace{},
                   fmt::format("{} reads other elements of its operands when the axes are {}",
                               node ? first.graph.nodes[*node].op : "a copy", fmt::join(bindings, " ")),
                   "an axis of extent 1 is repeated along another one: leave it 1, or set both to the same value");
  }
  return {};
}

}  // namespace

Result<void> check_same_program(const Program& first, const Program& other, const Axes& axes) {
  KW_TRY_VOID(check_same_structure(first, other, axes));
  const auto a = lower(first.graph, first.outputs);
  const auto b = lower(other.graph, other.outputs);
  if (!a || !b) return {};
  return check_same_stages(first, *a, *b, axes);
}

}  // namespace kw
