#include "predict/time_sample.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "hardware/device_match.hpp"

namespace kw {

std::string TimeSubject::shape() const {
  return problem + " " +
         join(axes, " ", [](const auto& axis) { return fmt::format("{}={}", axis.first, axis.second); });
}

std::string TimeSubject::device_name() const {
  return table_name(device);
}

std::vector<TimeSample> samples_of(const SweepTable& table) {
  const SweepIdentity& of = table.of;
  std::vector<TimeSample> samples;
  if (!(of.bound_ns > 0)) return samples;
  const TimeSubject subject{of.problem,      of.op,     of.dtype, of.axes,   of.useful_flops,
                            of.useful_bytes, of.target, of.style, of.device, of.bound_ns};
  double first_estimate = 0;
  for (const auto& row : table.rows) {
    if (row.origin == "seed 1") first_estimate = row.estimate;
    const auto cost = row.cost_ns();
    if (!cost) continue;
    TimeSample sample{subject, row.assignment};
    if (first_estimate > 0 && row.estimate > 0 && std::isfinite(row.estimate))
      sample.relative_estimate = row.estimate / first_estimate;
    sample.registers = row.registers;
    sample.spill_bytes = row.spill_bytes;
    sample.shared_bytes = row.shared_bytes;
    sample.time_ns = *cost;
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace kw
