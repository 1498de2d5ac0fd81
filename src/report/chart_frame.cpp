#include "report/chart_frame.hpp"

namespace kw {

AxisScale frame_x(double low, double high, const ChartSize& size) {
  constexpr double k_left = 52, k_right = 16;
  return {low, high, k_left, size.width - k_right, true};
}

AxisScale frame_y(double low, double high, bool logarithmic, const ChartSize& size) {
  constexpr double k_top = 46, k_bottom = 42;
  return {low, high, size.height - k_bottom, k_top, logarithmic};
}

void draw_frame(Svg& svg, const ChartFrame& frame, const ChartSize& size) {
  constexpr int k_ticks = 5;
  const AxisScale& x = frame.x;
  const AxisScale& y = frame.y;
  for (const double tick : y.logarithmic ? logarithmic_ticks(y.low, y.high) : linear_ticks(y.high, k_ticks)) {
    svg.line("grid", x.at_low, y(tick), x.at_high, y(tick));
    svg.label("tick", x.at_low - 8, y(tick) + 4, "end", fmt::format("{:g}{}", tick, frame.y_unit));
  }
  for (const double tick : logarithmic_ticks(x.low, x.high)) {
    svg.line("axis", x(tick), y.at_low, x(tick), y.at_low + 5);
    svg.label("tick", x(tick), y.at_low + 19, "middle", fmt::format("{:g}", tick));
  }
  svg.line("axis", x.at_low, y.at_low, x.at_high, y.at_low);
  svg.label("axis-title", x.at_high, size.height - 6, "end", frame.x_title + " (log)");
  svg.label("axis-title", 4, y.at_high - 18, "start", frame.y_title);
  svg.line("reference", x.at_low, y(frame.reference), x.at_high, y(frame.reference));
  svg.label("reference-label", x.at_high, y(frame.reference) - 6, "end", frame.reference_label);
}

}  // namespace kw
