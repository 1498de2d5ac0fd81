// Pooling, and what changes the number of pixels.

#include <array>
#include <cmath>

#include "program/operators/operator_table.hpp"
#include "program/operators/window_shape.hpp"

namespace kw {
namespace {

/// With ceil_mode a last window may start inside of the input or its left padding, never behind
/// (https://pytorch.org/docs/stable/generated/torch.nn.MaxPool2d.html).
Result<Extent> pooled_extent(const OperatorCall& call, const Extent& extent, std::size_t axis, const Extent& dilation) {
  const auto& kernel = call.integers("kernel_size")[axis];
  const auto& stride = call.integers("stride")[axis];
  const auto& padding = call.integers("padding")[axis];
  if (kernel.value() < 1 || stride.value() < 1 || padding.value() < 0 || dilation.value() < 1) {
    return call.value_error(fmt::format("{} with kernel_size {}, stride {}, padding {}, dilation {}", call.shown(),
                                        kernel.value(), stride.value(), padding.value(), dilation.value()));
  }
  if (padding.value() > kernel.value() / 2)
    return call.value_error(fmt::format("the padding {} of {} is more than half of its kernel_size {}", padding.value(),
                                        call.shown(), kernel.value()));
  KW_TRY(const auto ends, Extent::product(2, padding));
  if (!call.truth("ceil_mode")) return window_places(extent, kernel, stride, ends, dilation);
  KW_TRY(const auto more, Extent::sum(ends, stride.value() - 1));
  KW_TRY(auto places, window_places(extent, kernel, stride, more, dilation));
  if ((places.value() - 1) * stride.value() >= extent.value() + padding.value()) {
    KW_TRY(places, Extent::difference(places, 1));
  }
  return places;
}

Result<void> pooling(OperatorCall& call, std::size_t windows) {
  KW_TRY_VOID(call.require_rank("input", windows + 1, windows + 2));
  if (!call.given("stride") || call.integers("stride").empty()) call.canonical("stride", call.integers("kernel_size"));
  auto type = call.tensor("input");
  const auto before = type.shape.size() - windows;
  const bool dilated = call.node().find("dilation") != nullptr;
  const Shape whole = type.shape;
  for (std::size_t i = 0; i < windows; ++i) {
    KW_TRY(type.shape[before + i],
           pooled_extent(call, whole[before + i], i, dilated ? call.integers("dilation")[i] : Extent(1)));
    if (type.shape[before + i].value() < 1)
      return call.shape_error(
          fmt::format("the window of {} is larger than {} with its padding", call.shown(), argument_text(whole)));
  }
  const auto* indices = call.node().find("return_indices");
  const bool both = indices != nullptr && std::get<bool>(indices->value);
  if (both) call.as_tuple();
  call.output(type);
  if (both) call.output(ElementType::int64, type.shape);
  return {};
}

template <std::size_t Windows>
Result<void> pooling_rule(OperatorCall& call) {
  return pooling(call, Windows);
}

/// None in output_size keeps the axis; the reader gives it as -1.
template <std::size_t Windows>
Result<void> adaptive_rule(OperatorCall& call) {
  KW_TRY_VOID(call.require_rank("input", Windows + 1, Windows + 2));
  auto type = call.tensor("input");
  const auto before = type.shape.size() - Windows;
  for (std::size_t i = 0; i < Windows; ++i) {
    const auto& size = call.integers("output_size")[i];
    if (size.value() != -1) type.shape[before + i] = size;
  }
  const auto* indices = call.node().find("return_indices");
  const bool both = indices != nullptr && std::get<bool>(indices->value);
  if (both) call.as_tuple();
  call.output(type);
  if (both) call.output(ElementType::int64, type.shape);
  return {};
}

Result<void> pixel_shuffle_rule(OperatorCall& call) {
  KW_TRY_VOID(call.require_rank("input", 3, 16));
  auto type = call.tensor("input");
  const bool up = call.node().op == "pixel_shuffle";
  const auto& factor = call.integer(up ? "upscale_factor" : "downscale_factor");
  KW_TRY(const auto area, Extent::product(factor, factor));
  auto& channels = type.shape[type.shape.size() - 3];
  auto& rows = type.shape[type.shape.size() - 2];
  auto& columns = type.shape.back();
  const bool fits =
      factor.value() > 0 && (up ? channels.value() % area.value() == 0
                                : rows.value() % factor.value() == 0 && columns.value() % factor.value() == 0);
  if (!fits)
    return call.shape_error(fmt::format("{} by {} of {}", call.shown(), factor.value(), argument_text(type.shape)));
  KW_TRY(channels, up ? Extent::quotient(channels, area) : Extent::product(channels, area));
  KW_TRY(rows, up ? Extent::product(rows, factor) : Extent::quotient(rows, factor));
  KW_TRY(columns, up ? Extent::product(columns, factor) : Extent::quotient(columns, factor));
  call.output(std::move(type));
  return {};
}

/// Sizes, or factors that are whole numbers or fractions.
Result<void> interpolate_rule(OperatorCall& call) {
  KW_TRY_VOID(call.require_rank("input", 3, 5));
  auto type = call.tensor("input");
  const auto windows = type.shape.size() - 2;
  const auto& mode = call.text("mode");
  if (mode != "nearest" && mode != "nearest-exact" && mode != "linear" && mode != "bilinear" && mode != "trilinear" &&
      mode != "bicubic" && mode != "area") {
    return call.unsupported(fmt::format("mode '{}' of {}", mode, call.shown()),
                            "use 'nearest', 'linear', 'bilinear', 'trilinear', 'bicubic' or 'area'");
  }
  if (mode == "bicubic") KW_TRY_VOID(call.require_rank("input", 4, 4));
  if (call.truth("antialias")) return call.unsupported(fmt::format("{} with antialias", call.shown()), "leave it out");
  const bool sized = call.given("size");
  if (sized == call.given("scale_factor"))
    return call.value_error(fmt::format("{} needs either a size or a scale_factor", call.shown()));
  for (std::size_t i = 0; i < windows; ++i) {
    auto& extent = type.shape[i + 2];
    if (sized) {
      const auto& sizes = call.integers("size");
      if (sizes.size() != 1 && sizes.size() != windows)
        return call.value_error(fmt::format("{} sizes of {} for {} axes", sizes.size(), call.shown(), windows));
      extent = sizes.size() == 1 ? sizes[0] : sizes[i];
      continue;
    }
    const double factor = call.real("scale_factor");
    if (!(factor > 0.0) || factor * static_cast<double>(extent.value()) > 1e15)
      return call.value_error(fmt::format("scale_factor {} of {}", factor, call.shown()));
    if (std::floor(factor) == factor) {
      KW_TRY(extent, Extent::product(extent, static_cast<std::int64_t>(factor)));
    } else if (call.given("recompute_scale_factor") && call.truth("recompute_scale_factor")) {
      return call.unsupported(fmt::format("scale_factor {} of {}, to be computed again", factor, call.shown()),
                              "give the size");
    } else {
      extent = static_cast<std::int64_t>(std::floor(static_cast<double>(extent.value()) * factor));
    }
  }
  call.output(std::move(type));
  return {};
}

constexpr std::array k_pooling_rows = {
    OperatorRow{"max_pool1d",
                "Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[1] dilation=1, bool "
                "ceil_mode=False, bool return_indices=False",
                "tf", pooling_rule<1>},
    OperatorRow{"max_pool2d",
                "Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2] dilation=1, bool "
                "ceil_mode=False, bool return_indices=False",
                "tf", pooling_rule<2>},
    OperatorRow{"max_pool3d",
                "Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] dilation=1, bool "
                "ceil_mode=False, bool return_indices=False",
                "tf", pooling_rule<3>},
    OperatorRow{"avg_pool1d",
                "Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, bool ceil_mode=False, bool "
                "count_include_pad=True",
                "tf", pooling_rule<1>},
    OperatorRow{"avg_pool2d",
                "Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, bool ceil_mode=False, bool "
                "count_include_pad=True, int? divisor_override=None",
                "f", pooling_rule<2>},
    OperatorRow{"avg_pool3d",
                "Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, bool ceil_mode=False, bool "
                "count_include_pad=True, int? divisor_override=None",
                "f", pooling_rule<3>},
    OperatorRow{"adaptive_avg_pool1d", "Tensor input, int[1] output_size", "tf", adaptive_rule<1>},
    OperatorRow{"adaptive_avg_pool2d", "Tensor input, int[2] output_size", "f", adaptive_rule<2>},
    OperatorRow{"adaptive_avg_pool3d", "Tensor input, int[3] output_size", "f", adaptive_rule<3>},
    OperatorRow{"adaptive_max_pool1d", "Tensor input, int[1] output_size, bool return_indices=False", "f",
                adaptive_rule<1>},
    OperatorRow{"adaptive_max_pool2d", "Tensor input, int[2] output_size, bool return_indices=False", "f",
                adaptive_rule<2>},
    OperatorRow{"adaptive_max_pool3d", "Tensor input, int[3] output_size, bool return_indices=False", "f",
                adaptive_rule<3>},
    OperatorRow{"pixel_shuffle", "Tensor input, int upscale_factor", "tf", pixel_shuffle_rule},
    OperatorRow{"pixel_unshuffle", "Tensor input, int downscale_factor", "tf", pixel_shuffle_rule},
    OperatorRow{"interpolate",
                "Tensor input, int[*]? size=None, float? scale_factor=None, str mode='nearest', bool? "
                "align_corners=None, bool? "
                "recompute_scale_factor=None, bool antialias=False",
                "f torch.nn.functional.upsample", interpolate_rule},
};

}  // namespace

std::span<const OperatorRow> pooling_rows() {
  return k_pooling_rows;
}

}  // namespace kw
