#include <algorithm>

#include "report/charts.hpp"
#include "report/format.hpp"
#include "report/scale.hpp"
#include "report/svg.hpp"

namespace kw {
namespace {

struct CurveFrame {
  AxisScale x;  ///< seconds
  AxisScale y;  ///< how many
};

/// From the decade's tick below the first step, so that it has room at its left.
CurveFrame curve_frame(const Curve& curve, const ChartSize& size) {
  constexpr double k_left = 52, k_right = 12, k_top = 46, k_bottom = 42;
  double first = curve.steps.empty() ? 1.0 : std::max(curve.steps.front().seconds, 1e-3);
  const double end = std::max({curve.end_seconds, curve.steps.empty() ? 0.0 : curve.steps.back().seconds, 2 * first});
  first /= 2;
  return {{first, end, k_left, size.width - k_right, true},
          {0, static_cast<double>(std::max<std::int64_t>(curve.total, 1)), size.height - k_bottom, k_top, false}};
}

void draw_curve_axes(Svg& svg, const Curve& curve, const CurveFrame& frame, const ChartSize& size) {
  for (const double tick : linear_ticks(frame.y.high, 5)) {
    svg.line("grid", frame.x.at_low, frame.y(tick), frame.x.at_high, frame.y(tick));
    svg.label("tick", frame.x.at_low - 8, frame.y(tick) + 4, "end", fmt::format("{:g}", tick));
  }
  for (const double tick : logarithmic_ticks(frame.x.low, frame.x.high)) {
    svg.line("axis", frame.x(tick), frame.y.at_low, frame.x(tick), frame.y.at_low + 5);
    svg.label("tick", frame.x(tick), frame.y.at_low + 19, "middle", fmt::format("{:g}", tick));
  }
  svg.line("axis", frame.x.at_low, frame.y.at_low, frame.x.at_high, frame.y.at_low);
  svg.label("axis-title", frame.x.at_high, size.height - 6, "end", curve.seconds_title + " (log)");
  svg.label("axis-title", 4, frame.y.at_high - 18, "start", curve.done_title);
  svg.line("reference", frame.x.at_low, frame.y(frame.y.high), frame.x.at_high, frame.y(frame.y.high));
  svg.label("reference-label", frame.x.at_high, frame.y(frame.y.high) - 6, "end", fmt::format("all {}", curve.total));
}

std::string describe_curve(const Curve& curve) {
  const std::int64_t done = curve.steps.empty() ? 0 : curve.steps.back().done;
  return fmt::format("{} of {} within {}.", done, curve.total, format_duration(curve.end_seconds));
}

}  // namespace

std::string curve_svg(const Curve& curve, const ChartSize& size) {
  Svg svg(size.width, size.height, size.variant, curve.key, curve.caption, describe_curve(curve));
  const CurveFrame frame = curve_frame(curve, size);
  draw_curve_axes(svg, curve, frame, size);
  std::string line = fmt::format("M{:.1f} {:.1f}", frame.x.at_low, frame.y(0));
  for (const auto& step : curve.steps) {
    line += fmt::format("H{:.1f}V{:.1f}", frame.x(step.seconds), frame.y(static_cast<double>(step.done)));
  }
  svg.path("steps", line + fmt::format("H{:.1f}", frame.x.at_high));
  for (const auto& step : curve.steps) {
    svg.circle("best", frame.x(step.seconds), frame.y(static_cast<double>(step.done)), 3,
               fmt::format("{} after {}", step.done, format_duration(step.seconds)));
  }
  return svg.finish();
}

}  // namespace kw
