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
#include "mod/expression/capture_data.hpp"
#include "mod/expression/expr.hpp"
#include "tensor/tensor.hpp"

namespace kw {

namespace errc {
/// Values that break what is declared of them: a bound, the order, the type, or a shape that does not fit.
inline constexpr ErrorCode capture_values{"capture.values"};
}  // namespace errc

/// Written in the problem file or read from an .npy file: the same for every workload.
struct FixedValues {
  std::vector<std::int64_t> extents;  ///< as given; a workload whose axes differ is refused
  std::vector<float> values;
};
/// A function of the element's indices: parse_formula(). Of the tensor's own type but for an integer in a real tensor.
struct FormulaValues {
  ModFunction formula;
};
/// Random or derived values by a named rule, with parameters; the rules are listed in docs/formats.md.
struct GeneratedValues {
  std::string generator;
  std::map<std::string, ModFunction, std::less<>> numbers;  ///< expressions of the axes
  std::map<std::string, std::string, std::less<>> names;    ///< captures before this one
};

/// Of all captured tensors of a workload together.
inline constexpr std::int64_t k_max_captured_elements = std::int64_t{1} << 26;

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
[[nodiscard]] Result<CaptureData> draw_captures(std::span<const Capture> captures, const Axes& axes,
                                                std::uint64_t seed);

/// Values of the captured tensor at `index`, which may read `before`: those ahead of it in `captures`. For
/// whoever wants to say where it stands in the file; all others call draw_captures().
[[nodiscard]] Result<CapturedTensor> draw_capture(std::span<const Capture> captures, std::size_t index,
                                                  const Axes& axes, const CaptureData& before, std::uint64_t seed);

/// Whether fixed values have the extents that `axes` ask for; errc::capture_values otherwise. Carries no place.
[[nodiscard]] Result<void> check_fixed_extents(const Capture& capture, const Axes& axes);

/// As an element of the type stores it: rounded to its precision.
[[nodiscard]] float stored_value(DType dtype, double value);
/// Row-major values as elements of the tensor's type store them. errc::capture_values when
/// they break what is declared. Carries no place.
[[nodiscard]] Result<CapturedTensor> stored_values(const ModCapture& declared, std::vector<std::int64_t> extents,
                                                   const std::vector<double>& values);

/// Operations that a draw takes, roughly: elements times the nodes of a formula. Draws of no more than k_quick_draws
/// together are cheap enough to be made on the side, as when a problem is read.
[[nodiscard]] double draw_work(std::span<const Capture> captures, const Axes& axes);
inline constexpr double k_quick_draws = double{1 << 25};

/// Captured tensors from their `values`, in the order of `captures`.
[[nodiscard]] CaptureData captures_among(std::span<const Capture> captures, const Axes& axes,
                                         std::span<const std::vector<float>> values);

}  // namespace kw
