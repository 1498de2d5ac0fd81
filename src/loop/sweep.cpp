#include "loop/sweep.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <utility>

#include "codegen/codegen.hpp"
#include "loop/budget.hpp"
#include "loop/verifier_setup.hpp"
#include "propose/search/space_sample.hpp"
#include "record/peak_times.hpp"
#include "record/time_use.hpp"
#include "verify/local_verifier.hpp"
#include "verify/timing/calibrate.hpp"

namespace kw {
namespace {

constexpr Duration k_between_writes = std::chrono::seconds(2);

/// The ratio of interleaved launches, where there were some.
std::optional<double> paired_speedup(const Measurement& measurement) {
  if (measurement.versus.empty() || measurement.versus.front().pairs == 0) return std::nullopt;
  return measurement.versus.front().speedup;
}

class Sweep {
 public:
  Sweep(const SweepSetup& setup, SweepServices& world)
      : setup_(setup), world_(world), budget_(setup.limits, {}, world.clock), written_(world.clock.now()) {}
  Result<SweepTable> go();

 private:
  Result<void> open();
  Result<void> identify();
  Result<void> continue_table();
  Result<void> open_space();
  Result<void> open_verifier();
  Result<void> restore_reference();
  [[nodiscard]] std::optional<SampledPoint> next_point();
  [[nodiscard]] bool ends() const;
  [[nodiscard]] bool is_complete() const { return setup_.count && std::ssize(table_.rows) >= *setup_.count; }
  Result<void> time_all();
  Result<void> take_result();
  [[nodiscard]] SweepRow row_of(SampledPoint point, const VerifyResult& result) const;
  Result<void> write(bool now);
  void note_peaks();

