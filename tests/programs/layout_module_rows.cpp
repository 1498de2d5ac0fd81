// Other shapes and orders of the same elements, in random modules: views, permutations, slices, joins, indexing.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "tests/programs/module_drawing.hpp"

namespace kw {
namespace {

using Shape = std::vector<ModuleDim>;

/// The same elements as the operand, so that exact ones stay exact.
ModuleValue rearranged(const ModuleDrawer& d, std::size_t x, std::string text, Shape shape) {
  return {std::move(text), {x}, {}, std::move(shape), false, d.value(x).elements, d.value(x).most};
}

std::vector<std::size_t> shuffled(ModuleDrawer& d, std::size_t rank) {
  std::vector<std::size_t> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = i;
  for (std::size_t i = rank; i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(d.between(0, static_cast<std::int64_t>(i) - 1))]);
  }
  return order;
}

std::optional<ModuleValue> permuted(ModuleDrawer& d) {
  const auto x = d.pick(2, 5);
  if (!x) return std::nullopt;
  const auto& shape = d.value(*x).shape;
  if (d.chance(3)) {
    const auto a = d.axis_of(*x);
    const auto b = d.axis_of(*x);
    Shape swapped = shape;
    std::swap(swapped[a], swapped[b]);
    const auto text = fmt::format("{{0}}.transpose({}, {})", d.spelled(a, shape.size()), d.spelled(b, shape.size()));
    return rearranged(d, *x, text, swapped);
  }
  Shape result;
  std::vector<std::string> order;
  for (const auto axis : shuffled(d, shape.size())) {
    result.push_back(shape[axis]);
    order.push_back(d.spelled(axis, shape.size()));
  }
  const auto* contiguous = d.one_of({"", ".contiguous()"});
  return rearranged(d, *x, fmt::format("{{0}}.permute({}){}", join(order), contiguous), result);
}

std::optional<ModuleValue> flattened(ModuleDrawer& d) {
  const auto x = d.pick(2, 5);
  if (!x) return std::nullopt;
  const auto& shape = d.value(*x).shape;
  auto first = d.axis_of(*x);
  auto last = d.axis_of(*x);
  if (first > last) std::swap(first, last);
  Shape result(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(first));
  ModuleDim all = dim_of(1);
  for (auto i = first; i <= last; ++i) all = all * shape[i];
  result.push_back(all);
  result.insert(result.end(), shape.begin() + static_cast<std::ptrdiff_t>(last) + 1, shape.end());
  const auto text = d.chance(2) ? fmt::format("torch.flatten({{0}}, {}, {})", d.spelled(first, shape.size()),
                                              d.spelled(last, shape.size()))
                                : fmt::format("{{0}}.reshape({})", shape_list(result));
  return rearranged(d, *x, text, result);
}

std::optional<ModuleValue> split_axis(ModuleDrawer& d) {
  const auto x = d.pick(1, 4);
  if (!x) return std::nullopt;
  const auto& shape = d.value(*x).shape;
  const auto axis = d.axis_of(*x);
  const auto by = d.between(2, 3);
  if (shape[axis].value % by != 0) return std::nullopt;
  Shape result = shape;
  result[axis] = floor_divided(shape[axis], by);
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(axis), dim_of(by));
  const auto text = d.chance(2) ? fmt::format("{{0}}.unflatten({}, ({}, -1))", d.spelled(axis, shape.size()), by)
                                : fmt::format("{{0}}.reshape({})", shape_list(result));
  return rearranged(d, *x, text, result);
}

std::optional<ModuleValue> with_axis_of_one(ModuleDrawer& d) {
  const auto x = d.pick(0, 4);
  if (!x) return std::nullopt;
  Shape shape = d.value(*x).shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].text != "1" || d.chance(2)) continue;
    const auto text = fmt::format("{{0}}.squeeze({})", d.spelled(i, shape.size()));
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(i));
    return rearranged(d, *x, text, shape);
  }
  const auto at = d.between(0, std::ssize(shape));
  const auto text = fmt::format("{{0}}.unsqueeze({})", at);
  shape.insert(shape.begin() + at, dim_of(1));
  if (d.chance(2)) return rearranged(d, *x, text, shape);
  const auto repeats = d.new_size();
  std::vector<std::string> sizes(shape.size(), "-1");
  sizes[static_cast<std::size_t>(at)] = repeats.text;
  shape[static_cast<std::size_t>(at)] = repeats;
  return rearranged(d, *x, fmt::format("{}.expand({})", text, join(sizes)), shape);
}

