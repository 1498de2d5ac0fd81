// What changes the number of pixels: interpolation, and channels exchanged for pixels.

#include <array>
#include <cmath>

#include "program/stages/decomposition_table.hpp"
#include "program/stages/windows.hpp"

namespace kw {
namespace {

/// pixel_shuffle and pixel_unshuffle.
Result<void> pixel_shuffle(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto frame = d.frame();
  const auto rank = frame.size();
  const bool up = d.op() == "pixel_shuffle";
  const StageExpr factor = d.integer(up ? "upscale_factor" : "downscale_factor");
  auto indices = indices_of(frame);
  const auto channel = indices[rank - 3];
  const auto row = indices[rank - 2];
  const auto column = indices[rank - 1];
  if (up) {
    indices[rank - 3] = (channel * factor + floor_modulo(row, factor)) * factor + floor_modulo(column, factor);
    indices[rank - 2] = floor_divide(row, factor);
    indices[rank - 1] = floor_divide(column, factor);
  } else {
    indices[rank - 3] = floor_divide(channel, factor * factor);
    indices[rank - 2] = row * factor + floor_modulo(floor_divide(channel, factor), factor);
    indices[rank - 1] = column * factor + floor_modulo(channel, factor);
  }
  d.map(0, frame, load(input, std::move(indices)));
  return {};
}

/// Input pixels per output pixel along an axis: by the factor where one is written.
StageExpr pixel_step(const Decomposition& d, const Extent& from, const Extent& to) {
  if (d.given("scale_factor")) return 1.0 / d.real("scale_factor");
  return StageExpr(from) / StageExpr(to);
}

StageExpr nearest_place(const Decomposition& d, const StageExpr& place, const Extent& from, const Extent& to) {
  const auto step = pixel_step(d, from, to);
  const auto half = d.text("mode") == "nearest-exact" ? 0.5 : 0.0;
  const bool whole = d.given("scale_factor") && std::floor(d.real("scale_factor")) == d.real("scale_factor");
  if (half == 0.0 && whole) return floor_divide(place, static_cast<int>(d.real("scale_factor")));
  if (half == 0.0 && !d.given("scale_factor")) return floor_divide(place * StageExpr(from), to);
  const auto position = apply(StageOp::floor, (converted(place, StageType::real) + half) * step);
  return minimum(converted(position, StageType::integer), StageExpr(from) - 1);
}

/// The two pixels that a place lies between, and how far it is from the first.
struct Between {
  StageExpr first;
  StageExpr second;
  StageExpr weight;
};

/// Where a pixel of the result lies among those of the input, counted from the middle of the first.
StageExpr pixel_position(const Decomposition& d, const StageExpr& place, const Extent& from, const Extent& to) {
  if (!d.flag("align_corners")) return (converted(place, StageType::real) + 0.5) * pixel_step(d, from, to) - 0.5;
  return to.value() > 1 ? place * ((StageExpr(from) - 1) / (StageExpr(to) - 1)) : StageExpr(0.0);
}

Between linear_place(const Decomposition& d, const StageExpr& place, const Extent& from, const Extent& to) {
  auto position = pixel_position(d, place, from, to);
  if (!d.flag("align_corners")) position = maximum(position, 0.0);
  Between between;
  between.first = minimum(converted(position, StageType::integer), StageExpr(from) - 1);
  between.second = minimum(between.first + 1, StageExpr(from) - 1);
  between.weight = position - converted(between.first, StageType::real);
  return between;
}

/// The corners around a place, axis by axis.
StageExpr blended(const TensorView& input, StageIndices place, const std::vector<Between>& between, std::size_t axis) {
  if (axis == between.size()) return load(input, std::move(place));
  auto other = place;
  place.push_back(between[axis].first);
  other.push_back(between[axis].second);
  const auto& weight = between[axis].weight;
  return blended(input, std::move(place), between, axis + 1) * (StageExpr(1.0) - weight) +
         blended(input, std::move(other), between, axis + 1) * weight;
}

/// The factor of Keys' cubic convolution (1981), as PyTorch has it.
constexpr double k_a = -0.75;

/// The four pixels around a place, and their shares.
struct Around {
  std::array<StageExpr, 4> pixels;
  std::array<StageExpr, 4> shares;
};

/// Of a pixel that is at most one away from the place, and of one that is farther.
StageExpr share_near(const StageExpr& distance) {
  return ((k_a + 2.0) * distance - (k_a + 3.0)) * distance * distance + 1.0;
}
StageExpr share_far(const StageExpr& distance) {
  return ((k_a * distance - 5.0 * k_a) * distance + 8.0 * k_a) * distance - 4.0 * k_a;
}

Around cubic_place(const Decomposition& d, const StageExpr& place, const Extent& from, const Extent& to) {
  const auto position = pixel_position(d, place, from, to);
  const auto below = apply(StageOp::floor, position);
  const auto behind = position - below;
  Around around;
  for (int k = 0; k < 4; ++k) {
    const auto pixel = converted(below, StageType::integer) + (k - 1);
    around.pixels[static_cast<std::size_t>(k)] = minimum(maximum(pixel, 0), StageExpr(from) - 1);
  }
  around.shares = {share_far(behind + 1.0), share_near(behind), share_near(1.0 - behind), share_far(2.0 - behind)};
  return around;
}

/// `place` with each of the four pixels in turn on one axis.
StageExpr blended_along(const TensorView& input, const StageIndices& place, std::size_t axis, const Around& around) {
  StageExpr sum;
  for (std::size_t k = 0; k < around.pixels.size(); ++k) {
    auto indices = place;
    indices[axis] = around.pixels[k];
    const auto part = load(input, std::move(indices)) * around.shares[k];
    sum = sum ? sum + part : part;
  }
  return sum;
}

/// The columns of the result for each row of the image, and then its rows of these.
void bicubic(Decomposition& d, const TensorView& input, const StageAxes& frame) {
  constexpr std::size_t k_row = 2;
  constexpr std::size_t k_column = 3;
  const auto around = [&](std::size_t axis) {
    return cubic_place(d, axis_index(frame[axis].name), input.type.shape[axis], frame[axis].extent);
  };
  Stage columns;
  columns.axes = frame;
  columns.axes[k_row].extent = input.type.shape[k_row];
  columns.body = blended_along(input, indices_of(frame), k_column, around(k_column));
  const auto between = d.add(to_scratch("columns"), std::move(columns));
  d.map(0, frame, blended_along(between, indices_of(frame), k_row, around(k_row)));
}

/// mode 'area' is adaptive average pooling.
void area(Decomposition& d, const TensorView& input, const StageAxes& frame, std::size_t windows) {
  Stage stage;
  stage.kind = StageKind::reduce;
  stage.axes = frame;
  StageIndices place = {axis_index(frame[0].name), axis_index(frame[1].name)};
  StageExpr count;
  for (std::size_t i = 0; i < windows; ++i) {
    const auto& axis = frame[i + 2];
    const StageExpr from = input.type.shape[i + 2];
    const auto start = floor_divide(axis_index(axis.name) * from, axis.extent);
    const auto end = floor_divide((axis_index(axis.name) + 1) * from + StageExpr(axis.extent) - 1, axis.extent);
    const auto longest = floor_divide(from, axis.extent) + 2;
    const auto index = start + axis_index("k" + axis.name);
    stage.inner.push_back({"k" + axis.name, longest->integer});
    stage.guards.push_back(index < end);
    place.push_back(index);
    const auto factor = converted(end - start, StageType::real);
    count = count ? count * factor : factor;
  }
  stage.body = load(input, std::move(place));
  stage.epilogue = reduction_result(StageType::real) / count;
  d.add(to_output(), std::move(stage));
}

Result<void> interpolate(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto& mode = d.text("mode");
  const auto windows = input.type.shape.size() - 2;
  const auto frame = image_axes(d.result().shape, windows, "c");
  if (mode == "area") {
    area(d, input, frame, windows);
    return {};
  }
  if (mode == "bicubic") {
    bicubic(d, input, frame);
    return {};
  }
  StageIndices place = {axis_index("n"), axis_index("c")};
  std::vector<Between> between;
  for (std::size_t i = 0; i < windows; ++i) {
    const auto& axis = frame[i + 2];
    const auto& from = input.type.shape[i + 2];
    if (mode.starts_with("nearest")) {
      place.push_back(nearest_place(d, axis_index(axis.name), from, axis.extent));
    } else {
      between.push_back(linear_place(d, axis_index(axis.name), from, axis.extent));
    }
  }
  d.map(0, frame, blended(input, std::move(place), between, 0));
  return {};
}

constexpr std::array k_resampling_decompositions = {
    DecompositionRow{"pixel_shuffle", pixel_shuffle},
    DecompositionRow{"pixel_unshuffle", pixel_shuffle},
    DecompositionRow{"interpolate", interpolate},
};

}  // namespace

std::span<const DecompositionRow> resampling_decompositions() {
  return k_resampling_decompositions;
}

}  // namespace kw
