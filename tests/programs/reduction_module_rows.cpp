// Reductions, running reductions and softmax of random modules.

#include <fmt/format.h>

#include <cmath>

#include "tests/programs/module_drawing.hpp"

namespace kw {
namespace {

struct Reduction {
  const char* text;         ///< with AXES for the axes and KEEP for keepdim
  double factor;            ///< of the operand's largest magnitude; 0: times the number of elements
  std::int64_t least = 1;   ///< elements that are reduced
  std::int64_t most = 400;  ///< as many at most
};

constexpr Reduction k_of_many[] = {
    {"torch.sum({0}, dim=AXES, keepdim=KEEP)", 0},
    {"{0}.mean(dim=AXES, keepdim=KEEP)", 1},
    {"torch.amax({0}, dim=AXES, keepdim=KEEP)", 1},
    {"torch.amin({0}, dim=AXES, keepdim=KEEP)", 1},
    {"torch.logsumexp({0}, dim=AXES, keepdim=KEEP)", 2},
    {"torch.var({0}, dim=AXES, keepdim=KEEP)", 64, 3},
    {"torch.var({0}, dim=AXES, unbiased=False, keepdim=KEEP)", 64, 3},
    {"torch.std({0}, dim=AXES, keepdim=KEEP)", 1, 3},
    {"torch.norm({0}, dim=AXES, keepdim=KEEP)", 20},
    {"torch.norm({0}, p=1, dim=AXES, keepdim=KEEP)", 0},
    {"torch.linalg.vector_norm({0}, ord=3, dim=AXES, keepdim=KEEP)", 20},
    {"({0} * {0}).sum(AXES, keepdim=KEEP)", 4096},
};

constexpr Reduction k_of_one[] = {
    {"torch.max({0}, dim=AXES, keepdim=KEEP).values", 1},
    {"torch.min({0}, AXES, KEEP)[0]", 1},
    {"torch.prod(torch.clamp({0}, -1.2, 1.2), dim=AXES, keepdim=KEEP)", 10, 1, 12},
    {"{0}.sum(AXES, KEEP)", 0},
    {"torch.var_mean({0}, dim=AXES, keepdim=KEEP)[1]", 1, 3},
};

/// Of exact values alone.
constexpr Reduction k_of_exact[] = {
    {"torch.argmax({0}, dim=AXES, keepdim=KEEP).float()", 0},
    {"torch.argmin({0}, dim=AXES, keepdim=KEEP).to(torch.float32)", 0},
    {"torch.any({0} > 1, dim=AXES, keepdim=KEEP).float()", 1},
    {"torch.all({0} > -1, dim=AXES, keepdim=KEEP).float()", 1},
    {"({0} > 0).sum(dim=AXES, keepdim=KEEP) * 0.5", 0},
};

std::optional<ModuleValue> reduced(ModuleDrawer& d, std::size_t x, const Reduction& one, std::vector<bool> taken) {
  const auto& shape = d.value(x).shape;
  const bool keep = d.chance(2);
  std::int64_t count = 1;
  std::vector<ModuleDim> kept;
  std::string axes;
  bool single = true;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!taken[i]) {
      kept.push_back(shape[i]);
      continue;
    }
    count *= shape[i].value;
    single = axes.empty();
    axes += (axes.empty() ? "" : ", ") + d.spelled(i, shape.size());
    if (keep) kept.push_back(dim_of(1));
  }
  if (axes.empty() || count < one.least || count > one.most) return std::nullopt;
  std::string text = one.text;
  text.replace(text.find("AXES"), 4, single ? axes : "(" + axes + ")");
  text.replace(text.find("KEEP"), 4, keep ? "True" : "False");
  const double most = (one.factor == 0 ? static_cast<double>(count) : one.factor) * d.value(x).most + 2;
  return ModuleValue{text, {x}, {}, kept, false, ModuleElements::rounded, most};
}

std::optional<ModuleValue> over_many(ModuleDrawer& d) {
  const auto x = d.pick(1, 5);
  if (!x) return std::nullopt;
  std::vector<bool> taken(d.value(*x).shape.size());
  for (auto&& one : taken) one = d.chance(2);
  return reduced(d, *x, k_of_many[d.between(0, std::ssize(k_of_many) - 1)], taken);
}

std::optional<ModuleValue> over_one(ModuleDrawer& d) {
  const auto x = d.pick(1, 5);
  if (!x) return std::nullopt;
  std::vector<bool> taken(d.value(*x).shape.size(), false);
  taken[d.axis_of(*x)] = true;
  return reduced(d, *x, k_of_one[d.between(0, std::ssize(k_of_one) - 1)], taken);
}

