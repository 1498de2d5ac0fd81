#include "program/stages/moments.hpp"

namespace kw {
namespace {

Shape shape_of_frame(const StageAxes& frame) {
  Shape shape;
  for (const auto& axis : frame) shape.push_back(axis.extent);
  return shape;
}

}  // namespace

TensorView sum_over(Decomposition& d, const StageTarget& target, const StageAxes& frame,
                    const std::vector<std::size_t>& reduced, StageExpr body, StageExpr epilogue) {
  auto split = split_axes(frame, reduced);
  Stage stage;
  stage.axes = std::move(split.kept);
  stage.inner = std::move(split.reduced);
  stage.body = std::move(body);
  stage.epilogue = std::move(epilogue);
  return with_kept_axes(d.reduce_in_parts(target, std::move(stage)), shape_of_frame(frame), reduced);
}

TensorView mean_over(Decomposition& d, const StageTarget& target, const TensorView& x,
                     const std::vector<std::size_t>& reduced) {
  const auto frame = named_axes(x.type.shape);
  const auto count = real_count(split_axes(frame, reduced).reduced);
  return sum_over(d, target, frame, reduced, converted(read(x, frame), StageType::real),
                  reduction_result(StageType::real) / count);
}

TensorView variance_over(Decomposition& d, const StageTarget& target, const TensorView& x, const TensorView& mean,
                         const std::vector<std::size_t>& reduced, double correction, bool root) {
  const auto frame = named_axes(x.type.shape);
  const auto difference = read(x, frame) - read(mean, frame);
  auto count = real_count(split_axes(frame, reduced).reduced);
  if (correction != 0.0) count = maximum(count - correction, 0.0);
  const auto variance = reduction_result(StageType::real) / count;
  return sum_over(d, target, frame, reduced, difference * difference, root ? apply(StageOp::sqrt, variance) : variance);
}

Moments moments_over(Decomposition& d, const TensorView& x, const std::vector<std::size_t>& reduced) {
  Moments moments;
  moments.mean = mean_over(d, to_scratch("mean"), x, reduced);
  moments.variance = variance_over(d, to_scratch("variance"), x, moments.mean, reduced, 0.0);
  return moments;
}

}  // namespace kw
