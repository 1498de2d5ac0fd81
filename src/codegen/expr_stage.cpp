#include "codegen/expr_stage.hpp"

namespace kw {

ExprStage stage_of(const Dependencies& inputs, bool head_by_row) {
  if (inputs.score || inputs.key) return ExprStage::element;
  return inputs.query || (head_by_row && inputs.head) ? ExprStage::row : ExprStage::group;
}

}  // namespace kw
