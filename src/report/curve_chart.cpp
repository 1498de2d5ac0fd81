#include <algorithm>

#include "report/chart_frame.hpp"
#include "report/charts.hpp"
#include "report/format.hpp"

namespace kw {
namespace {

/// From half of the first step, so that it has room at its left.
ChartFrame curve_frame(const Curve& curve, const ChartSize& size) {
  const double first = curve.steps.empty() ? 1.0 : std::max(curve.steps.front().seconds, 1e-3);
  const double end = std::max({curve.end_seconds, curve.steps.empty() ? 0.0 : curve.steps.back().seconds, 2 * first});
  const auto total = static_cast<double>(std::max<std::int64_t>(curve.total, 1));
  return {frame_x(first / 2, end, size),
          frame_y(0, total, false, size),
          curve.seconds_title,
          curve.done_title,
          "",
          total,
          fmt::format("all {}", curve.total)};
}

std::string describe_curve(const Curve& curve) {
  const std::int64_t done = curve.steps.empty() ? 0 : curve.steps.back().done;
  return fmt::format("{} of {} within {}.", done, curve.total, format_duration(curve.end_seconds));
}

}  // namespace

std::string curve_svg(const Curve& curve, const ChartSize& size) {
  Svg svg(size.width, size.height, size.variant, curve.key, curve.caption, describe_curve(curve));
  const ChartFrame frame = curve_frame(curve, size);
  draw_frame(svg, frame, size);
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
