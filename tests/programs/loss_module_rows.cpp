// Losses and distances of random modules.

#include <fmt/format.h>

#include "tests/programs/module_drawing.hpp"

namespace kw {
namespace {

constexpr const char* k_of_pairs[] = {
    "F.mse_loss({0}, {1}, reduction='RED')",
    "F.l1_loss({0}, {1}, reduction='RED')",
    "F.smooth_l1_loss({0}, {1}, beta=0.5, reduction='RED')",
    "F.huber_loss({0}, {1}, delta=0.7, reduction='RED')",
    "F.binary_cross_entropy_with_logits({0}, torch.sigmoid({1}), reduction='RED')",
    "F.binary_cross_entropy(torch.sigmoid({0}) * 0.98 + 0.01, torch.sigmoid({1}), reduction='RED')",
    "F.poisson_nll_loss(torch.clamp({0}, max=3), {1}, reduction='RED')",
    "F.gaussian_nll_loss({0}, {1}, torch.abs({0}) + 0.5, reduction='RED')",
    "F.kl_div(F.log_softmax({0}, -1), F.softmax({1}, -1), reduction='RED')",
    "F.soft_margin_loss({0}, torch.tanh({1}), reduction='RED')",
};

std::optional<ModuleValue> of_pairs(ModuleDrawer& d) {
  const auto x = d.pick(1, 4);
  if (!x) return std::nullopt;
  const auto y = d.partner(*x);
  std::string text = k_of_pairs[d.between(0, std::ssize(k_of_pairs) - 1)];
  const std::string reduction = d.one_of({"mean", "sum", "none"});
  text.replace(text.find("RED"), 3, reduction);
  const auto shape = reduction == "none" ? d.value(*x).shape : std::vector<ModuleDim>();
  return ModuleValue{text, {*x, y}, {}, shape, false, ModuleElements::rounded, 4096.0};
}

/// Scores [N, C] or [N, C, ...] and the right classes.
std::optional<ModuleValue> of_classes(ModuleDrawer& d) {
  const auto x = d.pick(2, 4);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  const auto classes = fmt::format("torch.randint(0, {}", shape[1].text);
  shape.erase(shape.begin() + 1);
  const auto target = d.add_integers(classes, shape);
  const std::string reduction = d.one_of({"mean", "sum", "none"});
  const auto text = d.chance(2)
                        ? fmt::format("F.cross_entropy({{0}}, {{1}}, reduction='{}', label_smoothing={})", reduction,
                                      d.one_of({"0.0", "0.1"}))
                        : fmt::format("F.nll_loss(F.log_softmax({{0}}, dim=1), {{1}}, reduction='{}')", reduction);
  return ModuleValue{
      text, {*x, target}, {}, reduction == "none" ? shape : std::vector<ModuleDim>(), false, ModuleElements::rounded,
      256.0};
}

std::optional<ModuleValue> distance(ModuleDrawer& d) {
  const auto x = d.pick(2, 3);
  if (!x) return std::nullopt;
  const auto y = d.partner(*x);
  auto shape = d.value(*x).shape;
  const auto axis = d.axis_of(*x);
  if (d.chance(2)) {
    const auto text =
        fmt::format("F.cosine_similarity({{0}}, {{1}} + 0.25, dim={}, eps=0.01)", d.spelled(axis, shape.size()));
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    return ModuleValue{text, {*x, y}, {}, shape, false, ModuleElements::rounded, 2.0};
  }
  if (shape.size() != 2) return std::nullopt;
  return ModuleValue{"F.triplet_margin_loss({0}, {1} * 0.5, {0} + 1, margin=2.0)",
                     {*x, y},
                     {},
                     {},
                     false,
                     ModuleElements::rounded,
                     64.0};
}

constexpr DrawnRow k_rows[] = {
    {"of_pairs", 3, of_pairs},
    {"of_classes", 2, of_classes},
    {"distance", 1, distance},
};

}  // namespace

std::span<const DrawnRow> loss_module_rows() {
  return k_rows;
}

}  // namespace kw
