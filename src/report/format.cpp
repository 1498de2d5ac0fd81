#include "report/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

struct Scale {
  double divisor;
  const char* symbol;  ///< with the space before it
};

/// The largest scale that leaves at least 1; the first one otherwise.
Scale fitting(double size, std::initializer_list<Scale> scales) {
  Scale best = *scales.begin();
  for (const Scale& scale : scales) {
    if (size >= scale.divisor) best = scale;
  }
  return best;
}

constexpr double k_kib = 1024;

Scale scale_of(const Number& number) {
  const double size = std::abs(number.value);
  switch (number.unit) {
    case Unit::nanoseconds:
      return fitting(size, {{1, " ns"}, {1e3, " \u00b5s"}, {1e6, " ms"}, {1e9, " s"}});
    case Unit::seconds:
      return {1, " s"};
    case Unit::flop:
      return fitting(size, {{1, " FLOP"}, {1e6, " MFLOP"}, {1e9, " GFLOP"}, {1e12, " TFLOP"}});
    case Unit::gflops:
      return fitting(size, {{1, " GFLOP/s"}, {1e3, " TFLOP/s"}});
    case Unit::bytes:
      return fitting(size, {{1, " B"}, {k_kib, " KiB"}, {k_kib * k_kib, " MiB"}, {k_kib * k_kib * k_kib, " GiB"}});
    case Unit::bytes_per_second:
      return fitting(size, {{1, " B/s"}, {1e6, " MB/s"}, {1e9, " GB/s"}, {1e12, " TB/s"}});
    case Unit::times:
      return {1, "\u00d7"};
    case Unit::share:
      return {0.01, " %"};
    case Unit::dollars:
      return {1, " USD"};
    case Unit::count:
    case Unit::plain:
      break;
  }
  return {1, ""};
}

/// Decimals that leave `digits` significant ones; at most 6, so that a tiny number shows as one.
int decimals_for(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return std::clamp(digits - 1 - magnitude, 0, 6);
}

int decimals_of(const Number& number, double divisor) {
  const double value = number.value / divisor;
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  if (number.unit == Unit::count || (number.unit == Unit::bytes && whole)) return 0;
  if (number.spread) {
    const double width = (number.spread->high - number.spread->low) / divisor;
    const int decimals = std::clamp(decimals_for(width, 2), decimals_for(value, 3), decimals_for(value, 6));
    return number.unit == Unit::times ? std::min(decimals, 3) : decimals;
  }
  return decimals_for(value, number.unit == Unit::share ? 3 : 4);
}

std::string fixed(double value, int decimals) {
  if (std::isnan(value)) return "undefined";
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
  if (value != 0 && std::abs(value) < 1e-6) return fmt::format("{:.2e}", value);
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

NumberText format_parts(const Number& number) {
  const Scale scale = scale_of(number);
  const int decimals = decimals_of(number, scale.divisor);
  NumberText text;
  text.digits = number.unit == Unit::plain && !number.spread && std::isfinite(number.value)
                    ? fmt::format("{:.4g}", number.value)
                    : fixed(number.value / scale.divisor, decimals);
  text.unit = std::isfinite(number.value) ? scale.symbol : "";
  if (number.spread) {
    text.spread = fmt::format("[{}, {}]", fixed(number.spread->low / scale.divisor, decimals),
                              fixed(number.spread->high / scale.divisor, decimals));
  }
  return text;
}

std::string format_value(const Value& value) {
  return std::visit(
      Overloaded{[](std::monostate) { return std::string("\u2013"); }, [](const std::string& text) { return text; },
                 [](const Number& number) {
                   const NumberText text = format_parts(number);
                   return text.spread.empty() ? text.value() : text.value() + " " + text.spread;
                 }},
      value);
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "an unknown time";
  if (seconds < 120) return fmt::format("{:.{}f} s", seconds, seconds == std::floor(seconds) ? 0 : 1);
  const auto whole = static_cast<std::int64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < 3600)
    return whole % 60 == 0 ? fmt::format("{} min", whole / 60) : fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace kw
