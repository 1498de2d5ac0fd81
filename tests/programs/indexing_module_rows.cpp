// Integers, index tensors, tables and masks of random modules.

#include <fmt/format.h>

#include "tests/programs/module_drawing.hpp"

namespace kw {
namespace {

using Shape = std::vector<ModuleDim>;

std::optional<ModuleValue> of_integers(ModuleDrawer& d) {
  const Shape shape = {d.new_size(), d.new_size()};
  const auto x = d.add_integers("torch.randint(0, 9", shape);
  const auto* text = d.one_of({"({0} & 3).float()", "(({0} * 2 + 1) % 3).float()", "torch.bitwise_xor({0}, 5) * 0.5",
                               "({0} // 2).to(torch.float32)", "({0} << 1).float()", "({0} - 4).abs().float()",
                               "torch.remainder({0} - 4, 3).float()", "({0} | 4) / 2", "{0}.float()",
                               "torch.where({0} > 3, {0}, -{0}).float()", "torch.clamp({0}, 2, 5) * 1.0"});
  return ModuleValue{text, {x}, {}, shape, false, ModuleElements::exact, 20.0};
}

std::optional<ModuleValue> from_a_table(ModuleDrawer& d) {
  const Shape shape = {d.new_size(), d.new_size()};
  const auto rows = d.new_size();
  const auto width = d.new_size();
  const auto x = d.add_integers(fmt::format("torch.randint(0, {}", rows.text), shape);
  const auto member = fmt::format("nn.Embedding({}, {})", rows.text, width.text);
  return ModuleValue{"{s}_0({0})", {x}, {member}, {shape[0], shape[1], width}, false, ModuleElements::exact, 4.0};
}

std::optional<ModuleValue> one_hot(ModuleDrawer& d) {
  const Shape shape = {d.new_size(), d.new_size()};
  const auto classes = d.between(2, 6);
  const auto x = d.add_integers(fmt::format("torch.randint(0, {}", classes), shape);
  return ModuleValue{fmt::format("F.one_hot({{0}}, {}).float()", classes),
                     {x},
                     {},
                     {shape[0], shape[1], dim_of(classes)},
                     false,
                     ModuleElements::exact,
                     1.0};
}

/// Elements that are added where an index tensor says, some of them to the same place.
std::optional<ModuleValue> scattered(ModuleDrawer& d) {
  const auto x = d.pick(1, 3);
  if (!x) return std::nullopt;
  const Shape shape = d.value(*x).shape;
  const auto axis = d.axis_of(*x);
  const auto indices = d.add_integers(fmt::format("torch.randint(0, {}", shape[axis].text), shape);
  const auto text = fmt::format("torch.{}({{0}}).scatter_add({}, {{1}}, {{0}})", d.one_of({"zeros_like", "ones_like"}),
                                d.spelled(axis, shape.size()));
  const double most = d.value(*x).most * static_cast<double>(shape[axis].value) + 1;
  return ModuleValue{text, {*x, indices}, {}, shape, false, ModuleElements::rounded, most};
}

/// Elements that meet where an index tensor says, some of them in the same place.
std::optional<ModuleValue> met(ModuleDrawer& d) {
  const auto x = d.pick(1, 3);
  if (!x) return std::nullopt;
  const Shape shape = d.value(*x).shape;
  const auto axis = d.axis_of(*x);
  const auto indices = d.add_integers(fmt::format("torch.randint(0, {}", shape[axis].text), shape);
  const auto text = fmt::format("torch.{}({{0}}).scatter_reduce({}, {{1}}, {{0}}, '{}', include_self={})",
                                d.one_of({"zeros_like", "ones_like"}), d.spelled(axis, shape.size()),
                                d.one_of({"mean", "amax", "amin", "sum"}), d.truth());
  const double most = d.value(*x).most * static_cast<double>(shape[axis].value) + 1;
  return ModuleValue{text, {*x, indices}, {}, shape, false, ModuleElements::rounded, most};
}

/// Rows that are put where an index tensor says; of those with the same place the last.
std::optional<ModuleValue> put(ModuleDrawer& d) {
  const auto x = d.pick(1, 4);
  if (!x) return std::nullopt;
  const Shape& shape = d.value(*x).shape;
  const auto indices = d.add_integers(fmt::format("torch.randint(0, {}", shape[0].text), {shape[0]});
  const auto* text =
      d.one_of({"{0}.index_put(({1},), {0} * 0.5)", "{0}.index_fill(0, {1}, 0.75)", "{0}.index_copy(0, {1}, {0} + 1)"});
  return ModuleValue{text, {*x, indices}, {}, shape, false, ModuleElements::rounded, d.value(*x).most + 1};
}

/// Rows that an index tensor chooses: x[indices].
std::optional<ModuleValue> rows_chosen(ModuleDrawer& d) {
  const auto x = d.pick(1, 4);
  if (!x) return std::nullopt;
  Shape shape = d.value(*x).shape;
  const auto bound = shape[0].text;
  shape[0] = d.new_size();
  const auto indices = d.add_integers(fmt::format("torch.randint(0, {}", bound), {shape[0]});
  return ModuleValue{"{0}[{1}]", {*x, indices}, {}, shape, false, d.value(*x).elements, d.value(*x).most};
}

std::optional<ModuleValue> with_positions(ModuleDrawer& d) {
  const auto x = d.pick(1, 4);
  if (!x) return std::nullopt;
  const auto& shape = d.value(*x).shape;
  const auto text = fmt::format("{{0}} + {}", d.one_of({"torch.arange({}, dtype=torch.float32) * 0.125",
                                                        "torch.linspace(-1, 1, {})", "torch.full(({},), 0.75)"}));
  std::string filled = text;
  filled.replace(filled.find("{}"), 2, shape.back().text);
  return ModuleValue{filled, {*x}, {}, shape, false, ModuleElements::rounded, d.value(*x).most + 2};
}

/// Scores of keys that a query may not see.
std::optional<ModuleValue> masked(ModuleDrawer& d) {
  const auto x = d.pick(2, 4);
  if (!x) return std::nullopt;
  const auto& shape = d.value(*x).shape;
  const auto mask =
      fmt::format("torch.triu(torch.ones({}, {}), diagonal=1) == 1", shape[shape.size() - 2].text, shape.back().text);
  const auto text = d.chance(2) ? fmt::format("torch.softmax({{0}}.masked_fill({}, float('-inf')), dim=-1)", mask)
                                : fmt::format("torch.where({}, torch.tensor(-1.0), {{0}})", mask);
  return ModuleValue{text, {*x}, {}, shape, false, ModuleElements::rounded, d.value(*x).most};
}

std::optional<ModuleValue> on_the_diagonal(ModuleDrawer& d) {
  const auto x = d.pick_if([](const ModuleValue& one) {
    const auto rank = one.shape.size();
    return rank >= 2 && rank <= 4 && one.shape[rank - 1].text == one.shape[rank - 2].text;
  });
  if (!x) return std::nullopt;
  Shape shape = d.value(*x).shape;
  shape.pop_back();
  const auto* text = shape.size() == 1 && d.chance(2) ? "torch.diag({0})" : "torch.diagonal({0}, 0, -2, -1)";
  return ModuleValue{text, {*x}, {}, shape, false, d.value(*x).elements, d.value(*x).most};
}

constexpr DrawnRow k_rows[] = {
    {"of_integers", 2, of_integers},
    {"from_a_table", 1, from_a_table},
    {"one_hot", 1, one_hot},
    {"scattered", 1, scattered},
    {"met", 1, met},
    {"put", 1, put},
    {"rows_chosen", 1, rows_chosen},
    {"with_positions", 2, with_positions},
    {"masked", 2, masked},
    {"on_the_diagonal", 1, on_the_diagonal},
};

}  // namespace

std::span<const DrawnRow> indexing_module_rows() {
  return k_rows;
}

}  // namespace kw
