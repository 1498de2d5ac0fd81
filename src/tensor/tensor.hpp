#pragma once
// Named axes, element types and tensor shapes: the vocabulary every problem is described in.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

/// Extents by axis name ("B", "Hq", "Sq", ...). Ordered, so that iteration and canonical text are deterministic.
using Axes = std::map<std::string, std::int64_t, std::less<>>;

/// Storage type of tensor elements. The values are stored in archives: never renumber.
enum class DType : std::uint8_t {
  f32 = 1,
  f16 = 2,
  i32 = 3,      ///< of captured tensors; values lie within +-2^24, so that a float holds them exactly
  boolean = 4,  ///< of captured tensors; one byte, 0 or 1; written "bool"
  bf16 = 5,     ///< the upper 16 bits of an f32
};

[[nodiscard]] std::string_view to_string(DType dtype);
[[nodiscard]] std::int64_t bytes_per_element(DType dtype);
/// Whether elements are floats of 16 bits, f16 or bf16: arithmetic on them is f32, and storing a result rounds it.
[[nodiscard]] bool is_16_bit_float(DType dtype);
/// One of those, or f32.
[[nodiscard]] bool is_float(DType dtype);

/// The most that rounding to the type changes a number by, relative to it: 2^-24, f16 2^-11, bf16 2^-8.
[[nodiscard]] double unit_roundoff(DType dtype);

/// A dense row-major tensor; the last axis in `axes` is contiguous.
struct TensorSpec {
  std::string name;  ///< as kernels and bundles refer to it, such as "Q"
  DType dtype = DType::f32;
  std::vector<std::string> axes;  ///< names, outermost first
  double unit = 0.0;  ///< of an output: errors count relative to at least this; 1 for logarithms, where it is the
                      ///< absolute error that says how wrong the sum below is
};

/// Product of the extents; errc::overflow when it leaves 63 bits. Every axis must be present in `axes`.
[[nodiscard]] Result<std::int64_t> element_count(const TensorSpec& tensor, const Axes& axes);

/// Elements along the innermost axis; 1 for a single number, which has no axes.
[[nodiscard]] std::int64_t row_length_of(const TensorSpec& tensor, const Axes& axes);

}  // namespace kw
