#include "problem/captures/captures.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "base/bfloat.hpp"
#include "base/half.hpp"
#include "base/rng.hpp"
#include "mod/analysis/analysis.hpp"
#include "mod/analysis/row_evaluator.hpp"
#include "problem/captures/generators.hpp"

namespace kw {
namespace {

constexpr double k_max_whole = 16777216.0;  // 2^24: what a float holds exactly

std::vector<std::int64_t> extents_of(const ModCapture& declared, const Axes& axes) {
  std::vector<std::int64_t> extents;
  for (const auto& axis : declared.axes) {
    const auto found = axes.find(axis);
    KW_CHECK(found != axes.end(), "tensor {} has no extent for its axis {}", declared.name, axis);
    extents.push_back(found->second);
  }
  return extents;
}

std::int64_t elements(const std::vector<std::int64_t>& extents) {
  std::int64_t count = 1;
  for (const auto extent : extents) count *= extent;
  return count;
}

/// "[2, 17]" for the element at a row-major position.
std::string index_text(const std::vector<std::int64_t>& extents, std::size_t position) {
  std::string text;
  auto rest = static_cast<std::int64_t>(position);
  for (std::size_t i = extents.size(); i-- > 0;) {
    text = fmt::format("{}{}{}", rest % extents[i], text.empty() ? "" : ", ", text);
    rest /= extents[i];
  }
  return fmt::format("[{}]", text);
}

/// A formula's last parameter varies fastest, so that one becomes the key of a row evaluator: the leaves move up.
ModFunction with_key_last(ModFunction formula, std::size_t parameters) {
  constexpr std::array k_leaves = {ExprOp::batch, ExprOp::head, ExprOp::query, ExprOp::key};
  const std::size_t shift = k_leaves.size() - parameters;
  for (auto& node : formula.nodes) {
    for (std::size_t i = parameters; i-- > 0;) {
      if (node.op != k_leaves[i]) continue;
      node.op = k_leaves[i + shift];
      break;
    }
  }
  return formula;
}

std::vector<double> formula_values(const FormulaValues& source, const std::vector<std::int64_t>& extents,
                                   const Axes& axes, const CaptureData& before) {
  if (extents.empty()) return {evaluate(source.formula, axes, {}, before)};
  const auto formula = with_key_last(source.formula, extents.size());
  ModRowEvaluator evaluator(formula, axes, before);
  std::array<std::int64_t, 4> padded = {1, 1, 1, 1};
  std::copy(extents.begin(), extents.end(), padded.end() - static_cast<std::ptrdiff_t>(extents.size()));
  std::vector<double> values(static_cast<std::size_t>(elements(extents)));
  const auto length = static_cast<std::size_t>(padded[3]);
  for (std::int64_t row = 0; row < padded[0] * padded[1] * padded[2]; ++row) {
    evaluator.run({row / padded[2] / padded[1], row / padded[2] % padded[1], row % padded[2]}, 0,
                  std::span(values).subspan(static_cast<std::size_t>(row) * length, length));
  }
  return values;
}

Result<std::vector<double>> generated_values(const GeneratedValues& source, const std::vector<std::int64_t>& extents,
                                             const Axes& axes, const CaptureData& before, Rng& rng) {
  const auto* generator = find_generator(source.generator);
  KW_CHECK(generator != nullptr, "generator {}", source.generator);
  GeneratorInput input{extents, {}, {}};
  for (const auto& number : generator->numbers) {
    const auto given = source.numbers.find(number.name);
    const double value = given == source.numbers.end() ? *number.otherwise : evaluate(given->second, axes, {});
    input.numbers.emplace(number.name, value);
  }
  for (const auto& [parameter, capture] : source.names) {
    const auto found = before.find(capture);
    KW_CHECK(found != before.end(), "tensor {} is read before it is drawn", capture);
    input.captures.emplace(parameter, &found->second);
  }
  return generator->draw(input, rng);
}

/// What is wrong with a value, or "".
std::string fault(const ModCapture& declared, double value, float stored) {
  if (std::isnan(value)) return "which is not a number";
  if (declared.dtype == DType::boolean && value != 0.0 && value != 1.0) return "which is neither true nor false";
  if (declared.dtype == DType::i32 && (value != std::floor(value) || std::fabs(value) > k_max_whole)) {
    return "which is not a whole number within 2^24";
  }
  if (std::isinf(stored) && !std::isinf(value))
    return fmt::format("which is too large for {}", to_string(declared.dtype));
  const auto kept = static_cast<double>(stored);
  if (kept < declared.low || kept > declared.high) {
    return fmt::format("which is not within its bounds {} to {}", declared.low, declared.high);
  }
  return {};
}

}  // namespace

float stored_value(DType dtype, double value) {
  const auto narrowed = static_cast<float>(value);
  if (dtype == DType::f16) return rounded_to_half(narrowed);
  return dtype == DType::bf16 ? rounded_to_bfloat(narrowed) : narrowed;
}

Result<CapturedTensor> stored_values(const ModCapture& declared, std::vector<std::int64_t> extents,
                                     const std::vector<double>& values) {
  CapturedTensor tensor{std::move(extents), {}};
  tensor.values.reserve(values.size());
  const std::size_t row = tensor.extents.empty() ? 1 : static_cast<std::size_t>(tensor.extents.back());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float stored = stored_value(declared.dtype, values[i]);
    auto wrong = fault(declared, values[i], stored);
    if (wrong.empty() && declared.sorted && i % row > 0 && stored < tensor.values.back()) {
      wrong = fmt::format("less than the {} before it, although it is said to be sorted", tensor.values.back());
    }
    if (!wrong.empty()) {
      return fail(Error{
          errc::capture_values,
          fmt::format("tensor {} holds {} at {}, {}", declared.name,
                      std::isnan(values[i]) ? std::fabs(values[i]) : values[i], index_text(tensor.extents, i), wrong),
          "fix the values, or what the file declares about them"});
    }
    tensor.values.push_back(stored);
  }
  return tensor;
}

