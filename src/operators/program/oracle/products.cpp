// Matrix products. A row of the result is the sum of rows of the second matrix, each times an element of the first.

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/matrix_block.hpp"

namespace kw::program_oracle {
namespace {

/// One operand as a stack of matrices.
struct MatrixStack {
  Operand operand;
  StridedMap start;  ///< of a matrix, by its flat index among those of the result
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t row_stride = 1;
  std::int64_t column_stride = 1;
};

/// The last two axes are the matrix; `stack` is what the others broadcast to.
MatrixStack matrices(const Operand& operand, const Extents& stack) {
  const auto rank = operand.rank();
  const Extents outer(operand.extents().begin(), operand.extents().end() - 2);
  auto strides = broadcast_strides(outer, stack);
  const auto columns = operand.extent(rank - 1);
  const auto rows = operand.extent(rank - 2);
  for (auto& stride : strides) stride *= rows * columns;
  return {operand, StridedMap(stack, strides), rows, columns, columns, 1};
}

/// beta * added + alpha * left @ right, by rows.
struct Product {
  MatrixStack left;
  MatrixStack right;
  std::optional<Broadcast> added;
  double alpha = 1.0;
  double beta = 1.0;

  /// As BySpan wants it.
  void fill(std::span<const std::int64_t> rows, std::int64_t first, std::span<const std::span<double>> into) const {
    for (std::size_t i = 0; i < rows.size();) {
      std::size_t end = i + 1;
      while (end < rows.size() && end - i < k_rows_together && stack_of(rows[end]) == stack_of(rows[i])) ++end;
      multiply(rows.subspan(i, end - i), first, into.subspan(i, end - i));
      i = end;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) finish(rows[i], first, into[i]);
  }

 private:
  [[nodiscard]] std::int64_t stack_of(std::int64_t row) const { return row / left.rows; }

  /// Rows of one stack.
  void multiply(std::span<const std::int64_t> rows, std::int64_t first, std::span<const std::span<double>> into) const {
    const std::int64_t stack = stack_of(rows.front());
    const std::int64_t to = right.start(stack) + first * right.column_stride;
    const std::int64_t from = left.start(stack);
    if (rows.size() == 1) {
      return multiply_row(from + rows.front() % left.rows * left.row_stride, to, into.front());
    }
    std::array<std::int64_t, k_rows_together> within{};
    for (std::size_t i = 0; i < rows.size(); ++i) within[i] = rows[i] % left.rows;
    multiply_rows({&left.operand, from, left.row_stride, left.column_stride}, std::span(within).first(rows.size()),
                  {&right.operand, to, right.row_stride, right.column_stride}, left.columns, into);
  }

  void finish(std::int64_t row, std::int64_t first, std::span<double> into) const {
    if (alpha != 1.0) {
      for (auto& one : into) one *= alpha;
    }
    // With beta = 0 not even NaN is read from what is added.
    for (std::size_t i = 0; added && beta != 0.0 && i < into.size(); ++i)
      into[i] += beta * (*added)[row * right.columns + first + static_cast<std::int64_t>(i)];
  }

