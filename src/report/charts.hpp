#pragma once
// The charts of a report as inline SVG. Colours and fonts come from classes that the page's style sheet knows
// (html_style.hpp); every mark has a <title>, every chart a <title> and a <desc>.

#include <string>

#include "report/model.hpp"

namespace kw {

/// The user units of one drawing. A page shows the wide or the narrow one, so that text keeps its size on a phone.
struct ChartSize {
  double width = 960;
  double height = 400;
  const char* variant = "wide";  ///< class of the <svg>, and part of its ids
};
inline constexpr ChartSize k_wide_chart{960, 400, "wide"};
inline constexpr ChartSize k_narrow_chart{400, 340, "narrow"};

/// Bars from zero with their intervals as whiskers. The height follows from the number of bars.
[[nodiscard]] std::string bars_svg(const Bars& bars, const ChartSize& size);

/// x: elapsed seconds, linear. y: time, logarithmic. Candidates that were never timed are marks on a lane at the top.
[[nodiscard]] std::string progress_svg(const Progress& progress, const ChartSize& size);

/// x: seconds, logarithmic, because most is done early. y: how many of the total, linear.
[[nodiscard]] std::string curve_svg(const Curve& curve, const ChartSize& size);

/// x: what was spent, logarithmic, as gains get rarer. y: times the baseline's speed, logarithmic, with the baseline
/// at 1.
[[nodiscard]] std::string speed_curve_svg(const SpeedCurve& curve, const ChartSize& size);

}  // namespace kw
