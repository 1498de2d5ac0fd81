#pragma once
// The frame of a chart with one line: axes, ticks, titles and the line that it is compared with.

#include <string>

#include "report/charts.hpp"
#include "report/scale.hpp"
#include "report/svg.hpp"

namespace kw {

struct ChartFrame {
  AxisScale x;  ///< logarithmic
  AxisScale y;
  std::string x_title;
  std::string y_title;
  std::string y_unit;    ///< behind the numbers at the left; "" for counts
  double reference = 0;  ///< a value of y at which a line is drawn
  std::string reference_label;
};

/// Where the axes lie in a drawing of that size: values from `low` to `high` of each.
[[nodiscard]] AxisScale frame_x(double low, double high, const ChartSize& size);
[[nodiscard]] AxisScale frame_y(double low, double high, bool logarithmic, const ChartSize& size);

void draw_frame(Svg& svg, const ChartFrame& frame, const ChartSize& size);

}  // namespace kw
