#include <algorithm>

#include "report/chart_frame.hpp"
#include "report/charts.hpp"
#include "report/format.hpp"

namespace kw {
namespace {

/// From half of the first step, so that it has room at its left.
ChartFrame speed_frame(const SpeedCurve& curve, const ChartSize& size) {
  double first = 0, low = 1, high = 1;
  for (const auto& step : curve.steps) {
    const double spent = step.spent.value / curve.per_unit;
    if (spent > 0 && (first == 0 || spent < first)) first = spent;
    low = std::min(low, step.speedup);
    high = std::max(high, step.speedup);
  }
  if (first == 0) first = 1;
  const double end = std::max(curve.end.value / curve.per_unit, first);  // the line ends with what was spent
  return {frame_x(first / 2, end, size),
          frame_y(low / 1.15, high * 1.15, true, size),
          curve.spent_title,
          "times the speed of " + curve.baseline + " (log)",
          "\u00d7",
          1,
          "baseline " + curve.baseline};
}

std::string describe_speed(const SpeedCurve& curve) {
  const auto& first = curve.steps.front();
  const auto& last = curve.steps.back();
  return fmt::format("{} the speed of {} after {} {}, {} after {}.",
                     format_value(Number{first.speedup, Unit::times, {}}), curve.baseline, format_value(first.spent),
                     curve.spent_title, format_value(Number{last.speedup, Unit::times, {}}), format_value(last.spent));
}

}  // namespace

std::string speed_curve_svg(const SpeedCurve& curve, const ChartSize& size) {
  Svg svg(size.width, size.height, size.variant, curve.key, curve.caption, describe_speed(curve));
  const ChartFrame frame = speed_frame(curve, size);
  draw_frame(svg, frame, size);
  const auto x = [&](const SpeedCurve::Step& step) { return frame.x(step.spent.value / curve.per_unit); };
  std::string line = fmt::format("M{:.1f} {:.1f}", x(curve.steps.front()), frame.y(curve.steps.front().speedup));
  for (const auto& step : curve.steps) line += fmt::format("H{:.1f}V{:.1f}", x(step), frame.y(step.speedup));
  svg.path("steps", line + fmt::format("H{:.1f}", frame.x.at_high));
  for (const auto& step : curve.steps) {
    svg.circle("best", x(step), frame.y(step.speedup), 4.5,
               fmt::format("candidate {} by {}: {} after {}", step.ordinal, step.proposer,
                           format_value(Number{step.speedup, Unit::times, {}}), format_value(step.spent)));
  }
  return svg.finish();
}

}  // namespace kw
