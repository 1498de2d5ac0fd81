#pragma once
// Rules that draw the values of captured tensors: random ones, and ones derived from other captures. Pure functions of
// their parameters and the generator's state. docs/formats.md lists them with an example each.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/rng.hpp"
#include "mod/expression/capture_data.hpp"
#include "tensor/tensor.hpp"

namespace kw {

struct GeneratorInput {
  std::span<const std::int64_t> extents;               ///< of the tensor to fill; none for a single value
  std::map<std::string, double, std::less<>> numbers;  ///< every parameter of the generator
  std::map<std::string, const CapturedTensor*, std::less<>> captures;  ///< every capture it reads
};

struct GeneratorNumber {
  std::string_view name;
  std::optional<double> otherwise;  ///< absent: the problem file must give it
};

struct CaptureGenerator {
  std::string_view name;
  std::vector<DType> dtypes;  ///< of tensors it can fill
  std::size_t least_dimensions = 0;
  bool sorted = false;  ///< along the last axis, whatever the parameters
  bool counts = false;  ///< the values are never negative
  std::vector<GeneratorNumber> numbers;
  std::vector<std::string_view> captures;  ///< parameters that name another captured tensor
  /// Row-major values. The error carries neither place nor the tensor's name.
  Result<std::vector<double>> (*draw)(const GeneratorInput& input, Rng& rng);
};

/// Null when unknown.
[[nodiscard]] const CaptureGenerator* find_generator(std::string_view name);
[[nodiscard]] std::vector<std::string> generator_names();

}  // namespace kw
