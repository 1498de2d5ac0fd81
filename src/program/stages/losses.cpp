#include "program/stages/losses.hpp"

#include "program/operators/operator_call.hpp"

namespace kw {

Result<void> reduced_loss(Decomposition& d, const StageAxes& frame, const StageExpr& value) {
  const auto& reduction = d.text("reduction");
  if (reduction == "none") {
    d.map(0, frame, value);
    return {};
  }
  Stage stage;
  stage.kind = StageKind::reduce;
  stage.inner = frame;
  stage.body = converted(value, StageType::real);
  const auto sum = reduction_result(StageType::real);
  if (reduction == "mean") stage.epilogue = sum / real_count(frame);
  if (reduction == "batchmean") stage.epilogue = sum / real_count({frame.at(0)});
  d.reduce_in_parts(to_output(), std::move(stage));
  return {};
}

Result<StageAxes> common_frame(const Decomposition& d, std::initializer_list<const char*> names) {
  Shape shape;
  for (const auto* name : names) {
    if (!d.given(name)) continue;
    KW_TRY(shape, broadcast(shape, d.tensor(name).type.shape));
  }
  return named_axes(shape);
}

}  // namespace kw
