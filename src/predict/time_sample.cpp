#include "predict/time_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "hardware/device_match.hpp"

namespace kw {

bool is_an_estimate(double clocks) {
  return clocks > 0 && std::isfinite(clocks);
}

std::string TimeSubject::shape() const {
  return problem + " " +
         join(axes, " ", [](const auto& axis) { return fmt::format("{}={}", axis.first, axis.second); });
}

std::string TimeSubject::device_name() const {
  return table_name(device);
}

double TimeSample::scale_ns() const {
  return std::max(estimate.value_or(subject.first_estimate), subject.bound_ns);
}

std::vector<TimeSample> samples_of(const SweepTable& table) {
  const SweepIdentity& of = table.of;
  std::vector<TimeSample> samples;
  if (!(of.bound_ns > 0)) return samples;
  TimeSubject subject{of.problem,      of.op,     of.dtype, of.axes,   of.useful_flops,
                      of.useful_bytes, of.target, of.style, of.device, of.bound_ns};
  const auto first = std::ranges::find(table.rows, "seed 1", &SweepRow::origin);
  if (first != table.rows.end() && is_an_estimate(first->estimate)) subject.first_estimate = first->estimate;
  for (const auto& row : table.rows) {
    const auto cost = row.cost_ns();
    if (!cost) continue;
    TimeSample sample{subject, row.assignment};
    if (is_an_estimate(row.estimate)) sample.estimate = row.estimate;
    sample.registers = row.registers;
    sample.spill_bytes = row.spill_bytes;
    sample.shared_bytes = row.shared_bytes;
    sample.time_ns = *cost;
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace kw
