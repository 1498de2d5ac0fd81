#include "predict/time_features.hpp"

#include <cmath>
#include <limits>

namespace kw {
namespace {

using NamedFeatures = std::map<std::string, float, std::less<>>;

void add_size(NamedFeatures& features, std::string name, double value) {
  if (value > 0 && std::isfinite(value)) features[std::move(name)] = static_cast<float>(std::log2(value));
}

void add_device(NamedFeatures& features, const DeviceFacts& device) {
  add_size(features, "device.compute_units", static_cast<double>(device.compute_units));
  add_size(features, "device.shared_bytes_per_block", static_cast<double>(device.shared_bytes_per_block));
  add_size(features, "device.l1_cache_bytes", static_cast<double>(device.l1_cache_bytes));
  add_size(features, "device.l2_cache_bytes", static_cast<double>(device.l2_cache_bytes));
  add_size(features, "device.vector_floats", static_cast<double>(device.vector_floats));
  add_size(features, "device.peak_f32_flops", device.peak_f32_flops);
  add_size(features, "device.peak_bytes", device.peak_bytes);
  features["device.is_gpu"] = device.kind == DeviceKind::gpu ? 1 : 0;
  if (!device.gpu) return;
  add_size(features, "device.peak_f16_flops", device.gpu->peak_f16_flops);
  add_size(features, "device.registers_per_unit", static_cast<double>(device.gpu->registers_per_unit));
  add_size(features, "device.shared_bytes_per_unit", static_cast<double>(device.gpu->shared_bytes_per_unit));
}

void add_report(NamedFeatures& features, const TimeSample& sample) {
  const auto add = [&](const char* name, const std::optional<std::int64_t>& reported) {
    if (reported) features[name] = static_cast<float>(*reported);
  };
  add("report.registers", sample.registers);
  add("report.spill_bytes", sample.spill_bytes);
  add("report.shared_bytes", sample.shared_bytes);
}

}  // namespace

NamedFeatures named_features(const TimeSample& sample) {
  const TimeSubject& subject = sample.subject;
  NamedFeatures features;
  for (const auto* choice : {&subject.op, &subject.dtype, &subject.target, &subject.style}) {
    if (!choice->empty()) features["is " + *choice] = 1;
  }
  for (const auto& [axis, extent] : subject.axes) add_size(features, "axis." + axis, static_cast<double>(extent));
  add_size(features, "flops", subject.useful_flops);
  add_size(features, "bytes", subject.useful_bytes);
  add_size(features, "flops_per_byte", subject.useful_flops / subject.useful_bytes);
  add_size(features, "bound_ns", subject.bound_ns);
  add_device(features, subject.device);
  for (const auto& [name, value] : sample.assignment) features["tunable." + name] = static_cast<float>(value);
  if (sample.estimate) {
    if (subject.first_estimate > 0) {
      add_size(features, "estimate over first", *sample.estimate / subject.first_estimate);
    }
    add_size(features, "estimate over bound", *sample.estimate / subject.bound_ns);
  }
  add_report(features, sample);
  return features;
}

FeatureNames::FeatureNames(std::span<const TimeSample> samples) {
  for (const auto& sample : samples) {
    for (const auto& entry : named_features(sample)) columns_.emplace(entry.first, 0);
  }
  std::size_t next = 0;
  for (auto& entry : columns_) entry.second = next++;
}

FeatureRows FeatureNames::rows(std::span<const TimeSample> samples) const {
  FeatureRows rows{columns_.size(), {}};
  rows.values.assign(samples.size() * columns_.size(), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (const auto& [name, value] : named_features(samples[i])) {
      const auto column = columns_.find(name);
      if (column != columns_.end()) rows.values[i * columns_.size() + column->second] = value;
    }
  }
  return rows;
}

}  // namespace kw
