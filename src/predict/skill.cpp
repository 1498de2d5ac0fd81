#include "predict/skill.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

namespace kw {
namespace {

std::vector<double> mean_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double mean = static_cast<double>(first + end - 1) / 2;
    for (; first < end; ++first) ranks[order[first]] = mean;
  }
  return ranks;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// What was predicted and timed of one group.
struct GroupTimes {
  std::vector<double> timed, predicted, estimated_timed, estimated;
};

}  // namespace

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  KW_CHECK(a.size() == b.size(), "{} and {} values", a.size(), b.size());
  if (a.empty()) return 0;
  const auto x = mean_ranks(a);
  const auto y = mean_ranks(b);
  const double middle = static_cast<double>(a.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - middle) * (y[i] - middle);
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

Skill skill_of(std::span<const TimeSample> samples, std::span<const HeldOut> predictions) {
  std::map<std::string, GroupTimes> groups;
  std::vector<double> timed, predicted, roofline, errors, roofline_errors;
  for (const auto& one : predictions) {
    const TimeSample& sample = samples[one.sample];
    timed.push_back(sample.time_ns);
    predicted.push_back(one.expected_ns);
    roofline.push_back(one.roofline_ns);
    errors.push_back(std::abs(predicted.back() / sample.time_ns - 1));
    roofline_errors.push_back(std::abs(roofline.back() / sample.time_ns - 1));
    GroupTimes& group = groups[sample.subject.shape() + " " + sample.subject.device_name()];
    group.timed.push_back(sample.time_ns);
    group.predicted.push_back(predicted.back());
    if (!sample.estimate) continue;
    group.estimated_timed.push_back(sample.time_ns);
    group.estimated.push_back(*sample.estimate);
  }
  std::vector<double> ranks, style_ranks;
  for (const auto& [key, group] : groups) {
    if (group.timed.size() >= 3) ranks.push_back(rank_correlation(group.predicted, group.timed));
    if (group.estimated.size() >= 3) style_ranks.push_back(rank_correlation(group.estimated, group.estimated_timed));
  }
  Skill skill;
  skill.samples = predictions.size();
  skill.groups = groups.size();
  skill.rank_in_group = median_of(std::move(ranks));
  skill.style_groups = style_ranks.size();
  skill.style_rank_in_group = median_of(std::move(style_ranks));
  skill.rank = rank_correlation(predicted, timed);
  skill.roofline_rank = rank_correlation(roofline, timed);
  skill.error = median_of(std::move(errors));
  skill.roofline_error = median_of(std::move(roofline_errors));
  return skill;
}

}  // namespace kw
