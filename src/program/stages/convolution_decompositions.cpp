// Convolutions: sums over channels and the places of a kernel. What lies outside of the input does not count.

#include <array>

#include "program/stages/decomposition_table.hpp"
#include "program/stages/windows.hpp"

namespace kw {
namespace {

/// An integer argument per axis of the window.
Extent per_axis(const Decomposition& d, std::string_view name, std::size_t axis) {
  const auto values = d.integers(name);
  return values.size() == 1 ? values[0] : values[axis];
}

/// The padding before the first element; 'same' puts the smaller half there.
Result<Extent> padding_before(const Decomposition& d, std::size_t axis, const Extent& kernel) {
  const auto* written = std::get_if<std::string>(&d.node().find("padding")->value);
  if (written == nullptr) return per_axis(d, "padding", axis);
  if (*written == "valid") return Extent(0);
  KW_TRY(const auto steps, Extent::difference(kernel, 1));
  KW_TRY(const auto both_ends, Extent::product(per_axis(d, "dilation", axis), steps));
  return Extent::quotient(both_ends, 2);
}

bool is_zero(const Extent& extent) {
  return extent.is_constant() && extent.value() == 0;
}

StageExpr with_bias(const Decomposition& d, const StageExpr& filter) {
  const auto sum = reduction_result(StageType::real);
  return d.given("bias") ? sum + load(d.tensor("bias"), {filter}) : StageExpr();
}

template <std::size_t Windows>
Result<void> convolution(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto weight = d.tensor("weight");
  const auto& kernel = weight.type.shape;
  Stage stage;
  stage.kind = StageKind::reduce;
  stage.axes = image_axes(d.result().shape, Windows, "f");
  const auto filter = axis_index("f");
  // Filters of a group see its channels alone.
  KW_TRY(const auto filters, Extent::quotient(kernel[0], d.integer("groups")));
  const bool grouped = d.integer("groups").value() != 1 || !d.integer("groups").is_constant();
  stage.inner = {{"c", kernel[1]}};
  StageIndices place;
  if (stage.axes.size() == Windows + 2) place.push_back(axis_index("n"));
  place.push_back(grouped ? floor_divide(filter, filters) * StageExpr(kernel[1]) + axis_index("c") : axis_index("c"));
  StageIndices weights = {filter, axis_index("c")};
  const auto names = window_names(Windows);
  for (std::size_t i = 0; i < Windows; ++i) {
    const auto& extent = input.type.shape[input.type.shape.size() - Windows + i];
    const auto step = axis_index("k" + names[i]);
    KW_TRY(const auto padding, padding_before(d, i, kernel[i + 2]));
    const auto index = axis_index(names[i]) * StageExpr(per_axis(d, "stride", i)) +
                       step * StageExpr(per_axis(d, "dilation", i)) - StageExpr(padding);
    if (!is_zero(padding)) stage.guards.push_back(inside(index, extent));
    stage.inner.push_back({"k" + names[i], kernel[i + 2]});
    place.push_back(index);
    weights.push_back(step);
  }
  stage.body = load(input, std::move(place)) * load(weight, std::move(weights));
  stage.epilogue = with_bias(d, filter);
  d.add(to_output(), std::move(stage));
  return {};
}

/// Each output sums the inputs that reach it: those whose place times the stride plus the kernel's step is its own.
template <std::size_t Windows>
Result<void> transposed_convolution(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto weight = d.tensor("weight");
  const auto& kernel = weight.type.shape;
  Stage stage;
  stage.kind = StageKind::reduce;
  stage.axes = image_axes(d.result().shape, Windows, "f");
  const auto filter = axis_index("f");
  const bool grouped = d.integer("groups").value() != 1 || !d.integer("groups").is_constant();
  KW_TRY(const auto channels, Extent::quotient(kernel[0], d.integer("groups")));
  stage.inner = {{"c", channels}};
  const auto channel =
      grouped ? floor_divide(filter, kernel[1]) * StageExpr(channels) + axis_index("c") : axis_index("c");
  StageIndices place;
  if (stage.axes.size() == Windows + 2) place.push_back(axis_index("n"));
  place.push_back(channel);
  StageIndices weights = {channel, grouped ? floor_modulo(filter, kernel[1]) : filter};
  const auto names = window_names(Windows);
  for (std::size_t i = 0; i < Windows; ++i) {
    const auto& extent = input.type.shape[input.type.shape.size() - Windows + i];
    const auto step = axis_index("k" + names[i]);
    const StageExpr stride = per_axis(d, "stride", i);
    const auto reached =
        axis_index(names[i]) + StageExpr(per_axis(d, "padding", i)) - step * StageExpr(per_axis(d, "dilation", i));
    const bool dense = stride->integer.is_constant() && stride->integer.value() == 1;
    const auto index = floor_divide(reached, stride);
    auto guard = inside(index, extent);
    if (!dense) guard = both(floor_modulo(reached, stride) == 0, guard);
    stage.guards.push_back(guard);
    stage.inner.push_back({"k" + names[i], kernel[i + 2]});
    place.push_back(index);
    weights.push_back(step);
  }
  stage.body = load(input, std::move(place)) * load(weight, std::move(weights));
  stage.epilogue = with_bias(d, filter);
  d.add(to_output(), std::move(stage));
  return {};
}

/// F.unfold: a column per place of the window, a row per channel and step of it.
Result<void> unfold(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto& shape = input.type.shape;
  const auto frame = named_axes(d.result().shape, {"n", "row", "column"});
  const auto kernel_columns = per_axis(d, "kernel_size", 1);
  KW_TRY(const auto taps, Extent::product(per_axis(d, "kernel_size", 0), kernel_columns));
  // Places of the window along x.
  const auto padding = per_axis(d, "padding", 1);
  KW_TRY(const auto steps, Extent::difference(kernel_columns, 1));
  KW_TRY(const auto reach, Extent::product(per_axis(d, "dilation", 1), steps));
  KW_TRY(const auto ends, Extent::product(2, padding));
  KW_TRY(auto places, Extent::sum(shape[3], ends));
  KW_TRY(places, Extent::difference(places, reach));
  KW_TRY(places, Extent::difference(places, 1));
  KW_TRY(places, Extent::quotient(places, per_axis(d, "stride", 1)));
  KW_TRY(places, Extent::sum(places, 1));
  const auto tap = floor_modulo(axis_index("row"), taps);
  const StageExpr tap_of[] = {floor_divide(tap, kernel_columns), floor_modulo(tap, kernel_columns)};
  const StageExpr place_of[] = {floor_divide(axis_index("column"), places), floor_modulo(axis_index("column"), places)};
  StageIndices indices = {axis_index("n"), floor_divide(axis_index("row"), taps)};
  StageExpr held;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto before = per_axis(d, "padding", i);
    const auto index = place_of[i] * StageExpr(per_axis(d, "stride", i)) +
                       tap_of[i] * StageExpr(per_axis(d, "dilation", i)) - StageExpr(before);
    if (!is_zero(before)) held = both(held, inside(index, shape[i + 2]));
    indices.push_back(index);
  }
  d.map(0, frame, select(held, load(input, std::move(indices)), as_type(0, input.type.dtype)));
  return {};
}

constexpr std::array k_convolution_decompositions = {
    DecompositionRow{"conv1d", convolution<1>},
    DecompositionRow{"conv2d", convolution<2>},
    DecompositionRow{"conv3d", convolution<3>},
    DecompositionRow{"conv_transpose1d", transposed_convolution<1>},
    DecompositionRow{"conv_transpose2d", transposed_convolution<2>},
    DecompositionRow{"conv_transpose3d", transposed_convolution<3>},
    DecompositionRow{"unfold", unfold},
};

}  // namespace

std::span<const DecompositionRow> convolution_decompositions() {
  return k_convolution_decompositions;
}

}  // namespace kw
