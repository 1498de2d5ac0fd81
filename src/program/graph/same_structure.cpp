#include "program/graph/same_structure.hpp"

#include <fmt/format.h>

#include <bit>
#include <map>

#include "program/errors.hpp"
#include "tensor/int_expr.hpp"

namespace kw {
namespace {

class StructureComparison {
 public:
  StructureComparison(const Program& first, const Program& other, const Axes& axes)
      : first_(first), other_(other), axes_(axes.begin(), axes.end()) {}

  Result<void> run() {
    const Graph& a = first_.graph;
    const Graph& b = other_.graph;
    if (a.nodes.size() != b.nodes.size() || a.values.size() != b.values.size() || first_.outputs != other_.outputs) {
      return differs({}, fmt::format("forward() makes {} calls instead of {}", b.nodes.size(), a.nodes.size()));
    }
    for (std::size_t i = 0; i < a.nodes.size(); ++i) KW_TRY_VOID(compare(a.nodes[i], b.nodes[i]));
    for (std::size_t i = 0; i < a.values.size(); ++i) KW_TRY_VOID(compare(a.values[i], b.values[i]));
    return {};
  }

 private:
  [[nodiscard]] Result<void> differs(const SourcePlace& where, const std::string& what) const {
    return fail_at(errc::program_structure, where,
                   fmt::format("{} when the axes are {}", what, fmt::join(bindings(), " ")),
                   "write the module so that its axes change sizes alone, or leave the axis as it is");
  }
  [[nodiscard]] std::vector<std::string> bindings() const {
    std::vector<std::string> texts;
    for (const auto& [name, value] : axes_) texts.push_back(fmt::format("{}={}", name, value));
    return texts;
  }

  /// Whether the extent, as the first reading expresses it, is what the other one found.
  bool agrees(const Extent& a, const Extent& b) {
    const auto [known, is_new] = values_.try_emplace(a.text(), std::nullopt);
    if (is_new) {
      if (const auto value = evaluate_int_expr(a.text(), axes_)) known->second = *value;
    }
    return known->second == b.value();
  }
  bool agrees(const Shape& a, const Shape& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!agrees(a[i], b[i])) return false;
    }
    return true;
  }
  static bool agrees(const ValueRef& a, const ValueRef& b) { return a.value == b.value; }
  static bool agrees(const std::vector<ValueRef>& a, const std::vector<ValueRef>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const ValueRef& x, const ValueRef& y) { return x.value == y.value; });
  }
  static bool agrees(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
  template <typename Value>
  static bool agrees(const Value& a, const Value& b) {
    return a == b;
  }

  Result<void> compare(const Node& a, const Node& b) {
    bool same = a.op == b.op && a.arguments.size() == b.arguments.size() && a.outputs == b.outputs;
    if (!same) return differs(a.where, fmt::format("{} is called instead of {}", b.op, a.op));
    for (std::size_t i = 0; i < a.arguments.size(); ++i) {
      const Argument& x = a.arguments[i];
      const Argument& y = b.arguments[i];
      same =
          x.name == y.name && x.value.index() == y.value.index() &&
          std::visit(
              [&](const auto& value) { return agrees(value, std::get<std::remove_cvref_t<decltype(value)>>(y.value)); },
              x.value);
      if (!same) return differs(a.where, fmt::format("{} of {} does not follow from the axes", x.name, a.op));
    }
    return {};
  }
  Result<void> compare(const GraphValue& a, const GraphValue& b) {
    const SourcePlace where = a.node ? first_.graph.nodes[*a.node].where : SourcePlace{};
    const std::string name = a.node ? "the result of " + first_.graph.nodes[*a.node].op : a.name;
    if (a.type.dtype != b.type.dtype || a.name != b.name || a.node != b.node) {
      return differs(where, name + " is another tensor");
    }
    if (agrees(a.type.shape, b.type.shape)) return {};
    return differs(where, "the shape of " + name + " does not follow from the axes");
  }

  const Program& first_;
  const Program& other_;
  IntBindings axes_;
  std::map<std::string, std::optional<std::int64_t>> values_;  ///< of extents, by their text
};

}  // namespace

Result<void> check_same_structure(const Program& first, const Program& other, const Axes& axes) {
  return StructureComparison(first, other, axes).run();
}

}  // namespace kw
