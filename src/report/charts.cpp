#include "report/charts.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/scale.hpp"
#include "report/svg.hpp"

namespace kw {
namespace {

constexpr double k_bar_row = 58;
constexpr double k_bar_height = 18;

double longest(const Bars& bars) {
  double high = 0;
  for (const auto& bar : bars.bars) {
    high = std::max({high, bar.time.value, bar.time.spread ? bar.time.spread->high : 0.0});
  }
  return std::isfinite(high) && high > 0 ? high : 1;
}

std::string describe(const Bars& bars) {
  return join(bars.bars, "; ", [](const auto& bar) { return bar.label + ": " + format_value(bar.time); }) + ".";
}

void draw_bar(Svg& svg, const Bars::Bar& bar, const AxisScale& x, double top) {
  svg.label("bar-label", x.at_low, top + 14, "start", bar.label);
  svg.label("bar-value", x.at_high, top + 14, "end", format_value(bar.time));
  const double y = top + 22;
  svg.rectangle(bar.emphasised ? "bar emphasised" : "bar", x.at_low, y, x(bar.time.value) - x.at_low, k_bar_height);
  if (!bar.time.spread || !std::isfinite(bar.time.spread->low) || !std::isfinite(bar.time.spread->high)) return;
  const double low = x(bar.time.spread->low);
  const double high = x(bar.time.spread->high);
  const double middle = y + k_bar_height / 2;
  svg.line("whisker", low, middle, high, middle);
  svg.line("whisker", low, middle - 5, low, middle + 5);
  svg.line("whisker", high, middle - 5, high, middle + 5);
}

/// The plot area and its axes.
struct Frame {
  AxisScale x;
  AxisScale y;  ///< in milliseconds
  double lane;  ///< centre of the lane of the untimed ones
};

struct Range {
  double low = 0;
  double high = 0;
};

/// All times that are drawn, in milliseconds, with some air; nothing when none was.
std::optional<Range> time_range(const Progress& progress) {
  Range range{1e300, 0};
  const auto extend = [&](double ns) {
    if (!std::isfinite(ns) || ns <= 0) return;
    range.low = std::min(range.low, ns * 1e-6);
    range.high = std::max(range.high, ns * 1e-6);
  };
  for (const auto& point : progress.points) {
    if (point.time_ns) extend(*point.time_ns);
  }
  for (const auto& baseline : progress.baselines) extend(baseline.time_ns);
  if (range.high == 0) return std::nullopt;
  return Range{range.low / 1.15, range.high * 1.15};
}

Frame frame_of(const Progress& progress, const Range& times, const ChartSize& size) {
  const double seconds = std::isfinite(progress.end_seconds) && progress.end_seconds > 0 ? progress.end_seconds : 1;
  constexpr double k_left = 52, k_right = 12, k_top = 46, k_bottom = 42;
  return {{0, seconds, k_left, size.width - k_right, false},
          {times.low, times.high, size.height - k_bottom, k_top, true},
          18};
}

void draw_axes(Svg& svg, const Frame& frame, const ChartSize& size) {
  for (const double tick : logarithmic_ticks(frame.y.low, frame.y.high)) {
    svg.line("grid", frame.x.at_low, frame.y(tick), frame.x.at_high, frame.y(tick));
    svg.label("tick", frame.x.at_low - 8, frame.y(tick) + 4, "end", fmt::format("{:g}", tick));
  }
  for (const double tick : linear_ticks(frame.x.high, size.width > 600 ? 10 : 5)) {
    svg.line("axis", frame.x(tick), frame.y.at_low, frame.x(tick), frame.y.at_low + 5);
    svg.label("tick", frame.x(tick), frame.y.at_low + 19, "middle", fmt::format("{:g}", tick));
  }
  svg.line("axis", frame.x.at_low, frame.y.at_low, frame.x.at_high, frame.y.at_low);
  svg.label("axis-title", frame.x.at_high, size.height - 6, "end", "elapsed, s");
  svg.label("axis-title", 4, frame.y.at_high - 8, "start", "time, ms (log)");
  svg.line("lane", frame.x.at_low, frame.lane, frame.x.at_high, frame.lane);
}

/// The best time so far, as a step line to the end of the budget.
std::string best_steps(const Progress& progress, const Frame& frame) {
  std::string data;
  for (const auto& point : progress.points) {
    if (point.outcome != Progress::Outcome::best || !point.time_ns) continue;
    const double x = frame.x(point.elapsed_seconds);
    const double y = frame.y(*point.time_ns * 1e-6);
    data += data.empty() ? fmt::format("M{:.1f} {:.1f}", x, y) : fmt::format("H{:.1f}V{:.1f}", x, y);
  }
  return data.empty() ? data : data + fmt::format("H{:.1f}", frame.x.at_high);
}

void draw_points(Svg& svg, const Progress& progress, const Frame& frame, Progress::Outcome outcome) {
  for (const auto& point : progress.points) {
    if (point.outcome != outcome) continue;
    const double x = frame.x(point.elapsed_seconds);
    if (outcome == Progress::Outcome::rejected) {
      svg.cross("rejected", x, frame.lane, 3.5, point.label);
    } else if (!point.time_ns) {
      svg.circle("untimed", x, frame.lane, 3, point.label);
    } else if (outcome == Progress::Outcome::best) {
      svg.circle("best", x, frame.y(*point.time_ns * 1e-6), 4.5, point.label);
    } else {
      svg.circle("timed", x, frame.y(*point.time_ns * 1e-6), 3, point.label);
    }
  }
}

std::string describe(const Progress& progress) {
  std::int64_t counts[4] = {};
  for (const auto& point : progress.points) ++counts[static_cast<std::size_t>(point.outcome)];
  return fmt::format(
      "{} candidates over {}: {} became the best, {} more were timed, {} were not timed, {} were rejected.",
      progress.points.size(), format_duration(progress.end_seconds), counts[0], counts[1], counts[2], counts[3]);
}

}  // namespace

std::string bars_svg(const Bars& bars, const ChartSize& size) {
  const double height = k_bar_row * static_cast<double>(bars.bars.size());
  Svg svg(size.width, height, size.variant, bars.key, bars.caption, describe(bars));
  const AxisScale x{0, longest(bars), 1, size.width - 1, false};
  double top = 0;
  for (const auto& bar : bars.bars) {
    draw_bar(svg, bar, x, top);
    top += k_bar_row;
  }
  return svg.finish();
}

std::string progress_svg(const Progress& progress, const ChartSize& size) {
  Svg svg(size.width, size.height, size.variant, progress.key, progress.caption, describe(progress));
  // Without a single time there is still the lane, over an empty axis of no meaning but its place.
  const Frame frame = frame_of(progress, time_range(progress).value_or(Range{1, 10}), size);
  draw_axes(svg, frame, size);
  for (const auto& baseline : progress.baselines) {
    if (!std::isfinite(baseline.time_ns)) continue;
    const double y = frame.y(baseline.time_ns * 1e-6);
    svg.line("reference", frame.x.at_low, y, frame.x.at_high, y);
    svg.label("reference-label", frame.x.at_high, y - 6, "end", "baseline " + baseline.name);
  }
  for (const auto outcome : {Progress::Outcome::rejected, Progress::Outcome::untimed, Progress::Outcome::timed}) {
    draw_points(svg, progress, frame, outcome);
  }
  if (const std::string steps = best_steps(progress, frame); !steps.empty()) svg.path("steps", steps);
  draw_points(svg, progress, frame, Progress::Outcome::best);
  return svg.finish();
}

}  // namespace kw