Result<void> check_fixed_extents(const Capture& capture, const Axes& axes) {
  const auto* fixed = std::get_if<FixedValues>(&capture.source);
  if (fixed == nullptr) return {};
  const auto wanted = extents_of(capture.declared, axes);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == fixed->extents[i]) continue;
    const auto& axis = capture.declared.axes[i];
    return fail(Error{errc::capture_values,
                      fmt::format("tensor {} has {} values along {}, but {} = {}", capture.declared.name,
                                  fixed->extents[i], axis, axis, wanted[i]),
                      "leave that axis alone, or give the tensor a formula or a generator, which fit any size"});
  }
  return {};
}

double draw_work(std::span<const Capture> captures, const Axes& axes) {
  double work = 0.0;
  for (const auto& capture : captures) {
    const auto* formula = std::get_if<FormulaValues>(&capture.source);
    const auto extents = extents_of(capture.declared, axes);
    double count = 1.0;
    for (const auto extent : extents) count *= static_cast<double>(extent);
    if (formula != nullptr) {
      // A row evaluator computes whole groups of lanes.
      const double row = extents.empty() ? 1.0 : static_cast<double>(extents.back());
      constexpr auto k_lanes = static_cast<double>(ModRowEvaluator::k_lanes);
      count *= std::ceil(row / k_lanes) * k_lanes / row * static_cast<double>(formula->formula.nodes.size());
    }
    work += count;
  }
  return work;
}

Result<CapturedTensor> draw_capture(std::span<const Capture> captures, std::size_t index, const Axes& axes,
                                    const CaptureData& before, std::uint64_t seed) {
  const auto& capture = captures[index];
  auto extents = extents_of(capture.declared, axes);
  if (const auto* fixed = std::get_if<FixedValues>(&capture.source)) {
    KW_TRY_VOID(check_fixed_extents(capture, axes));
    return CapturedTensor{std::move(extents), fixed->values};
  }
  // A stream of its own for each, so that one more draw in one does not change the next.
  Rng rng = Rng(seed).split(index + 1);
  if (const auto* formula = std::get_if<FormulaValues>(&capture.source)) {
    const auto values = formula_values(*formula, extents, axes, before);
    return stored_values(capture.declared, std::move(extents), values);
  }
  auto values = generated_values(std::get<GeneratedValues>(capture.source), extents, axes, before, rng);
  if (!values) return with_context(std::move(values).error(), fmt::format("drawing tensor {}", capture.declared.name));
  return stored_values(capture.declared, std::move(extents), *values);
}

Result<CaptureData> draw_captures(std::span<const Capture> captures, const Axes& axes, std::uint64_t seed) {
  CaptureData data;
  for (std::size_t i = 0; i < captures.size(); ++i) {
    KW_TRY(auto tensor, draw_capture(captures, i, axes, data, seed));
    data.emplace(captures[i].declared.name, std::move(tensor));
  }
  return data;
}

CaptureData captures_among(std::span<const Capture> captures, const Axes& axes,
                           std::span<const std::vector<float>> values) {
  CaptureData data;
  for (std::size_t i = 0; i < captures.size(); ++i) {
    const auto& declared = captures[i].declared;
    data.emplace(declared.name, CapturedTensor{extents_of(declared, axes), values[i]});
  }
  return data;
}

}  // namespace kw
