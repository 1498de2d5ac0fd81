// Normalisations: mean and variance by two reductions, then a map.

#include <algorithm>
#include <array>
#include <limits>

#include "program/stages/decomposition_table.hpp"
#include "program/stages/moments.hpp"

namespace kw {
namespace {

/// (x - mean) * rsqrt(variance + eps), then weight and bias at `place`.
void normalised(Decomposition& d, const TensorView& x, const Moments& moments, const StageIndices& place) {
  const auto frame = named_axes(x.type.shape);
  const auto root = apply(StageOp::rsqrt, read(moments.variance, frame) + d.real("eps"));
  auto value = (read(x, frame) - read(moments.mean, frame)) * root;
  if (d.given("weight")) value = value * load(d.tensor("weight"), place);
  if (d.given("bias")) value = value + load(d.tensor("bias"), place);
  d.map(0, frame, value);
}

/// One number per channel, seen with axes of 1 around it.
TensorView per_channel(TensorView numbers, std::size_t rank, std::size_t channel_axis) {
  Shape shape(rank, Extent(1));
  shape[channel_axis] = numbers.type.shape[0];
  numbers.type.shape = std::move(shape);
  return numbers;
}

std::vector<std::size_t> all_axes_but(std::size_t rank, std::initializer_list<std::size_t> kept) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    if (std::find(kept.begin(), kept.end(), i) == kept.end()) axes.push_back(i);
  }
  return axes;
}

/// With statistics of the batch in training mode, else with those that the module keeps.
Result<void> batch_norm(Decomposition& d) {
  const auto x = d.tensor("input");
  const auto rank = x.type.shape.size();
  Moments moments;
  if (d.flag("training")) {
    moments = moments_over(d, x, all_axes_but(rank, {1}));
  } else {
    moments = {per_channel(d.tensor("running_mean"), rank, 1), per_channel(d.tensor("running_var"), rank, 1)};
  }
  normalised(d, x, moments, {axis_index(named_axes(x.type.shape)[1].name)});
  return {};
}

/// Of each channel of each sample. The batch is missing where the input has one axis less.
Result<void> instance_norm(Decomposition& d) {
  const auto x = d.tensor("input");
  const auto rank = x.type.shape.size();
  const auto spatial = static_cast<std::size_t>(d.op()[d.op().size() - 2] - '0');
  const std::size_t channel = rank == spatial + 2 ? 1 : 0;
  Moments moments;
  if (d.flag("use_input_stats")) {
    moments = moments_over(d, x, channel == 1 ? all_axes_but(rank, {0, 1}) : all_axes_but(rank, {0}));
  } else {
    moments = {per_channel(d.tensor("running_mean"), rank, channel),
               per_channel(d.tensor("running_var"), rank, channel)};
  }
  normalised(d, x, moments, {axis_index(named_axes(x.type.shape)[channel].name)});
  return {};
}

/// Channels are seen as groups of channels.
Result<void> group_norm(Decomposition& d) {
  auto x = d.tensor("input");
  auto& shape = x.type.shape;
  const auto& groups = d.integer("num_groups");
  KW_TRY(const auto channels, Extent::quotient(shape[1], groups));
  shape[1] = channels;
  shape.insert(shape.begin() + 1, groups);
  const auto frame = named_axes(shape);
  const auto moments = moments_over(d, x, all_axes_but(shape.size(), {0, 1}));
  normalised(d, x, moments, {axis_index(frame[1].name) * StageExpr(channels) + axis_index(frame[2].name)});
  return {};
}

/// The last axes, as many as normalized_shape has.
std::vector<std::size_t> last_axes(const Decomposition& d, std::size_t rank) {
  std::vector<std::size_t> axes;
  for (std::size_t i = rank - d.integers("normalized_shape").size(); i < rank; ++i) axes.push_back(i);
  return axes;
}

StageIndices indices_at(const StageAxes& frame, const std::vector<std::size_t>& axes) {
  StageIndices indices;
  for (const auto axis : axes) indices.push_back(axis_index(frame[axis].name));
  return indices;
}

Result<void> layer_norm(Decomposition& d) {
  const auto x = d.tensor("input");
  const auto axes = last_axes(d, x.type.shape.size());
  normalised(d, x, moments_over(d, x, axes), indices_at(named_axes(x.type.shape), axes));
  return {};
}

/// x * rsqrt(mean(x * x) + eps)
Result<void> rms_norm(Decomposition& d) {
  const auto x = d.tensor("input");
  const auto frame = named_axes(x.type.shape);
  const auto axes = last_axes(d, frame.size());
  const auto element = read(x, frame);
  const auto count = real_count(split_axes(frame, axes).reduced);
  const auto square =
      sum_over(d, to_scratch("mean_square"), frame, axes, element * element, reduction_result(StageType::real) / count);
  // Without eps PyTorch takes the smallest step of the input's type.
  const double eps = d.given("eps") ? d.real("eps") : std::numeric_limits<float>::epsilon();
  auto value = element * apply(StageOp::rsqrt, read(square, frame) + eps);
  if (d.given("weight")) value = value * load(d.tensor("weight"), indices_at(frame, axes));
  d.map(0, frame, value);
  return {};
}

/// x / (k + alpha * mean of squares over neighbouring channels) ** beta; channels behind the ends are zeros.
Result<void> local_response_norm(Decomposition& d) {
  const auto x = d.tensor("input");
  const auto frame = named_axes(x.type.shape);
  const auto size = d.integer("size");
  auto place = indices_of(frame);
  place[1] = place[1] + axis_index("step") - floor_divide(size, 2);
  const auto neighbour = load(x, place);
  Stage stage;
  stage.kind = StageKind::reduce;
  stage.axes = frame;
  stage.inner = {{"step", size}};
  stage.guards = {inside(place[1], frame[1].extent)};
  stage.body = neighbour * neighbour;
  const auto mean = reduction_result(StageType::real) / StageExpr(size);
  const auto divisor = apply(StageOp::power, mean * d.real("alpha") + d.real("k"), d.real("beta"));
  stage.epilogue = read(x, frame) / divisor;
  d.add(to_output(), std::move(stage));
  return {};
}

constexpr std::array k_normalisation_decompositions = {
    DecompositionRow{"batch_norm1d", batch_norm},
    DecompositionRow{"batch_norm2d", batch_norm},
    DecompositionRow{"batch_norm3d", batch_norm},
    DecompositionRow{"instance_norm1d", instance_norm},
    DecompositionRow{"instance_norm2d", instance_norm},
    DecompositionRow{"instance_norm3d", instance_norm},
    DecompositionRow{"group_norm", group_norm},
    DecompositionRow{"layer_norm", layer_norm},
    DecompositionRow{"rms_norm", rms_norm},
    DecompositionRow{"local_response_norm", local_response_norm},
};

}  // namespace

std::span<const DecompositionRow> normalisation_decompositions() {
  return k_normalisation_decompositions;
}

}  // namespace kw
