#include "program/stages/access.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

StageExpr element(std::size_t buffer, const StageIndices& indices) {
  TensorView tensor;
  tensor.buffer = buffer;
  tensor.type = {ElementType::float32, Shape(indices.size(), Extent(40))};
  return load(tensor, indices);
}

/// A sum over j, with rows along i and k.
Stage sum_of(const StageExpr& body) {
  Stage stage;
  stage.kind = StageKind::reduce;
  stage.axes = {{"i", Extent(40)}, {"k", Extent(40)}};
  stage.inner = {{"j", Extent(40)}};
  stage.body = body;
  return stage;
}

const StageExpr k_i = axis_index("i"), k_j = axis_index("j"), k_k = axis_index("k");

TEST(Access, rows_are_contiguous_where_neighbouring_ones_are_neighbours) {
  EXPECT_TRUE(has_contiguous_rows(sum_of(element(0, {k_i, k_j, k_k}))));
  EXPECT_FALSE(has_contiguous_rows(sum_of(element(0, {k_i, k_k, k_j}))));
  EXPECT_FALSE(has_contiguous_rows(sum_of(element(0, {k_i, k_j, k_k}) * element(1, {k_i, k_k, k_j})))) << "one of them";
}

TEST(Access, a_row_that_all_rows_read_says_nothing_of_them) {
  EXPECT_TRUE(has_contiguous_rows(sum_of(element(0, {k_i, k_j, k_k}) * element(1, {k_j}))));
  EXPECT_FALSE(has_contiguous_rows(sum_of(element(0, {k_i, k_k, k_j}) * element(1, {k_j}))));
  EXPECT_TRUE(goes_along_columns(*element(1, {k_j}), {}, {{"j", Extent(40)}})) << "there are no other rows";
}

}  // namespace
}  // namespace kw
