#pragma once
// Derived figures of a measurement: useful FLOP rate and position under the roofline (Williams, Waterman, Patterson
// 2009: attainable = min(peak FLOP rate, bandwidth * FLOPs per byte), both peaks measured on this device).

#include "verify/session.hpp"

namespace kw {

inline void fill_profile(const Session& session, Measurement& measurement) {
  if (measurement.median_ns <= 0) return;
  measurement.gflops = session.cost.flops / measurement.median_ns;
  if (const auto bound = session.roofline_ns()) measurement.roofline_fraction = *bound / measurement.median_ns;
}

}  // namespace kw