std::optional<ModuleValue> of_exact(ModuleDrawer& d) {
  const auto x =
      d.pick_if([](const ModuleValue& one) { return one.elements == ModuleElements::exact && !one.shape.empty(); });
  if (!x) return std::nullopt;
  std::vector<bool> taken(d.value(*x).shape.size(), false);
  taken[d.axis_of(*x)] = true;
  return reduced(d, *x, k_of_exact[d.between(0, std::ssize(k_of_exact) - 1)], taken);
}

std::optional<ModuleValue> of_everything(ModuleDrawer& d) {
  const auto x = d.pick(1, 5);
  if (!x) return std::nullopt;
  const auto* text = d.one_of({"{0}.mean()", "torch.sum({0}) * 0.01", "torch.max({0})", "{0}.abs().mean()",
                               "torch.logsumexp({0}.flatten(), 0)", "{0}.norm() * 0.1"});
  return ModuleValue{text, {*x}, {}, {}, false, ModuleElements::rounded, d.value(*x).most * 40};
}

/// Along one axis, with the shape of the operand.
std::optional<ModuleValue> along_one(ModuleDrawer& d) {
  constexpr Reduction k_along[] = {
      {"torch.softmax({0}, dim=AXES)", 1},
      {"F.log_softmax({0}, dim=AXES)", 3},
      {"F.softmin({0}, dim=AXES)", 1},
      {"torch.cumsum({0}, dim=AXES)", 0},
      {"torch.cumprod(torch.tanh({0}) * 0.5 + 1, dim=AXES)", 0, 1, 9},
      {"torch.cummax({0}, dim=AXES).values", 1},
      {"torch.cummin({0}, AXES)[0]", 1},
      {"torch.logcumsumexp({0}, dim=AXES)", 2},
      {"torch.flip(torch.cumsum(torch.flip({0}, [AXES]), AXES), [AXES])", 0},
      {"torch.cumsum({0}, dim=AXES) - {0}", 0},
  };
  const auto x = d.pick(1, 5);
  if (!x) return std::nullopt;
  const auto axis = d.axis_of(*x);
  const auto& shape = d.value(*x).shape;
  const auto& one = k_along[d.between(0, std::ssize(k_along) - 1)];
  const auto count = shape[axis].value;
  if (count > one.most) return std::nullopt;
  const auto spelled = d.spelled(axis, shape.size());
  std::string text = one.text;
  for (auto at = text.find("AXES"); at != std::string::npos; at = text.find("AXES")) text.replace(at, 4, spelled);
  const double most = (one.factor == 0 ? static_cast<double>(count) + 1 : one.factor) * d.value(*x).most + 5;
  return ModuleValue{text, {*x}, {}, shape, false, ModuleElements::rounded, most};
}

std::optional<ModuleValue> largest_few(ModuleDrawer& d) {
  const auto x = d.pick(1, 4);
  if (!x) return std::nullopt;
  const auto axis = d.axis_of(*x);
  auto shape = d.value(*x).shape;
  const auto count = d.between(1, std::min<std::int64_t>(4, shape[axis].value));
  const auto text =
      fmt::format("torch.topk({{0}}, {}, dim={}, largest={}).values", count, d.spelled(axis, shape.size()), d.truth());
  shape[axis] = dim_of(count);
  return ModuleValue{text, {*x}, {}, shape, false, d.value(*x).elements, d.value(*x).most};
}

std::optional<ModuleValue> in_order(ModuleDrawer& d) {
  const auto x = d.pick(1, 4);
  if (!x) return std::nullopt;
  const auto& shape = d.value(*x).shape;
  const auto text =
      fmt::format("torch.sort({{0}}, dim={}, descending={}).values", d.spelled(d.axis_of(*x), shape.size()), d.truth());
  return ModuleValue{text, {*x}, {}, shape, false, d.value(*x).elements, d.value(*x).most};
}

constexpr DrawnRow k_rows[] = {
    {"over_many", 9, over_many},         {"over_one", 4, over_one},   {"of_exact", 3, of_exact},
    {"of_everything", 1, of_everything}, {"along_one", 8, along_one}, {"largest_few", 2, largest_few},
    {"in_order", 1, in_order},
};

}  // namespace

std::span<const DrawnRow> reduction_module_rows() {
  return k_rows;
}

}  // namespace kw
