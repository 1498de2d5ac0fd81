// Normalisations of random modules, over at least four elements: fewer say little.

#include <fmt/format.h>

#include "tests/programs/module_drawing.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_least_elements = 4;

std::int64_t product_from(const std::vector<ModuleDim>& shape, std::size_t first) {
  std::int64_t count = 1;
  for (auto i = first; i < shape.size(); ++i) count *= shape[i].value;
  return count;
}

ModuleValue normalised(const ModuleDrawer& d, std::size_t x, std::string text, std::vector<std::string> members) {
  return {std::move(text), {x}, std::move(members), d.value(x).shape, false, ModuleElements::rounded, 8.0};
}

std::optional<ModuleValue> over_last_axes(ModuleDrawer& d) {
  const auto x = d.pick(1, 4);
  if (!x) return std::nullopt;
  const auto& shape = d.value(*x).shape;
  const auto first = d.axis_of(*x);
  if (product_from(shape, first) < k_least_elements) return std::nullopt;
  const auto sizes = shape_list({shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end()});
  if (d.chance(3)) return normalised(d, *x, fmt::format("F.layer_norm({{0}}, ({},), eps=1e-3)", sizes), {});
  const auto* eps = d.one_of({"", ", eps=1e-2"});
  const auto* kind = d.one_of({"LayerNorm", "RMSNorm"});
  return normalised(d, *x, "{s}_0({0})", {fmt::format("nn.{}(({},){})", kind, sizes, eps)});
}

std::optional<ModuleValue> over_groups(ModuleDrawer& d) {
  const auto x = d.pick(2, 5);
  if (!x) return std::nullopt;
  const auto& shape = d.value(*x).shape;
  const auto groups = d.between(1, 4);
  if (shape[1].value % groups != 0 || product_from(shape, 1) / groups < k_least_elements) return std::nullopt;
  return normalised(d, *x, "{s}_0({0})", {fmt::format("nn.GroupNorm({}, {})", groups, shape[1].text)});
}

std::optional<ModuleValue> over_the_batch(ModuleDrawer& d) {
  const auto x = d.pick(2, 5);
  if (!x) return std::nullopt;
  const auto& shape = d.value(*x).shape;
  if (shape[0].value * product_from(shape, 2) < k_least_elements) return std::nullopt;
  const auto axes = shape.size() < 4 ? 1 : shape.size() - 2;
  return normalised(d, *x, "{s}_0({0})",
                    {fmt::format("nn.BatchNorm{}d({}, affine={}, eps={})", axes, shape[1].text, d.truth(),
                                 d.one_of({"1e-5", "1e-2"}))});
}

std::optional<ModuleValue> over_each_image(ModuleDrawer& d) {
  const auto x = d.pick(3, 5);
  if (!x) return std::nullopt;
  const auto& shape = d.value(*x).shape;
  if (product_from(shape, 2) < k_least_elements) return std::nullopt;
  return normalised(d, *x, "{s}_0({0})",
                    {fmt::format("nn.InstanceNorm{}d({}, affine={})", shape.size() - 2, shape[1].text, d.truth())});
}

std::optional<ModuleValue> over_neighbours(ModuleDrawer& d) {
  const auto x = d.pick(3, 4);
  if (!x) return std::nullopt;
  auto step = normalised(d, *x, fmt::format("F.local_response_norm({{0}}, {}, alpha=0.1)", d.between(1, 3)), {});
  step.most = d.value(*x).most;
  return step;
}

std::optional<ModuleValue> to_length(ModuleDrawer& d) {
  const auto x = d.pick(1, 4);
  if (!x) return std::nullopt;
  const auto axis = d.spelled(d.axis_of(*x), d.value(*x).shape.size());
  return normalised(d, *x, fmt::format("F.normalize({{0}}, p={}, dim={}, eps=0.01)", d.one_of({"2", "1"}), axis), {});
}

constexpr DrawnRow k_rows[] = {
    {"over_last_axes", 5, over_last_axes},   {"over_groups", 3, over_groups},
    {"over_the_batch", 4, over_the_batch},   {"over_each_image", 2, over_each_image},
    {"over_neighbours", 1, over_neighbours}, {"to_length", 2, to_length},
};

}  // namespace

std::span<const DrawnRow> norm_module_rows() {
  return k_rows;
}

}  // namespace kw