  const SweepSetup& setup_;
  SweepServices& world_;
  Budget budget_;
  SweepTable table_;
  std::set<IntBindings> known_;  ///< of the table, and in flight
  double reference_ns_ = 0;      ///< paired_ns of the reference; 0: there is none
  Style style_;                  ///< with the values that are allowed; outlives points_
  std::optional<SpaceSample> points_;
  const std::shared_ptr<const WorkloadCosts> costs_ = std::make_shared<WorkloadCosts>(setup_.problem);
  std::unique_ptr<Verifier> verifier_;
  std::deque<SampledPoint> in_flight_;
  Instant written_;
};

void Sweep::note_peaks() {
  SweepIdentity& of = table_.of;
  const auto times = peak_times(of.device, setup_.problem, costs_->primary());
  of.bound_ns = times ? times->bound_ns() : 0;
}

Result<void> Sweep::identify() {
  SweepIdentity& of = table_.of;
  const Problem& problem = setup_.problem;
  world_.observer.phase("measuring the device's peaks");
  const auto measuring = TimeLedger::activity(&world_.ledger, time_activity::peaks);
  KW_TRY(of.device, calibrate(world_.backend));
  if (of.device.kind == DeviceKind::simulator) {
    return fail(Error{errc::sweep_untimed, of.device.id + " is a simulator, and its times say nothing",
                      "take a device that `kernelwright doctor` lists as a CPU or a GPU"});
  }
  of.problem = problem.name;
  of.problem_id = problem.id().hex();
  of.op = problem.op;
  if (!problem.outputs.empty()) of.dtype = to_string(problem.outputs.front().dtype);
  of.axes = problem.primary().axes;
  of.target = setup_.target;
  of.style = setup_.style.empty() ? fastest_style(problem, setup_.target, of.device) : setup_.style;
  of.useful_flops = costs_->primary().flops;
  of.useful_bytes = costs_->primary().bytes;
  note_peaks();
  table_.seed = setup_.seed;
  table_.version = setup_.version;
  table_.started_utc = setup_.started_utc;
  table_.environment = setup_.environment;
  return {};
}

/// Takes over what the file holds; what was left undecided is timed again.
Result<void> Sweep::continue_table() {
  if (!world_.files.exists(setup_.file)) return {};
  KW_TRY(const auto text, world_.files.read(setup_.file, k_most_sweep_bytes));
  KW_TRY(auto before, parse_sweep(text, setup_.file.string()));
  const auto same = [&](const char* what, const std::string& theirs, const std::string& ours) -> Result<void> {
    if (theirs == ours) return {};
    return fail(Error{errc::sweep_other,
                      fmt::format("{} is a table of {} {}, not {}", setup_.file.string(), what, theirs, ours),
                      "name another file with --out"});
  };
  KW_TRY_VOID(same("problem", before.of.problem_id, table_.of.problem_id));
  KW_TRY_VOID(same("target", before.of.target, table_.of.target));
  KW_TRY_VOID(same("style", before.of.style, table_.of.style));
  KW_TRY_VOID(same("device", before.of.device.name, table_.of.device.name));
  std::erase_if(before.rows, [](const SweepRow& row) { return row.status == VerdictStatus::unverified; });
  for (const auto& row : before.rows) known_.insert(row.assignment);
  // Ratios of one table are to one device's peaks.
  table_ = std::move(before);
  return {};
}

Result<void> Sweep::open_space() {
  const SweepIdentity& of = table_.of;
  KW_TRY(const Style* style, find_style(of.op, of.target, of.style));
  KW_TRY_VOID(require_known_values(*style, setup_.problem, of.device, setup_.allowed));
  style_ = restricted_style(*style, setup_.allowed);
  KW_TRY(auto space, SearchSpace::open(style_, setup_.problem, of.device, world_.parallel));
  points_.emplace(std::move(space), style_.seeds(setup_.problem, of.device), setup_.seed);
  table_.of.space = points_->space().size();
  table_.names = points_->space().names();
  return {};
}

Result<void> Sweep::open_verifier() {
  world_.observer.phase("computing the oracle's answers and the plain kernel's accuracy and time");
  KW_TRY(auto options, verifier_options(setup_.problem, setup_.target, table_.of.device, world_.parallel, {}));
  options.costs = costs_;
  options.screen = true;
  options.ledger = &world_.ledger;
  options.beside = world_.beside;
  options.start = world_.start;
  options.comparison = search_rule();
  KW_TRY(verifier_, LocalVerifier::open(setup_.problem, world_.backend, world_.clock, std::move(options)));
  return {};
}

/// Of a table that is continued, so that its ratios go on.
Result<void> Sweep::restore_reference() {
  const auto last =
      std::find_if(table_.rows.rbegin(), table_.rows.rend(), [](const SweepRow& r) { return r.is_reference; });
  if (last == table_.rows.rend()) return {};
  const auto point = points_->space().point_at(last->assignment);
  const auto candidate = point ? points_->space().candidate_at(*point) : std::nullopt;
  if (!candidate || points_->space().assignment(*point) != last->assignment) {
    return fail(Error{
        errc::sweep_other,
        fmt::format("{} was made by another version: its reference is not in the space any more", setup_.file.string()),
        "name another file with --out"});
  }
  KW_TRY_VOID(verifier_->restore(*candidate));
  reference_ns_ = last->paired_ns;
  return {};
}

std::optional<SampledPoint> Sweep::next_point() {
  while (auto point = points_->next()) {
    if (known_.insert(point->assignment).second) return point;
  }
  return std::nullopt;
}

/// Whether nothing more is to be submitted.
bool Sweep::ends() const {
  const auto rows = std::ssize(table_.rows) + std::ssize(in_flight_);
  return world_.stop || budget_.exhausted() || (setup_.count && rows >= *setup_.count);
}

SweepRow Sweep::row_of(SampledPoint point, const VerifyResult& result) const {
  SweepRow row;
  row.origin = std::move(point.origin);
  row.assignment = std::move(point.assignment);
  row.status = result.verdict.status;
  row.reason = result.verdict.reason;
  row.estimate = point.estimate;
  row.build_ms = result.build.build_ms;
  row.registers = result.build.registers;
  row.spill_bytes = result.build.spill_bytes;
  row.shared_bytes = result.build.shared_bytes;
  if (!result.measurement) return row;
  const Measurement& measured = *result.measurement;
  row.time_ns = measured.median_ns;
  row.low_ns = measured.ci_ns.low;
  row.high_ns = measured.ci_ns.high;
  row.samples = measured.samples;
  const auto speedup = paired_speedup(measured);
  row.paired_ns = speedup && reference_ns_ > 0 ? reference_ns_ / *speedup : row.time_ns;
  row.is_reference = reference_ns_ == 0 && result.verdict.accepted();
  return row;
}

Result<void> Sweep::take_result() {
  const auto result = verifier_->poll();
  if (!result) {
    verifier_->wait(budget_.deadline());
    return {};
  }
  SweepRow row = row_of(std::move(in_flight_.front()), *result);
  in_flight_.pop_front();
  if (row.is_reference) {
    verifier_->promote();
    reference_ns_ = row.paired_ns;
  }
  budget_.count_candidate();
  budget_.add_device_seconds(result->device_seconds);
  table_.rows.push_back(std::move(row));
  world_.observer.row(table_, table_.rows.back());
  return write(false);
}

Result<void> Sweep::write(bool now) {
  if (!now && world_.clock.now() - written_ < k_between_writes) return {};
  written_ = world_.clock.now();
  const auto keeping = TimeLedger::stage(&world_.ledger, time_stage::keeping);
  return world_.files.write_atomic(setup_.file, encode_sweep(table_));
}

Result<void> Sweep::time_all() {
  world_.observer.phase("timing candidates");
  while (true) {
    while (std::ssize(in_flight_) < std::max(1, setup_.in_flight) && !ends()) {
      const auto proposing = TimeLedger::stage(&world_.ledger, time_stage::proposing);
      auto point = next_point();
      if (!point) break;
      std::optional<Duration> left;
      if (budget_.deadline() != Instant::max()) left = budget_.deadline() - world_.clock.now();
      verifier_->submit(verifier_->request_for(point->candidate, left));
      in_flight_.push_back(*std::move(point));
    }
    if (in_flight_.empty()) return {};
    if (ends() && (world_.stop || budget_.exhausted())) {
      verifier_->cancel();
      return {};
    }
    KW_TRY_VOID(take_result());
  }
}

Result<void> Sweep::open() {
  const auto opening = TimeLedger::stage(&world_.ledger, time_stage::opening);
  KW_TRY_VOID(identify());
  KW_TRY_VOID(continue_table());
  KW_TRY_VOID(open_space());
  if (is_complete()) return {};
  KW_TRY_VOID(open_verifier());
  return restore_reference();
}

Result<SweepTable> Sweep::go() {
  KW_TRY_VOID(open());
  if (is_complete()) return table_;
  const auto timed = time_all();
  KW_TRY_VOID(write(true));
  if (!timed) return fail(timed.error());
  return std::move(table_);
}

}  // namespace

Result<SweepTable> run_sweep(const SweepSetup& setup, SweepServices& services) {
  return Sweep(setup, services).go();
}

}  // namespace kw
