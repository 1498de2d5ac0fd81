#pragma once
// Kernels for row_sum that a person might hand in: an honest one, and one that leaves out the last element. Whole
// bundles, as text.

#include <string>

namespace kw {

inline constexpr const char* k_row_sum_header = R"(/*kernelwright
format = 1
target = "opencl"
problem = "tests/seams/row_sum/matrix"
generator = "test"

[[launch]]
kernel = "row_sum"
grid = ["Rows"]
block = ["1"]
args = ["X", "Y", "Columns"]
*/
)";

inline const std::string k_row_sum_honest = std::string(k_row_sum_header) + R"(
__kernel void row_sum(__global const float* X, __global float* Y, int columns) {
  const int row = get_group_id(0);
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += X[(long)row * columns + c];
  Y[row] = sum;
}
)";

inline const std::string k_row_sum_without_the_last = std::string(k_row_sum_header) + R"(
__kernel void row_sum(__global const float* X, __global float* Y, int columns) {
  const int row = get_group_id(0);
  float sum = X[(long)row * columns];
  for (int c = 1; c < columns - 1; ++c) sum += X[(long)row * columns + c];
  Y[row] = sum;
}
)";

}  // namespace kw