  /// The row of `left` that begins there times the columns of `right` from there on.
  void multiply_row(std::int64_t from, std::int64_t to, std::span<double> into) const {
    if (right.row_stride == 1 && right.column_stride > 1) {
      std::vector<double> row(static_cast<std::size_t>(left.columns));
      read_numbers(row, left.operand, from, left.column_stride);
      multiply_columns(into, row, right.operand, to, right.column_stride);
      return;
    }
    for (std::int64_t k = 0; k < left.columns; ++k) {
      add_scaled(into, left.operand[from + k * left.column_stride], right.operand, to + k * right.row_stride,
                 right.column_stride);
    }
  }
};

/// `result_rows`: those of the result, where the left matrices are the node's first operand, and 0 elsewhere.
Answer product_answer(Product product, std::int64_t result_rows) {
  const auto length = product.right.columns;
  const bool is_dense = product.left.column_stride == 1 && product.left.row_stride == product.left.columns;
  BySpan answer{length, product.left.columns, k_rows_together};
  if (is_dense && result_rows > 0 && product.left.operand.count() == result_rows * product.left.columns) {
    answer.first_operand = [inner = product.left.columns](const RowPart& part, Ranges& ranges) {
      ranges.push_back({part.row * inner, (part.row + 1) * inner});
    };
  }
  answer.fill = [product = std::move(product)](std::span<const std::int64_t> rows, std::int64_t first,
                                               std::span<const std::span<double>> into) {
    product.fill(rows, first, into);
  };
  return answer;
}

/// A vector on the left is a row, on the right a column; neither has an axis in the result.
Product product_of(const Operand& left, const Operand& right, const Extents& result) {
  Extents stack = result;
  if (left.rank() > 1) stack.pop_back();
  if (right.rank() > 1) stack.pop_back();
  Product product{left.rank() > 1 ? matrices(left, stack) : MatrixStack{left, {}, 1, left.extent(0), 0, 1},
                  right.rank() > 1 ? matrices(right, stack) : MatrixStack{right, {}, right.extent(0), 1, 1, 0},
                  std::nullopt};
  if (left.rank() == 1) product.left.start = StridedMap(stack, Extents(stack.size(), 0));
  if (right.rank() == 1) product.right.start = StridedMap(stack, Extents(stack.size(), 0));
  return product;
}

Result<Answer> plain_product(const OracleCall& call, const char* left, const char* right) {
  const auto extents = call.output_extents();
  auto product = product_of(call.tensor(left), call.tensor(right), extents);
  const auto rows = volume_of(extents) / std::max<std::int64_t>(product.right.columns, 1);
  return product_answer(std::move(product), rows);
}

Result<Answer> added_product(const OracleCall& call, const char* left, const char* right) {
  const auto extents = call.output_extents();
  auto product = product_of(call.tensor(left), call.tensor(right), extents);
  product.added = Broadcast(call.tensor("input"), extents);
  product.alpha = call.number("alpha");
  product.beta = call.number("beta");
  return product_answer(std::move(product), 0);
}

Result<Answer> outer(const OracleCall& call) {
  return each_element([left = call.tensor("input"), right = call.tensor("vec2")](std::int64_t i) {
    return left[i / right.extent(0)] * right[i % right.extent(0)];
  });
}

/// The weight's rows are features of the result; a weight of one axis is one feature without an axis.
Result<Answer> linear(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto weight = call.tensor("weight");
  const auto bias = call.optional_tensor("bias");
  const auto inner = input.extents().back();
  const auto features = weight.rank() == 2 ? weight.extent(0) : 1;
  Product product{
      MatrixStack{input, StridedMap({1}, {0}), input.count() / std::max<std::int64_t>(inner, 1), inner, inner, 1},
      MatrixStack{weight, StridedMap({1}, {0}), inner, features, 1, inner}, std::nullopt};
  if (bias) product.added = Broadcast(*bias, call.output_extents());
  const auto rows = product.left.rows;
  return product_answer(std::move(product), rows);
}

/// first' W[o] second + bias[o]
Result<Answer> bilinear(const OracleCall& call) {
  const auto weight = call.tensor("weight");
  const auto bias = call.optional_tensor("bias");
  const auto to = call.output_extents();
  const auto rows = weight.extent(1);
  const auto columns = weight.extent(2);
  // The vectors as one broadcasts to the other, with the last axis of its own.
  const auto with_last = [&](std::int64_t last) {
    auto extents = to;
    extents.back() = last;
    return extents;
  };
  return each_element([=, first = Broadcast(call.tensor("input1"), with_last(rows)),
                       second = Broadcast(call.tensor("input2"), with_last(columns))](std::int64_t i) {
    const auto feature = i % to.back();
    const auto vector = i / to.back();
    double sum = bias ? (*bias)[feature] : 0.0;
    for (std::int64_t r = 0; r < rows; ++r) {
      const double left = first[vector * rows + r];
      for (std::int64_t c = 0; c < columns; ++c)
        sum += left * weight[(feature * rows + r) * columns + c] * second[vector * columns + c];
    }
    return sum;
  });
}

constexpr std::array k_product_answers = {
    OracleRow{"matmul", [](const OracleCall& call) { return plain_product(call, "input", "other"); }},
    OracleRow{"mm", [](const OracleCall& call) { return plain_product(call, "input", "mat2"); }},
    OracleRow{"bmm", [](const OracleCall& call) { return plain_product(call, "input", "mat2"); }},
    OracleRow{"mv", [](const OracleCall& call) { return plain_product(call, "input", "vec"); }},
    OracleRow{"dot", [](const OracleCall& call) { return plain_product(call, "input", "other"); }},
    OracleRow{"outer", outer},
    OracleRow{"addmm", [](const OracleCall& call) { return added_product(call, "mat1", "mat2"); }},
    OracleRow{"baddbmm", [](const OracleCall& call) { return added_product(call, "batch1", "batch2"); }},
    OracleRow{"addmv", [](const OracleCall& call) { return added_product(call, "mat", "vec"); }},
    OracleRow{"linear", linear},
    OracleRow{"bilinear", bilinear},
};

}  // namespace

std::span<const OracleRow> product_answers() {
  return k_product_answers;
}

}  // namespace kw::program_oracle
