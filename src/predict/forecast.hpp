#pragma once
// What `kernelwright predict` says: the time of a style's first guess and of the best candidate it knows of, on a
// device that need not be here, each with an interval, and on how much of what evidence. Refuses where there is too
// little.

#include <cstddef>
#include <set>
#include <span>
#include <string>

#include "predict/time_model.hpp"
#include "record/attempt.hpp"

namespace kw {

struct ForecastTime {
  double expected_ns = 0;
  Interval ns;  ///< not below what the device's peaks allow
  IntBindings assignment;
};

struct Forecast {
  Novelty novelty = Novelty::device;  ///< what the evidence does not have; the intervals come from errors on what was
                                      ///< new in the same way
  std::size_t samples = 0;            ///< timed kernels that it rests on
  std::size_t problems = 0, shapes = 0;
  std::set<std::string> devices;  ///< names
  double bound_ns = 0;            ///< what the peaks allow
  ForecastTime first;             ///< of the style's first guess
  /// Of the candidate that is foretold to be the fastest, raised by how much such choices were foretold too low; the
  /// style's first guess where that makes it no faster.
  ForecastTime best;
  std::size_t candidates = 0;  ///< that the best was chosen from
};

/// `candidates` are of one subject, the style's first guess first; their times are not looked at. Only samples of the
/// subject's target and style count. errc::predict_too_little: fewer than k_least_samples, or too few groups that were
/// new in the way the subject is (two devices beside it of its kind, or three problems or shapes).
[[nodiscard]] Result<Forecast> forecast(std::span<const TimeSample> samples, std::span<const TimeSample> candidates);

inline constexpr std::size_t k_least_samples = 60;
inline constexpr double k_forecast_coverage = 0.8;

}  // namespace kw
