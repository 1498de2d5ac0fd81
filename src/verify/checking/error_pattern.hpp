#pragma once
// Where an output is wrong, and in which pattern, in words: what a person would look at first, and what a model needs
// to find its mistake. Looks at expected and got values alone; knows axes by their names and nothing of operators.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensor/tensor.hpp"
#include "verify/checking/accuracy.hpp"

namespace kw {

/// One output as it was compared: row-major, `got` as the candidate left it, converted; `limit` as measure_error takes
/// it.
struct ComparedOutput {
  const TensorSpec& tensor;
  const Axes& axes;
  std::span<const double> expected;
  std::span<const double> got;
  OutputForm form;
  double limit = 0;
};

struct WrongElement {
  std::int64_t index = 0;  ///< flat
  double expected = 0;
  double got = 0;
  double error = 0;  ///< in the units of measure_error; infinity for NaN and infinities
};

struct ErrorPattern {
  std::int64_t wrong = 0;           ///< elements over the limit
  std::vector<WrongElement> worst;  ///< largest error first, at most k_worst_elements; of equal ones the first
  std::vector<std::string> words;   ///< "only the last of 129 Sq (128)", "got is 0.5 times what is expected"
};

inline constexpr std::size_t k_worst_elements = 4;

[[nodiscard]] ErrorPattern find_error_pattern(const ComparedOutput& output);

/// Several lines: share of wrong elements, the worst ones, the pattern. No line end behind the last.
[[nodiscard]] std::string describe(const ErrorPattern& pattern, const ComparedOutput& output);

}  // namespace kw
