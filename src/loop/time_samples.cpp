#include "loop/time_samples.hpp"

#include <limits>
#include <map>
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

/// The style's cost model of its first guess, in clocks; 0: not known.
double estimate_of_first(const Style& style, const Problem& problem, const DeviceFacts& device, SearchSpace& space) {
  const auto seeds = style.seeds(problem, device);
  const auto point = space.point_at(seeds.empty() ? IntBindings{} : seeds.front());
  const double estimate = point ? space.estimate(*point) : 0;
  return is_an_estimate(estimate) ? estimate : 0;
}

/// The structure of each bundle of a run is looked for once: hundreds of attempts share one.
class StructureMemo {
 public:
  explicit StructureMemo(SearchSpace& space) : space_(space) {}
  /// Structure and tunables; nothing where the style does not write this bundle any more.
  [[nodiscard]] std::optional<SearchPoint> point_of(const Candidate& candidate) {
    const Hash id = candidate.bundle.id();
    auto known = structures_.find(id);
    if (known == structures_.end()) known = structures_.emplace(id, structure_of(candidate)).first;
    if (!known->second) return std::nullopt;
    IntBindings assignment = *known->second;
    for (const auto& [name, value] : candidate.tunables) assignment[name] = value;
    return space_.point_at(assignment);
  }

 private:
  [[nodiscard]] std::optional<IntBindings> structure_of(const Candidate& candidate) {
    const auto point = space_.point_of(candidate);
    const auto still = point ? space_.candidate_at(*point) : std::nullopt;
    if (!still || still->bundle.id() != candidate.bundle.id()) return std::nullopt;
    IntBindings structure = space_.assignment(*point);
    for (const auto& entry : candidate.tunables) structure.erase(entry.first);
    return structure;
  }

  SearchSpace& space_;
  std::map<Hash, std::optional<IntBindings>> structures_;
};

/// One run's attempts.
void add_attempts(std::span<const Attempt> attempts, const TimeSubject& subject, SearchSpace& space,
                  std::vector<TimeSample>& samples) {
  StructureMemo memo(space);
  for (const auto& attempt : attempts) {
    const bool is_timed = attempt.verdict.right_so_far() && attempt.measurement && attempt.measurement->median_ns > 0;
    if (!is_timed) continue;
    TimeSample sample{subject, attempt.candidate.tunables};
    if (const auto point = memo.point_of(attempt.candidate)) {
      sample.assignment = space.assignment(*point);
      if (const double estimate = space.estimate(*point); is_an_estimate(estimate)) sample.estimate = estimate;
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
                                                       std::size_t at_most, std::uint64_t seed,
                                                       const ParallelFor& parallel) {
  KW_TRY(const Style* style, find_style(subject.op, subject.target, subject.style));
  KW_TRY(auto space, SearchSpace::open(*style, problem, subject.device, parallel));
  TimeSubject estimated = subject;
  estimated.first_estimate = estimate_of_first(*style, problem, subject.device, space);
  SpaceSample points(std::move(space), style->seeds(problem, subject.device), seed);
  std::vector<TimeSample> candidates;
  while (candidates.size() < at_most) {
    auto point = points.next();
    if (!point) break;
    TimeSample sample{estimated, std::move(point->assignment)};
    if (is_an_estimate(point->estimate)) sample.estimate = point->estimate;
    candidates.push_back(std::move(sample));
  }
  return candidates;
}

Result<std::vector<TimeSample>> samples_of_run(const Archive& archive, const RunRecord& run, double seconds) {
  std::vector<TimeSample> samples;
  if (!run.style || run.style->empty() || !run.problem_source) return samples;
  const auto problem = read_again(*run.problem_source);
  const auto style = find_style(run.op, run.target, *run.style);
  auto subject = problem ? subject_of(run, *problem) : std::nullopt;
  if (!subject || !style) return samples;
  auto space = SearchSpace::open(**style, *problem, run.device);
  if (!space) return samples;
  KW_TRY(auto attempts, archive.attempts(run.id));
  std::erase_if(attempts, [&](const Attempt& attempt) { return attempt.elapsed_seconds > seconds; });
  subject->first_estimate = estimate_of_first(**style, *problem, run.device, *space);
  add_attempts(attempts, *subject, *space, samples);
  return samples;
}

Result<std::vector<TimeSample>> archived_samples(const Archive& archive) {
  constexpr double k_all = std::numeric_limits<double>::infinity();
  KW_TRY(const auto runs, archive.runs());
  std::vector<TimeSample> samples;
  for (const auto& run : runs) {
    auto of_run = samples_of_run(archive, run, k_all);
    if (!of_run && of_run.error().code == errc::archive_corrupt) continue;
    if (!of_run) return fail(std::move(of_run).error());
    for (auto& sample : *of_run) samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace kw
