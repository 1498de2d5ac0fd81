#include "loop/time_samples.hpp"

#include <utility>

#include "codegen/codegen.hpp"
#include "propose/search/search_space.hpp"
#include "record/peak_times.hpp"

namespace kw {
namespace {

/// Nothing where a model cannot learn from the run.
std::optional<TimeSubject> subject_of(const RunRecord& run, const Problem& problem) {
  const WorkloadCost work{run.useful_flops, run.useful_bytes, run.useful_flops};
  const auto times = peak_times(run.device, problem, work);
  if (!times || !(times->bound_ns() > 0) || problem.outputs.empty()) return std::nullopt;
  return TimeSubject{problem.name,
                     problem.op,
                     std::string(to_string(problem.outputs.front().dtype)),
                     problem.primary().axes,
                     run.useful_flops,
                     run.useful_bytes,
                     run.target,
                     *run.style,
                     run.device,
                     times->bound_ns()};
}

/// The style's cost model of its first guess; 0: unknown.
double first_estimate(const Style& style, const Problem& problem, const DeviceFacts& device, SearchSpace& space) {
  const auto seeds = style.seeds(problem, device);
  const auto point = space.point_at(seeds.empty() ? IntBindings{} : seeds.front());
  return point ? space.estimate(*point) : 0;
}

/// One run's attempts.
void add_attempts(const std::vector<Attempt>& attempts, const TimeSubject& subject, SearchSpace& space, double first,
                  std::vector<TimeSample>& samples) {
  for (const auto& attempt : attempts) {
    const bool is_timed = attempt.verdict.right_so_far() && attempt.measurement && attempt.measurement->median_ns > 0;
    if (!is_timed) continue;
    TimeSample sample{subject, attempt.candidate.tunables};
    const auto point = space.point_of(attempt.candidate);
    const auto still = point ? space.candidate_at(*point) : std::nullopt;
    if (still && still->id() == attempt.candidate.id()) {
      sample.assignment = space.assignment(*point);
      if (first > 0) sample.relative_estimate = space.estimate(*point) / first;
    }
    sample.registers = attempt.build.registers;
    sample.spill_bytes = attempt.build.spill_bytes;
    sample.shared_bytes = attempt.build.shared_bytes;
    sample.time_ns = attempt.measurement->median_ns;
    samples.push_back(std::move(sample));
  }
}

}  // namespace

Result<std::vector<TimeSample>> candidates_to_foretell(const Problem& problem, const TimeSubject& subject,
                                                       std::size_t at_most, std::uint64_t seed) {
  KW_TRY(const Style* style, find_style(subject.op, subject.target, subject.style));
  KW_TRY(auto space, SearchSpace::open(*style, problem, subject.device));
  const double first = first_estimate(*style, problem, subject.device, space);
  SpaceSample points(std::move(space), style->seeds(problem, subject.device), seed);
  std::vector<TimeSample> candidates;
  while (candidates.size() < at_most) {
    auto point = points.next();
    if (!point) break;
    TimeSample sample{subject, std::move(point->assignment)};
    if (first > 0) sample.relative_estimate = point->estimate / first;
    candidates.push_back(std::move(sample));
  }
  return candidates;
}

Result<std::vector<TimeSample>> archived_samples(const Archive& archive) {
  KW_TRY(const auto runs, archive.runs());
  std::vector<TimeSample> samples;
  for (const auto& run : runs) {
    if (!run.style || run.style->empty() || !run.problem_source) continue;
    const auto problem = read_again(*run.problem_source);
    if (!problem) continue;
    const auto subject = subject_of(run, *problem);
    const auto style = find_style(run.op, run.target, *run.style);
    if (!subject || !style) continue;
    auto space = SearchSpace::open(**style, *problem, run.device);
    if (!space) continue;
    const auto attempts = archive.attempts(run.id);
    if (!attempts && attempts.error().code == errc::archive_corrupt) continue;
    if (!attempts) return fail(attempts.error());
    add_attempts(*attempts, *subject, *space, first_estimate(**style, *problem, run.device, *space), samples);
  }
  return samples;
}

}  // namespace kw