std::optional<ModuleValue> sliced(ModuleDrawer& d) {
  const auto x = d.pick(1, 5);
  if (!x) return std::nullopt;
  Shape shape = d.value(*x).shape;
  const auto axis = d.axis_of(*x);
  auto& dim = shape[axis];
  std::string part;
  switch (d.between(0, 5)) {
    case 0:
      if (dim.value < 2) return std::nullopt;
      part = "1:";
      dim = dim - dim_of(1);
      break;
    case 1:
      if (dim.value < 3) return std::nullopt;
      part = "1:-1";
      dim = dim - dim_of(2);
      break;
    case 2:
      part = "::2";
      dim = floor_divided(dim + dim_of(1), 2);
      break;
    case 3:
      if (dim.value < 3) return std::nullopt;
      part = "1::3";
      dim = floor_divided(dim + dim_of(1), 3);
      break;
    case 4:
      if (dim.value < 2) return std::nullopt;
      part = ":2";
      dim = dim_of(2);
      break;
    default:
      part = d.one_of({"0", "-1"});
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  std::string before;
  for (std::size_t i = 0; i < axis; ++i) before += ":, ";
  return rearranged(d, *x, fmt::format("{{0}}[{}{}]", before, part), shape);
}

/// Where elements change their places along one axis.
std::optional<ModuleValue> moved(ModuleDrawer& d) {
  const auto x = d.pick(1, 5);
  if (!x) return std::nullopt;
  const auto& shape = d.value(*x).shape;
  const auto axis = d.spelled(d.axis_of(*x), shape.size());
  if (d.chance(2)) return rearranged(d, *x, fmt::format("torch.flip({{0}}, [{}])", axis), shape);
  return rearranged(d, *x, fmt::format("torch.roll({{0}}, {}, {})", d.between(-2, 3), axis), shape);
}

std::optional<ModuleValue> triangle(ModuleDrawer& d) {
  const auto x = d.pick(2, 4);
  if (!x) return std::nullopt;
  const auto text = fmt::format("torch.{}({{0}}, diagonal={})", d.one_of({"tril", "triu"}), d.between(-1, 2));
  return rearranged(d, *x, text, d.value(*x).shape);
}

std::optional<ModuleValue> repeated(ModuleDrawer& d) {
  const auto x = d.pick(1, 3);
  if (!x) return std::nullopt;
  Shape shape = d.value(*x).shape;
  const auto axis = d.axis_of(*x);
  shape[axis] = shape[axis] * dim_of(2);
  if (d.chance(2)) {
    const auto text = fmt::format("{{0}}.repeat_interleave(2, dim={})", d.spelled(axis, shape.size()));
    return rearranged(d, *x, text, shape);
  }
  std::vector<std::string> times(shape.size(), "1");
  times[axis] = "2";
  return rearranged(d, *x, fmt::format("{{0}}.{}({})", d.one_of({"repeat", "tile"}), join(times)), shape);
}

std::optional<ModuleValue> padded(ModuleDrawer& d) {
  const auto x = d.pick(1, 5);
  if (!x) return std::nullopt;
  Shape shape = d.value(*x).shape;
  const auto last = shape.size() - 1;
  const auto before = d.between(0, 2);
  const auto after = d.between(-1, 2);
  if (shape[last].value + before + after < 1) return std::nullopt;
  std::string sizes = fmt::format("{}, {}", before, after);
  shape[last] = shape[last] + dim_of(before);
  shape[last] = after < 0 ? shape[last] - dim_of(1) : shape[last] + dim_of(after);
  if (shape.size() > 1 && d.chance(2)) {
    sizes += ", 1, 0";
    shape[last - 1] = shape[last - 1] + dim_of(1);
  }
  return rearranged(d, *x, fmt::format("F.pad({{0}}, ({}), value={})", sizes, d.one_of({"0.0", "-1.5"})), shape);
}

std::optional<ModuleValue> padded_like_its_edge(ModuleDrawer& d) {
  const auto x = d.pick(3, 3);
  if (!x) return std::nullopt;
  Shape shape = d.value(*x).shape;
  if (shape[2].value < 3) return std::nullopt;
  shape[2] = shape[2] + dim_of(3);
  return rearranged(
      d, *x, fmt::format("F.pad({{0}}, (2, 1), mode='{}')", d.one_of({"reflect", "replicate", "circular"})), shape);
}

std::optional<ModuleValue> joined(ModuleDrawer& d) {
  const auto x = d.pick(1, 4);
  if (!x) return std::nullopt;
  const auto y = d.partner(*x);
  Shape shape = d.value(*x).shape;
  const auto axis = d.axis_of(*x);
  ModuleValue step = rearranged(d, *x, "", {});
  step.operands = {*x, y};
  step.most = std::max(step.most, d.value(y).most);
  if (d.value(y).elements != ModuleElements::exact) step.elements = ModuleElements::rounded;
  if (d.chance(2)) {
    step.text = fmt::format("torch.cat([{{0}}, {{1}}], dim={})", d.spelled(axis, shape.size()));
    shape[axis] = shape[axis] + shape[axis];
  } else {
    step.text = fmt::format("torch.stack([{{0}}, {{1}}], dim={})", axis);
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), dim_of(2));
  }
  step.shape = shape;
  return step;
}

