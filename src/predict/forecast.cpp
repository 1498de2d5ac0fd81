#include "predict/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/text.hpp"

namespace kw {
namespace {

/// Who was new in the same way, by name.
std::set<std::string> groups_like(Novelty novelty, std::span<const TimeSample> samples) {
  std::set<std::string> groups;
  for (const auto& sample : samples) {
    const TimeSubject& subject = sample.subject;
    groups.insert(novelty == Novelty::device    ? subject.device_name()
                  : novelty == Novelty::problem ? subject.problem
                                                : subject.shape());
  }
  return groups;
}

Result<void> require_enough(const TimeSubject& subject, std::span<const TimeSample> samples, Novelty novelty) {
  const auto too_little = [&](const std::string& what) {
    return fail(
        Error{errc::predict_too_little,
              fmt::format("too little is known to foretell {} of style {} on {}: {}", subject.problem, subject.style,
                          subject.device_name(), what),
              "make tables with `kernelwright sweep` where there is such a device, and give them with --table"});
  };
  if (samples.size() < k_least_samples) {
    return too_little(fmt::format("{} timed kernels of target {} and that style, and {} are needed", samples.size(),
                                  subject.target, k_least_samples));
  }
  const auto groups = groups_like(novelty, samples);
  const std::size_t least = novelty == Novelty::device ? 2 : novelty == Novelty::nothing ? 1 : 3;
  if (groups.size() >= least) return {};
  return too_little(fmt::format("the {} is new, and errors on a new one were seen of {} alone ({}); {} are needed",
                                to_string(novelty), groups.size(), join(groups), least));
}

/// How many times as long as foretold the candidate took that was foretold to be a group's fastest: the median over
/// groups. Who takes the least of many predictions takes one that erred downwards.
double optimism_of_choice(std::span<const TimeSample> samples, std::span<const HeldOut> held_out) {
  std::map<std::string, const HeldOut*> chosen;
  for (const auto& one : held_out) {
    const TimeSubject& subject = samples[one.sample].subject;
    const HeldOut*& least = chosen[subject.shape() + " " + subject.device_name()];
    if (least == nullptr || one.expected_ns < least->expected_ns) least = &one;
  }
  std::vector<double> misses;
  for (const auto& [group, one] : chosen) {
    misses.push_back(samples[one->sample].time_ns / one->expected_ns);
  }
  if (misses.empty()) return 1;
  std::ranges::sort(misses);
  return misses[misses.size() / 2];
}

ForecastTime forecast_time(const TimeSample& candidate, double expected_ns, double width) {
  const auto time = [&](double factor) { return std::max(candidate.subject.bound_ns, expected_ns * factor); };
  return {time(1), {time(std::exp(-width)), time(std::exp(width)), k_forecast_coverage}, candidate.assignment};
}

}  // namespace

Result<Forecast> forecast(std::span<const TimeSample> samples, std::span<const TimeSample> candidates) {
  KW_CHECK(!candidates.empty(), "a forecast of nothing");
  const TimeSubject& subject = candidates.front().subject;
  std::vector<TimeSample> alike;
  for (const auto& sample : samples) {
    const TimeSubject& known = sample.subject;
    if (known.op == subject.op && known.target == subject.target && known.style == subject.style)
      alike.push_back(sample);
  }
  Forecast result;
  result.novelty = novelty_of(subject, alike);
  KW_TRY_VOID(require_enough(subject, alike, result.novelty));
  result.samples = alike.size();
  result.problems = groups_like(Novelty::problem, alike).size();
  result.shapes = groups_like(Novelty::shape, alike).size();
  result.devices = groups_like(Novelty::device, alike);
  result.bound_ns = subject.bound_ns;
  result.candidates = candidates.size();
  KW_TRY(const auto held_out, hold_out(alike, result.novelty));
  KW_TRY(const auto model, TimeModel::train(alike));
  KW_TRY(const auto times, model.times_ns(candidates));
  const double width = conformal_width(alike, held_out, k_forecast_coverage);
  result.first = forecast_time(candidates.front(), times.front(), width);
  const auto best = static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
  const double raised = times[best] * optimism_of_choice(alike, held_out);
  result.best = raised < times.front() ? forecast_time(candidates[best], raised, width) : result.first;
  return result;
}

}  // namespace kw
