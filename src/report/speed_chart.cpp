#include <algorithm>

#include "report/charts.hpp"
#include "report/format.hpp"
#include "report/scale.hpp"
#include "report/svg.hpp"

namespace kw {
namespace {

struct SpeedFrame {
  AxisScale x;  ///< units of the axis below
  AxisScale y;  ///< times the baseline's speed
};

/// From half of the first step, so that it has room at its left.
SpeedFrame speed_frame(const SpeedCurve& curve, const ChartSize& size) {
  constexpr double k_left = 52, k_right = 16, k_top = 46, k_bottom = 42;
  double first = 0, low = 1, high = 1;
  for (const auto& step : curve.steps) {
    const double spent = step.spent.value / curve.per_unit;
    if (spent > 0 && (first == 0 || spent < first)) first = spent;
    low = std::min(low, step.speedup);
    high = std::max(high, step.speedup);
  }
  if (first == 0) first = 1;
  const double end = std::max(curve.end.value / curve.per_unit, first);  // the line ends with what was spent
  return {{first / 2, end, k_left, size.width - k_right, true},
          {low / 1.15, high * 1.15, size.height - k_bottom, k_top, true}};
}

void draw_speed_axes(Svg& svg, const SpeedCurve& curve, const SpeedFrame& frame, const ChartSize& size) {
  for (const double tick : logarithmic_ticks(frame.y.low, frame.y.high)) {
    svg.line("grid", frame.x.at_low, frame.y(tick), frame.x.at_high, frame.y(tick));
    svg.label("tick", frame.x.at_low - 8, frame.y(tick) + 4, "end", fmt::format("{:g}\u00d7", tick));
  }
  for (const double tick : logarithmic_ticks(frame.x.low, frame.x.high)) {
    svg.line("axis", frame.x(tick), frame.y.at_low, frame.x(tick), frame.y.at_low + 5);
    svg.label("tick", frame.x(tick), frame.y.at_low + 19, "middle", fmt::format("{:g}", tick));
  }
  svg.line("axis", frame.x.at_low, frame.y.at_low, frame.x.at_high, frame.y.at_low);
  svg.label("axis-title", frame.x.at_high, size.height - 6, "end", curve.spent_title + " (log)");
  svg.label("axis-title", 4, frame.y.at_high - 18, "start", "times the speed of " + curve.baseline + " (log)");
  svg.line("reference", frame.x.at_low, frame.y(1), frame.x.at_high, frame.y(1));
  svg.label("reference-label", frame.x.at_high, frame.y(1) - 6, "end", "baseline " + curve.baseline);
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
  const SpeedFrame frame = speed_frame(curve, size);
  draw_speed_axes(svg, curve, frame, size);
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
