#include "verify/checking/error_pattern.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "verify/checking/error_location.hpp"

namespace kw {
namespace {

/// A pattern is named when it holds for this share of the wrong elements: one stray element must not hide it.
constexpr double k_most_elements = 0.95;
/// Errors up to this many times the limit look like rounding: arithmetic in f16 is off by some 500 times what f32 may
/// be. Mistakes of indexing are larger by orders of magnitude; they are of the size of the row itself, and what f16 and
/// bf16 outputs may err is not that far from it.
constexpr double k_rounding = 1000;
constexpr double k_most_by_rounding = 0.25;

struct Wrong {
  const ComparedOutput& output;
  const std::vector<double>& errors;
  std::vector<std::int64_t> indices;  ///< of wrong elements, ascending

  [[nodiscard]] double expected(std::int64_t i) const { return output.expected[static_cast<std::size_t>(i)]; }
  [[nodiscard]] double got(std::int64_t i) const { return output.got[static_cast<std::size_t>(i)]; }
  /// Whether `holds` does for most of the wrong elements.
  [[nodiscard]] bool mostly(const std::function<bool(std::int64_t)>& holds) const {
    const auto count = std::count_if(indices.begin(), indices.end(), holds);
    return static_cast<double>(count) >= k_most_elements * static_cast<double>(indices.size());
  }
};

/// Whether two numbers agree to 1e-3 when each may have been rounded to the type.
bool near(double a, double b, DType dtype) {
  return std::abs(a - b) <= std::max(1e-3, 2.0 * unit_roundoff(dtype)) * std::max(std::abs(a), std::abs(b));
}

/// "got is 0.5 times what is expected"; zeros and a wrong sign are factors too.
std::optional<std::string> constant_factor(const Wrong& wrong) {
  std::vector<double> ratios;
  for (const std::int64_t i : wrong.indices) {
    if (wrong.expected(i) != 0 && std::isfinite(wrong.got(i))) ratios.push_back(wrong.got(i) / wrong.expected(i));
  }
  if (ratios.size() < 4) return std::nullopt;
  std::nth_element(ratios.begin(), ratios.begin() + std::ssize(ratios) / 2, ratios.end());
  const double factor = ratios[ratios.size() / 2];
  const DType dtype = wrong.output.form.dtype;
  if (near(factor, 1, dtype)) return std::nullopt;
  if (!wrong.mostly([&](std::int64_t i) { return near(wrong.got(i), factor * wrong.expected(i), dtype); }))
    return std::nullopt;
  if (factor == 0) return "got is zero where something else is expected";
  return fmt::format("got is {:.4g} times what is expected", factor);
}

std::optional<std::string> constant_offset(const Wrong& wrong) {
  if (wrong.indices.size() < 4) return std::nullopt;
  const std::int64_t middle = wrong.indices[wrong.indices.size() / 2];
  const double offset = wrong.got(middle) - wrong.expected(middle);
  if (!std::isfinite(offset)) return std::nullopt;
  const DType dtype = wrong.output.form.dtype;
  const auto is_offset = [&](std::int64_t i) { return near(wrong.got(i) - wrong.expected(i), offset, dtype); };
  if (!wrong.mostly(is_offset)) return std::nullopt;
  return fmt::format("got is what is expected plus {:.4g}", offset);
}

/// Whether wrong elements hold the right answer of their neighbour along an axis.
std::optional<std::string> off_by_one(const Wrong& wrong) {
  const auto& axes = wrong.output.tensor.axes;
  const double rounding = std::max(1e-5, unit_roundoff(wrong.output.form.dtype));
  std::int64_t stride = 1;
  for (std::size_t a = axes.size(); a-- > 0;) {
    const std::int64_t extent = wrong.output.axes.find(axes[a])->second;
    for (const std::int64_t step : {1, -1}) {
      std::int64_t compared = 0;
      std::int64_t equal = 0;
      for (const std::int64_t i : wrong.indices) {
        const std::int64_t at = i / stride % extent + step;
        if (at < 0 || at >= extent) continue;
        const double neighbour = wrong.expected(i + step * stride);
        ++compared;
        if (std::abs(wrong.got(i) - neighbour) <= rounding * std::abs(neighbour)) ++equal;
      }
      if (compared >= 4 && static_cast<double>(equal) >= k_most_elements * static_cast<double>(compared)) {
        return fmt::format("got is what is expected one {} {}", axes[a], step > 0 ? "further" : "before");
      }
    }
    stride *= extent;
  }
  return std::nullopt;
}

std::optional<std::string> looks_like_rounding(const Wrong& wrong) {
  const double limit = wrong.output.limit;
  const double most = std::min(k_rounding * limit, k_most_by_rounding);
  const auto small = [&](std::int64_t i) { return wrong.errors[static_cast<std::size_t>(i)] <= most; };
  if (!(limit > 0) || !std::all_of(wrong.indices.begin(), wrong.indices.end(), small)) return std::nullopt;
  return "the errors are small: rounding rather than indexing, such as half precision or an approximation in between";
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Where NaN or infinities stand, when they are not simply all that is wrong.
std::optional<std::string> undefined_words(const Wrong& wrong) {
  std::vector<bool> undefined(wrong.output.got.size(), false);
  std::int64_t count = 0;
  for (const std::int64_t i : wrong.indices) {
    if (std::isfinite(wrong.got(i)) || wrong.got(i) == wrong.expected(i)) continue;
    undefined[static_cast<std::size_t>(i)] = true;
    ++count;
  }
  if (count == 0) return std::nullopt;
  std::string text = fmt::format("NaN or infinity in {} of the wrong elements", count);
  if (count == std::ssize(wrong.indices)) return text + ", which is all of them";
  const auto places = error_location(undefined, wrong.output.tensor, wrong.output.axes);
  return places.empty() ? text : text + ": " + joined(places);
}

std::vector<std::string> words_about(const Wrong& wrong) {
  std::vector<std::string> words;
  std::vector<bool> marked(wrong.output.got.size(), false);
  for (const std::int64_t i : wrong.indices) marked[static_cast<std::size_t>(i)] = true;
  if (wrong.indices.size() == marked.size()) {
    words.emplace_back("every element is wrong");
  } else {
    const auto places = error_location(marked, wrong.output.tensor, wrong.output.axes);
    words.push_back(places.empty() ? "wrong elements at every index of every axis" : joined(places));
  }
  if (auto text = undefined_words(wrong)) words.push_back(*std::move(text));
  for (const auto find : {constant_factor, off_by_one, constant_offset, looks_like_rounding}) {
    if (auto text = find(wrong)) {
      words.push_back(*std::move(text));
      break;  // one explanation of the values: the others would be weaker
    }
  }
  return words;
}

}  // namespace

ErrorPattern find_error_pattern(const ComparedOutput& output) {
  const std::vector<double> errors = element_errors(output.got, output.expected, output.form);
  Wrong wrong{output, errors, {}};
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (!(errors[i] <= output.limit)) wrong.indices.push_back(static_cast<std::int64_t>(i));
  }
  ErrorPattern pattern;
  pattern.wrong = std::ssize(wrong.indices);
  if (wrong.indices.empty()) return pattern;
  std::vector<std::int64_t> order = wrong.indices;
  const auto shown = std::min(order.size(), k_worst_elements);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::int64_t a, std::int64_t b) {
                      const double x = errors[static_cast<std::size_t>(a)];
                      const double y = errors[static_cast<std::size_t>(b)];
                      return x != y ? x > y : a < b;
                    });
  for (std::size_t i = 0; i < shown; ++i) {
    const std::int64_t at = order[i];
    pattern.worst.push_back({at, wrong.expected(at), wrong.got(at), errors[static_cast<std::size_t>(at)]});
  }
  pattern.words = words_about(wrong);
  return pattern;
}

std::string describe(const ErrorPattern& pattern, const ComparedOutput& output) {
  const auto total = static_cast<double>(output.expected.size());
  std::string text = fmt::format("{}: {} of {} elements over the limit ({:.3g} %)", output.tensor.name, pattern.wrong,
                                 output.expected.size(), 100 * static_cast<double>(pattern.wrong) / total);
  for (const auto& one : pattern.worst) {
    text +=
        fmt::format("\n  {}: expected {:.6g}, got {:.6g} (error {:.2e}, allowed {:.2e})",
                    coordinates(output.tensor, output.axes, one.index), one.expected, one.got, one.error, output.limit);
  }
  for (const auto& words : pattern.words) text += "\n  pattern: " + words;
  return text;
}

}  // namespace kw
