// Convolutions, pooling and resampling of random modules, with random attributes.

#include <fmt/format.h>

#include "base/text.hpp"
#include "tests/programs/module_drawing.hpp"

namespace kw {
namespace {

struct Window {
  std::int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
};

/// One number for all spatial axes, or one for each as a tuple.
std::string spelled(const std::vector<Window>& windows, std::int64_t Window::*member) {
  std::vector<std::int64_t> numbers;
  for (const auto& one : windows) numbers.push_back(one.*member);
  const bool same = std::all_of(numbers.begin(), numbers.end(), [&](auto n) { return n == numbers[0]; });
  return same ? std::to_string(numbers[0]) : fmt::format("({},)", join(numbers));
}

std::int64_t reach(const Window& one) {
  return one.dilation * (one.kernel - 1) + 1;
}

/// One that fits the extent, with a padding of at most half the kernel.
Window drawn_window(ModuleDrawer& d, const ModuleDim& extent) {
  Window one;
  one.kernel = d.between(1, 4);
  one.stride = d.between(1, 3);
  one.dilation = d.chance(3) ? 2 : 1;
  one.padding = d.between(0, one.kernel / 2);
  if (reach(one) > extent.value + 2 * one.padding) one = {};
  return one;
}

/// One for each spatial axis; often the same for all, where that fits.
std::vector<Window> drawn_windows(ModuleDrawer& d, const std::vector<ModuleDim>& shape) {
  std::vector<Window> windows;
  const bool alike = d.chance(2);
  for (std::size_t i = 2; i < shape.size(); ++i) windows.push_back(drawn_window(d, shape[i]));
  if (!alike) return windows;
  for (std::size_t i = 2; i < shape.size(); ++i) {
    if (reach(windows[0]) > shape[i].value + 2 * windows[0].padding) return windows;
  }
  return std::vector<Window>(windows.size(), windows[0]);
}

ModuleDim slid(const ModuleDim& extent, const Window& one) {
  const auto more = 2 * one.padding - reach(one);
  const auto places = more < 0 ? extent - dim_of(-more) : extent + dim_of(more);
  return floor_divided(places, one.stride) + dim_of(1);
}

std::int64_t drawn_groups(ModuleDrawer& d, std::int64_t channels) {
  if (d.chance(4)) return channels;
  const auto groups = d.between(1, 4);
  return channels % groups == 0 ? groups : 1;
}

std::optional<ModuleValue> convolved(ModuleDrawer& d) {
  const auto x = d.pick(3, 5);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  const auto in = shape[1];
  const auto groups = drawn_groups(d, in.value);
  const auto windows = drawn_windows(d, shape);
  shape[1] = dim_of(groups * d.between(1, 3));
  for (std::size_t i = 2; i < shape.size(); ++i) shape[i] = slid(shape[i], windows[i - 2]);
  const auto member =
      fmt::format("nn.Conv{}d({}, {}, {}, stride={}, padding={}, dilation={}, groups={}, bias={})", windows.size(),
                  in.text, shape[1].text, spelled(windows, &Window::kernel), spelled(windows, &Window::stride),
                  spelled(windows, &Window::padding), spelled(windows, &Window::dilation), groups, d.truth());
  return ModuleValue{"{s}_0({0})", {*x}, {member}, shape, false, ModuleElements::rounded, d.value(*x).most * 4 + 1};
}

std::optional<ModuleValue> convolved_back(ModuleDrawer& d) {
  const auto x = d.pick(3, 5);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  const auto in = shape[1];
  const auto groups = drawn_groups(d, in.value);
  const auto windows = drawn_windows(d, shape);
  shape[1] = dim_of(groups * d.between(1, 3));
  std::vector<std::int64_t> beyond;
  for (std::size_t i = 2; i < shape.size(); ++i) {
    const Window& one = windows[i - 2];
    beyond.push_back(d.between(0, std::max(one.stride, one.dilation) - 1));
    const auto least = (shape[i].value - 1) * one.stride - 2 * one.padding + reach(one) + beyond.back();
    if (least < 1 || least > 40) return std::nullopt;
    const auto more = reach(one) + beyond.back() - 2 * one.padding;
    const auto placed = (shape[i] - dim_of(1)) * dim_of(one.stride);
    shape[i] = more < 0 ? placed - dim_of(-more) : placed + dim_of(more);
  }
  const auto member = fmt::format(
      "nn.ConvTranspose{}d({}, {}, {}, stride={}, padding={}, output_padding=({},), groups={}, bias={}, dilation={})",
      windows.size(), in.text, shape[1].text, spelled(windows, &Window::kernel), spelled(windows, &Window::stride),
      spelled(windows, &Window::padding), join(beyond), groups, d.truth(), spelled(windows, &Window::dilation));
  return ModuleValue{"{s}_0({0})", {*x}, {member}, shape, false, ModuleElements::rounded, d.value(*x).most * 4 + 1};
}

/// With ceil_mode a last window may begin inside, and none in the padding behind the end.
ModuleDim slid_beyond(const ModuleDim& extent, const Window& one) {
  const auto places = extent.value + 2 * one.padding - reach(one);
  auto count = (places + one.stride - 1) / one.stride + 1;
  if ((count - 1) * one.stride >= extent.value + one.padding) --count;
  return dim_of(count);
}

std::optional<ModuleValue> pooled(ModuleDrawer& d) {
  const auto x = d.pick(3, 5);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  auto windows = drawn_windows(d, shape);
  const bool largest = d.chance(2);
  const bool beyond = d.chance(3);
  for (auto& one : windows) {
    if (!largest) one.dilation = 1;
  }
  for (std::size_t i = 2; i < shape.size(); ++i) {
    shape[i] = beyond ? slid_beyond(shape[i], windows[i - 2]) : slid(shape[i], windows[i - 2]);
  }
  auto text = fmt::format("F.{}_pool{}d({{0}}, {}, stride={}, padding={}, ceil_mode={}", largest ? "max" : "avg",
                          windows.size(), spelled(windows, &Window::kernel), spelled(windows, &Window::stride),
                          spelled(windows, &Window::padding), beyond ? "True" : "False");
  text += largest ? fmt::format(", dilation={})", spelled(windows, &Window::dilation))
                  : fmt::format(", count_include_pad={})", d.truth());
  const auto elements = largest ? d.value(*x).elements : ModuleElements::rounded;
  return ModuleValue{text, {*x}, {}, shape, false, elements, d.value(*x).most};
}

std::optional<ModuleValue> pooled_to_size(ModuleDrawer& d) {
  const auto x = d.pick(3, 5);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  std::vector<std::string> sizes;
  for (std::size_t i = 2; i < shape.size(); ++i) {
    shape[i] = dim_of(d.between(1, std::min<std::int64_t>(4, shape[i].value)));
    sizes.push_back(shape[i].text);
  }
  const bool largest = shape.size() == 4 && d.chance(2);
  const auto text =
      fmt::format("F.adaptive_{}_pool{}d({{0}}, ({},))", largest ? "max" : "avg", sizes.size(), join(sizes));
  return ModuleValue{text, {*x}, {}, shape, false, ModuleElements::rounded, d.value(*x).most};
}

std::optional<ModuleValue> resampled(ModuleDrawer& d) {
  const auto x = d.pick(3, 4);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  for (std::size_t i = 2; i < shape.size(); ++i) shape[i] = shape[i] * dim_of(2);
  const bool image = shape.size() == 4;
  const auto* text = image ? d.one_of({"F.interpolate({0}, scale_factor=2, mode='nearest')",
                                       "F.interpolate({0}, scale_factor=2, mode='bilinear')",
                                       "F.interpolate({0}, scale_factor=2, mode='bilinear', align_corners=True)",
                                       "F.interpolate({0}, scale_factor=2, mode='bicubic')"})
                           : "F.interpolate({0}, scale_factor=2, mode='linear')";
  // Cubics may go beyond what they connect.
  return ModuleValue{text, {*x}, {}, shape, false, ModuleElements::rounded, 2 * d.value(*x).most};
}

/// A turned image: pixels at computed places.
std::optional<ModuleValue> sampled(ModuleDrawer& d) {
  const auto x = d.pick(4, 4);
  if (!x) return std::nullopt;
  const auto& shape = d.value(*x).shape;
  const auto corners = d.truth();
  const auto turned = fmt::format(
      "F.affine_grid(torch.tensor([[[0.8, 0.3, 0.05], [-0.2, 1.1, 0.1]]]).expand({}, 2, 3), {{0}}.size(), "
      "align_corners={})",
      shape[0].text, corners);
  const auto text = fmt::format("F.grid_sample({{0}}, {}, padding_mode='{}', align_corners={})", turned,
                                d.one_of({"zeros", "border", "reflection"}), corners);
  return ModuleValue{text, {*x}, {}, shape, false, ModuleElements::rounded, d.value(*x).most};
}

/// Windows as columns of a matrix.
std::optional<ModuleValue> unfolded(ModuleDrawer& d) {
  const auto x = d.pick(4, 4);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  const auto windows = drawn_windows(d, shape);
  ModuleDim rows = shape[1];
  ModuleDim places = dim_of(1);
  for (std::size_t i = 2; i < shape.size(); ++i) {
    rows = rows * dim_of(windows[i - 2].kernel);
    places = places * slid(shape[i], windows[i - 2]);
  }
  const auto text = fmt::format("F.unfold({{0}}, {}, dilation={}, padding={}, stride={})",
                                spelled(windows, &Window::kernel), spelled(windows, &Window::dilation),
                                spelled(windows, &Window::padding), spelled(windows, &Window::stride));
  shape = {shape[0], rows, places};
  return ModuleValue{text, {*x}, {}, shape, false, d.value(*x).elements, d.value(*x).most};
}

constexpr DrawnRow k_rows[] = {
    {"convolved", 10, convolved}, {"convolved_back", 7, convolved_back},
    {"pooled", 8, pooled},        {"pooled_to_size", 3, pooled_to_size},
    {"sampled", 1, sampled},      {"resampled", 2, resampled},
    {"unfolded", 1, unfolded},
};

}  // namespace

std::span<const DrawnRow> window_module_rows() {
  return k_rows;
}

}  // namespace kw
