#include "mod/expression/canonical.hpp"

#include <bit>

namespace kw {
namespace {

std::string canonical_node(const ModExpr& node) {
  auto text = fmt::format("{}:{}", static_cast<int>(node.op), static_cast<int>(node.type));
  if (node.op == ExprOp::constant) {
    text += node.type == ScalarType::real ? fmt::format(" {:#x}", std::bit_cast<std::uint64_t>(node.real))
                                          : fmt::format(" {}", node.integer);
  }
  if (!node.name.empty()) text += " " + node.name;
  for (const auto arg : node.args) text += fmt::format(" %{}", arg);
  return text;
}

}  // namespace

std::string canonical_mod(const ModFunction& mod) {
  std::string text;
  for (std::size_t i = 0; i < mod.nodes.size(); ++i)
    text += fmt::format("  %{} = {}\n", i, canonical_node(mod.nodes[i]));
  return text + fmt::format("  return %{}\n", mod.root);
}

}  // namespace kw
