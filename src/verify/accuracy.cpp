#include "verify/accuracy.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace kw {
namespace {

double rms(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

struct Element {
  double value;
  bool poison;
};

Element read_element(std::span<const std::byte> bytes, std::uint32_t poison, std::size_t index) {
  std::uint32_t bits = 0;
  float value = 0;
  std::memcpy(&bits, bytes.data() + index * sizeof bits, sizeof bits);
  std::memcpy(&value, &bits, sizeof value);
  return {static_cast<double>(value), bits == poison};
}

}  // namespace

OutputError measure_error(std::span<const std::byte> bytes, std::uint32_t poison, std::span<const double> reference,
                          std::int64_t row_length, double limit) {
  OutputError result;
  const double floor = rms(reference) / 1000.0 + std::numeric_limits<double>::min();
  const auto length = static_cast<std::size_t>(row_length);
  for (std::size_t start = 0; start < reference.size(); start += length) {
    const double scale = rms(reference.subspan(start, length)) + floor;
    for (std::size_t i = start; i < start + length; ++i) {
      const Element element = read_element(bytes, poison, i);
      if (element.poison) ++result.unwritten;
      double error = std::abs(element.value - reference[i]) / scale;
      if (!std::isfinite(element.value)) {
        ++result.not_finite;
        error = std::numeric_limits<double>::infinity();
      }
      if (error > limit) ++result.over;
      if (error > result.max_error) {
        result.max_error = error;
        result.worst = static_cast<std::int64_t>(i);
      }
    }
  }
  return result;
}

}  // namespace kw
