#pragma once
// For tests: kernels whose times follow a rule that trees can learn, so that how well they did can be known.

#include <cmath>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "predict/time_sample.hpp"

namespace kw::synthetic {

inline TimeSubject subject(const std::string& problem, std::int64_t rows, const std::string& device) {
  TimeSubject subject;
  subject.problem = problem;
  subject.op = "attention";
  subject.dtype = "f32";
  subject.axes = {{"Sq", rows}};
  subject.useful_flops = 1e6 * static_cast<double>(rows);
  subject.useful_bytes = 1e3 * static_cast<double>(rows);
  subject.target = "opencl";
  subject.style = "vector";
  subject.device.name = device;
  subject.device.peak_f32_flops = device == "fast" ? 4e11 : device == "slow" ? 5e10 : 2e11;
  subject.device.compute_units = device == "fast" ? 16 : device == "slow" ? 1 : 4;
  subject.bound_ns = 1e9 * subject.useful_flops / subject.device.peak_f32_flops;
  return subject;
}

/// The best is A=4, B=1, at 1.3 times the bound; the scatter is that of the times' logarithms.
inline TimeSample timed(const TimeSubject& subject, std::int64_t a, std::int64_t b, double scatter, Rng& rng) {
  TimeSample sample{subject, {{"A", a}, {"B", b}}};
  const double ratio = 1.3 * (1 + 0.2 * std::abs(static_cast<double>(a - 4))) * (b == 1 ? 1.0 : 1.5);
  sample.time_ns = subject.bound_ns * ratio * std::exp(scatter * rng.normal());
  return sample;
}

inline std::vector<TimeSample> candidates(const TimeSubject& subject, double scatter, Rng& rng) {
  std::vector<TimeSample> all;
  for (std::int64_t a = 1; a <= 8; ++a) {
    for (std::int64_t b = 0; b <= 1; ++b) all.push_back(timed(subject, a, b, scatter, rng));
  }
  return all;
}

/// Every problem in every size on every device, 16 candidates each.
inline std::vector<TimeSample> samples(const std::vector<std::string>& problems, const std::vector<std::int64_t>& sizes,
                                       const std::vector<std::string>& devices, double scatter = 0.02) {
  Rng rng(11);
  std::vector<TimeSample> all;
  for (const auto& problem : problems) {
    for (const auto size : sizes) {
      for (const auto& device : devices) {
        for (auto& one : candidates(subject(problem, size, device), scatter, rng)) all.push_back(std::move(one));
      }
    }
  }
  return all;
}

}  // namespace kw::synthetic
