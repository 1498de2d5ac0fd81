#include "predict/time_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace kw {
namespace {

constexpr std::size_t k_folds = 5;

double log_ratio_of(const TimeSample& sample) {
  return std::log(sample.time_ns / sample.scale_ns());
}

/// Samples of one value are held out together.
std::string held_out_with(const TimeSample& sample, std::size_t index, Novelty novelty) {
  const TimeSubject& subject = sample.subject;
  switch (novelty) {
    case Novelty::device:
      return subject.device_name();
    case Novelty::problem:
      return subject.problem;
    case Novelty::shape:
      return subject.shape();
    case Novelty::nothing:
      // Neighbours in a table are no more alike than others: its rows are in random order.
      return fmt::format("{}", index % k_folds);
  }
  return {};
}

double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Result<TimeModel> TimeModel::train(std::span<const TimeSample> samples) {
  FeatureNames names(samples);
  const auto group = [](const TimeSample& sample) {
    return sample.subject.shape() + " " + sample.subject.device_name();
  };
  std::map<std::string, double> sizes;
  for (const auto& sample : samples) sizes[group(sample)] += 1;
  const double usual = static_cast<double>(samples.size()) / static_cast<double>(sizes.size());
  std::vector<float> labels;
  std::vector<float> weights;
  for (const auto& sample : samples) {
    KW_CHECK(sample.time_ns > 0 && sample.subject.bound_ns > 0, "a sample without time or bound");
    labels.push_back(static_cast<float>(log_ratio_of(sample)));
    weights.push_back(static_cast<float>(usual / sizes[group(sample)]));
  }
  KW_TRY(auto trees, BoostedTrees::train(names.rows(samples), labels, weights, TreeSettings()));
  return TimeModel(std::move(names), std::move(trees));
}

Result<std::vector<double>> TimeModel::times_ns(std::span<const TimeSample> samples) const {
  KW_TRY(const auto log_ratios, trees_.predict(names_.rows(samples)));
  std::vector<double> times;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    times.push_back(samples[i].scale_ns() * std::exp(static_cast<double>(log_ratios[i])));
  }
  return times;
}

std::string_view to_string(Novelty novelty) {
  switch (novelty) {
    case Novelty::nothing:
      return "nothing";
    case Novelty::shape:
      return "shape";
    case Novelty::problem:
      return "problem";
    case Novelty::device:
      return "device";
  }
  return "unknown";
}

Novelty novelty_of(const TimeSubject& subject, std::span<const TimeSample> samples) {
  Novelty least = Novelty::device;
  for (const auto& sample : samples) {
    const TimeSubject& known = sample.subject;
    if (known.target != subject.target || known.style != subject.style) continue;
    if (known.device_name() != subject.device_name()) continue;
    const Novelty here = known.problem != subject.problem ? Novelty::problem
                         : known.axes != subject.axes     ? Novelty::shape
                                                          : Novelty::nothing;
    least = std::min(least, here);
  }
  return least;
}

Result<std::vector<HeldOut>> hold_out(std::span<const TimeSample> samples, Novelty novelty) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < samples.size(); ++i) groups[held_out_with(samples[i], i, novelty)].push_back(i);
  std::vector<HeldOut> predictions;
  if (groups.size() < 2) return predictions;
  for (const auto& [key, members] : groups) {
    std::vector<TimeSample> seen;
    std::vector<TimeSample> unseen;
    std::vector<double> over_bounds;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const bool is_seen = held_out_with(samples[i], i, novelty) != key;
      (is_seen ? seen : unseen).push_back(samples[i]);
      if (is_seen) over_bounds.push_back(samples[i].time_ns / samples[i].subject.bound_ns);
    }
    KW_TRY(const auto model, TimeModel::train(seen));
    KW_TRY(const auto expected, model.times_ns(unseen));
    const double usual = middle_of(over_bounds);
    for (std::size_t i = 0; i < members.size(); ++i) {
      predictions.push_back({members[i], expected[i], usual * unseen[i].subject.bound_ns});
    }
  }
  return predictions;
}

double conformal_width(std::span<const TimeSample> samples, std::span<const HeldOut> held_out, double coverage) {
  std::vector<double> errors;
  for (const auto& one : held_out) errors.push_back(std::abs(std::log(one.expected_ns / samples[one.sample].time_ns)));
  std::ranges::sort(errors);
  const auto rank = static_cast<std::size_t>(std::ceil(coverage * static_cast<double>(errors.size() + 1)));
  return rank == 0 || rank > errors.size() ? std::numeric_limits<double>::infinity() : errors[rank - 1];
}

}  // namespace kw
