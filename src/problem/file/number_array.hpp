#pragma once
// Numbers that a problem file gives for a captured tensor: written in it as nested arrays, or in an .npy file beside
// it. Both are untrusted: bounded, and refused by name when they are no array.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "problem/captures/captures.hpp"
#include "problem/file/config_tree.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode npy_format{"npy.format"};  ///< not an .npy file, or one of a kind that is not read
}  // namespace errc

inline constexpr std::size_t k_max_dimensions = 4;

/// Row-major; no extents for a single number.
struct NumberArray {
  std::vector<std::int64_t> extents;
  std::vector<double> values;
};

/// A number, a boolean, "-inf", "inf", or arrays of them, all of one length per level.
[[nodiscard]] Result<NumberArray> read_number_array(const ConfigValue& value);

/// NPY format 1.0 and 2.0 as numpy.save writes it: C order, little endian, floats of 2, 4 and 8 bytes, integers of 1,
/// 2, 4 and 8, bytes without sign, booleans. The error carries no place.
[[nodiscard]] Result<NumberArray> parse_npy(std::string_view bytes);

}  // namespace kw
