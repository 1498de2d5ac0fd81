#include "operators/program/kernels/lane_reduction.hpp"

namespace kw {

const LaneReduction* lane_reduction(const Stage& stage) {
  static constexpr LaneReduction k_sum{"0.0f", "{0} += {1};", "sum_of", "{1}sum += {0};", nullptr};
  static constexpr LaneReduction k_product{"1.0f", "{0} *= {1};", "product_of", "{1}product *= {0};", nullptr};
  static constexpr LaneReduction k_largest{"-INFINITY", "{0} = larger16({0}, {1});", "largest_of",
                                           "{1}best = larger({1}best, {0});", "larger16"};
  static constexpr LaneReduction k_smallest{"INFINITY", "{0} = smaller16({0}, {1});", "smallest_of",
                                            "{1}best = smaller({1}best, {0});", "smaller16"};
  if (stage.kind != StageKind::reduce || stage.body->type != StageType::real) return nullptr;
  switch (stage.op) {
    case ReduceOp::sum:
      return &k_sum;
    case ReduceOp::product:
      return &k_product;
    case ReduceOp::maximum:
      return &k_largest;
    case ReduceOp::minimum:
      return &k_smallest;
    default:
      return nullptr;
  }
}

const LaneReduction& lane_maximum_of_numbers() {
  static constexpr LaneReduction k_largest{"-FLT_MAX", "{0} = larger_number16({0}, {1});", "largest_of",
                                           "{1}best = larger({1}best, {0});", "larger_number16"};
  return k_largest;
}

}  // namespace kw
