#pragma once
// The verifier: takes candidates through the gates, in order, stopping at the first failure. Several may be in flight;
// results come in the order of submission, because a later candidate is timed against the best of the earlier ones. The
// loop owns it and is its only caller. LocalVerifier (local_verifier.hpp) works on this machine; what it is asked is
// plain data (record/verify_request.hpp), so that another may work elsewhere.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "hardware/device_facts.hpp"
#include "record/attempt.hpp"
#include "record/run_record.hpp"
#include "record/verify_request.hpp"
#include "verify/checking/case_runner.hpp"

namespace kw {

namespace errc {
/// The budget ended before the first candidate, or the plain kernel takes longer than any launch may.
inline constexpr ErrorCode out_of_time{"verify.out_of_time"};
/// The best kernel of an earlier part of the run no longer passes: another driver, or a machine too busy for it.
inline constexpr ErrorCode champion_lost{"verify.champion_lost", ExitClass::environment};
/// Other work on the machine disturbed everything that was measured.
inline constexpr ErrorCode disturbed{"verify.disturbed", ExitClass::environment};
}  // namespace errc

/// Names a submitted candidate: 0, 1, 2, ... in the order of submission.
using VerifyTicket = std::int64_t;

struct VerifyResult {
  VerifyTicket ticket = 0;
  Verdict verdict;
  BuildReport build;
  std::optional<Measurement> measurement;
  AccuracyTable accuracy;
  double device_seconds = 0;
  std::optional<SimulatedAccesses> accesses = {};
};

/// What every candidate is checked on, as it may be recorded.
struct CheckedCases {
  std::vector<std::string> workloads;  ///< names, in the order of their first check; a simulator leaves out large ones
  std::size_t left_out = 0;            ///< pairs of a checked workload and a distribution that are not run
  /// Of workloads for which the oracle would take too long: rows that it answers, per kind of inputs.
  std::optional<std::int64_t> sampled_rows = {};
};

/// Whether the budget has that much left.
using HasTime = std::function<bool(Duration needed)>;

class Verifier {
 public:
  Verifier() = default;
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;
  virtual ~Verifier() = default;

  /// What submit() takes for a candidate of the run this verifier was opened for. A candidate whose build or check is
  /// not over when `budget`, which counts from submission, is used up is given up, undecided; a gate that measures
  /// begins before that or not at all.
  [[nodiscard]] virtual VerifyRequest request_for(const Candidate& candidate, std::optional<Duration> budget) const = 0;
  /// Returns at once. A request of another problem or another suite is answered by an undecided verdict.
  virtual VerifyTicket submit(const VerifyRequest& request) = 0;
  /// The next result in the order of submission, each exactly once; nothing while it is not known, and with nothing in
  /// flight. Timing is against the champion when there is one, else alone. What goes wrong is in the verdict.
  [[nodiscard]] virtual std::optional<VerifyResult> poll() = 0;
  /// Blocks until poll() would give something, or `until`, or for a moment: callers look at what else ends their wait.
  virtual void wait(Instant until) = 0;
  /// Submitted, and not yet given by poll().
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  /// Gives up what is in flight.
  virtual void cancel() = 0;

  /// The candidate of the last result, which was accepted, becomes the champion; its process lives on. Before the next
  /// poll(), whose candidate is timed against it.
  virtual void promote() = 0;
  /// Makes an accepted candidate of an earlier part of the run the champion again (resume), in a fresh process.
  /// errc::champion_lost when it no longer passes its checks.
  [[nodiscard]] virtual Result<void> restore(const Candidate& candidate) = 0;

  /// The champion against the plain kernel in `processes` pairs of fresh processes; final numbers. There must be one,
  /// and nothing in flight. Each pair but the first, which is always taken, and each further process needs as much time
  /// as the one before it took. errc::disturbed without one undisturbed pair; errc::worker_failed.
  [[nodiscard]] virtual Result<Measurement> final_measurement(int processes, const HasTime& has_time) = 0;
  /// Nothing is submitted or measured any more: its processes end, which is not waited for before its destruction.
  virtual void release() {}
  /// The plain kernel's own time.
  [[nodiscard]] virtual const BaselineRecord& plain() const = 0;
  /// What the last candidate that was timed took for each launch or pair beside its launches: new data, their answers,
  /// copies, judging. Zero before there was one.
  [[nodiscard]] virtual Duration data_of_launch() const = 0;
  /// The device's facts with its peaks as they were last measured: a time that seems to beat them has them measured
  /// again. Whoever shows peaks shows these.
  [[nodiscard]] virtual const DeviceFacts& device() const = 0;
  [[nodiscard]] virtual CheckedCases checked() const = 0;
  /// Device time used since it was opened, launches only.
  [[nodiscard]] virtual double device_seconds() const = 0;

  /// One candidate with nothing else in flight: submits it and waits for its result.
  [[nodiscard]] VerifyResult verify(const Candidate& candidate, std::optional<Duration> budget = std::nullopt);
};

}  // namespace kw
