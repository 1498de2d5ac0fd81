#pragma once
// Some rows of a matrix product at a time, so that each element of the second matrix is read once for all of them.

#include <cstddef>
#include <cstdint>
#include <span>

#include "operators/program/oracle/operand.hpp"

namespace kw::program_oracle {

/// One matrix within an operand.
struct MatrixPart {
  const Operand* operand = nullptr;
  std::int64_t start = 0;  ///< of its first element
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

/// Rows that multiply_rows takes at once.
inline constexpr std::size_t k_rows_together = 32;

/// into[r][j] = sum over k < steps of left[rows[r], k] * right[k, j], added in the order of k. At most k_rows_together
/// rows, and as many spans of the same length.
void multiply_rows(const MatrixPart& left, std::span<const std::int64_t> rows, const MatrixPart& right,
                   std::int64_t steps, std::span<const std::span<double>> into);

}  // namespace kw::program_oracle
