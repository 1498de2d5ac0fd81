#pragma once
// Captured tensors: what a mod reads besides the score and the indices, such as document ids, slopes or a table of
// biases. The problem file says where their values come from; each workload draws its own.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "spec/capture_data.hpp"
#include "spec/mod_expr.hpp"
#include "spec/tensor.hpp"

namespace kw {

struct Problem;

namespace errc {
/// Values that break what is declared of them: a bound, the order, the type, or a shape that does not fit.
inline constexpr ErrorCode capture_values{"capture.values"};
}  // namespace errc

/// Written in the problem file or read from an .npy file: the same for every workload.
struct FixedValues {
  std::vector<float> values;
};
/// A function of the element's indices: parse_formula().
struct FormulaValues {
  ModFunction formula;
};
/// Random or derived values by a named rule, with parameters; the rules are listed in docs/formats.md.
struct GeneratedValues {
  std::string generator;
  std::map<std::string, ModFunction, std::less<>> numbers;  ///< expressions of the axes
  std::map<std::string, std::string, std::less<>> names;    ///< other captures or axes
};

struct Capture {
  ModCapture declared;  ///< name, dtype, axes, order, bounds; holds for every draw
  std::variant<FixedValues, FormulaValues, GeneratedValues> source;
  std::string source_text;  ///< of the source, in a normal form; part of the problem's identity
  [[nodiscard]] TensorSpec tensor() const { return {declared.name, declared.dtype, declared.axes}; }
};

/// The seed of the draw that times, costs and `explain` speak of.
inline constexpr std::uint64_t k_nominal_seed = 0;

/// Values of every captured tensor of a problem for these axes. Deterministic for the seed. errc::capture_values when
/// a draw breaks what is declared.
[[nodiscard]] Result<CaptureData> draw_captures(const Problem& problem, const Axes& axes, std::uint64_t seed);

/// The captured tensors among input values in the order of Problem::inputs.
[[nodiscard]] CaptureData captures_among(const Problem& problem, const Axes& axes,
                                         std::span<const std::vector<float>> inputs);

}  // namespace kw