std::optional<ModuleValue> part(ModuleDrawer& d) {
  const auto x = d.pick(1, 5);
  if (!x) return std::nullopt;
  Shape shape = d.value(*x).shape;
  const auto axis = d.axis_of(*x);
  if (shape[axis].value < 2) return std::nullopt;
  const auto half = floor_divided(shape[axis] + dim_of(1), 2);
  const bool first = d.chance(2);
  shape[axis] = first ? half : shape[axis] - half;
  return rearranged(d, *x, fmt::format("{{0}}.chunk(2, dim={})[{}]", d.spelled(axis, shape.size()), first ? 0 : 1),
                    shape);
}

/// Elements that an index tensor chooses along an axis.
std::optional<ModuleValue> chosen(ModuleDrawer& d) {
  const auto x = d.pick(1, 4);
  if (!x) return std::nullopt;
  Shape shape = d.value(*x).shape;
  const auto axis = d.axis_of(*x);
  const auto draw = fmt::format("torch.randint(0, {}", shape[axis].text);
  const bool whole = d.chance(2);
  shape[axis] = d.new_size();
  const auto indices = d.add_integers(draw, whole ? shape : Shape{shape[axis]});
  const auto text =
      fmt::format("torch.{}({{0}}, {}, {{1}})", whole ? "gather" : "index_select", d.spelled(axis, shape.size()));
  ModuleValue step = rearranged(d, *x, text, shape);
  step.operands = {*x, indices};
  return step;
}

std::optional<ModuleValue> shuffled_pixels(ModuleDrawer& d) {
  const auto x = d.pick(4, 4);
  if (!x) return std::nullopt;
  Shape shape = d.value(*x).shape;
  if (shape[1].value % 4 == 0) {
    shape[1] = floor_divided(shape[1], 4);
    shape[2] = shape[2] * dim_of(2);
    shape[3] = shape[3] * dim_of(2);
    return rearranged(d, *x, "F.pixel_shuffle({0}, 2)", shape);
  }
  if (shape[2].value % 2 != 0 || shape[3].value % 2 != 0) return std::nullopt;
  shape[1] = shape[1] * dim_of(4);
  shape[2] = floor_divided(shape[2], 2);
  shape[3] = floor_divided(shape[3], 2);
  return rearranged(d, *x, "F.pixel_unshuffle({0}, 2)", shape);
}

constexpr DrawnRow k_rows[] = {
    {"permuted", 7, permuted},     {"flattened", 5, flattened},
    {"split_axis", 3, split_axis}, {"one", 4, with_axis_of_one},
    {"sliced", 6, sliced},         {"moved", 2, moved},
    {"triangle", 2, triangle},     {"repeated", 2, repeated},
    {"padded", 3, padded},         {"edge", 1, padded_like_its_edge},
    {"joined", 4, joined},         {"part", 3, part},
    {"chosen", 3, chosen},         {"pixels", 1, shuffled_pixels},
};

}  // namespace

std::span<const DrawnRow> layout_module_rows() {
  return k_rows;
}

}  // namespace kw
