// Rows of a product together against a sum for each element.

#include "operators/program/oracle/matrix_block.hpp"

#include <gtest/gtest.h>

#include "base/rng.hpp"

namespace kw::program_oracle {
namespace {

struct Shape {
  std::int64_t rows, steps, columns;
};
constexpr Shape k_shapes[] = {{1, 1, 1}, {2, 65, 3}, {9, 64, 129}, {32, 130, 16}, {31, 7, 300}};
constexpr std::int64_t k_rows_of_matrix = 50;

std::vector<float> numbers(std::int64_t count, Rng& rng) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(rng.uniform() - 0.5));
  return values;
}

std::vector<std::vector<double>> product(const MatrixPart& left, std::span<const std::int64_t> rows,
                                         const MatrixPart& right, const Shape& shape) {
  std::vector<std::vector<double>> values(rows.size(), std::vector<double>(static_cast<std::size_t>(shape.columns)));
  std::vector<std::span<double>> into(values.begin(), values.end());
  multiply_rows(left, rows, right, shape.steps, into);
  return values;
}

void expect_products(const Shape& shape, bool by_columns, Rng& rng) {
  const auto left = numbers(k_rows_of_matrix * shape.steps, rng);
  const auto right = numbers(shape.steps * shape.columns, rng);
  const std::vector<double> doubles(right.begin(), right.end());
  std::vector<std::int64_t> rows;
  for (std::int64_t r = 0; r < shape.rows; ++r) rows.push_back(rng.below(k_rows_of_matrix));
  const Operand a(ElementType::float32, {k_rows_of_matrix, shape.steps}, left.data());
  const Extents extents = {shape.steps, shape.columns};
  const Operand kinds[] = {
      Operand(ElementType::float32, extents, right.data()), Operand(ElementType::float32, extents, doubles.data()),
      Operand(ElementType::float32, extents, [&](std::int64_t i) { return doubles[static_cast<std::size_t>(i)]; })};
  const std::int64_t row_stride = by_columns ? 1 : shape.columns;
  const std::int64_t column_stride = by_columns ? shape.steps : 1;
  for (const Operand& b : kinds) {
    const auto values = product({&a, 0, shape.steps, 1}, rows, {&b, 0, row_stride, column_stride}, shape);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::int64_t j = 0; j < shape.columns; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < shape.steps; ++k) {
          sum += a[rows[r] * shape.steps + k] * b[k * row_stride + j * column_stride];
        }
        ASSERT_EQ(values[r][static_cast<std::size_t>(j)], sum) << "row " << r << ", column " << j;
      }
    }
  }
}

TEST(MatrixBlock, rows_are_the_sums_of_their_elements) {
  Rng rng(11);
  for (const Shape& shape : k_shapes) {
    SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.steps << " x " << shape.columns);
    expect_products(shape, false, rng);
    expect_products(shape, true, rng);
  }
}

}  // namespace
}  // namespace kw::program_oracle
