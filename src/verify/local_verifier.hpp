#pragma once
// The verifier over a backend of this machine: gates, check suite, the processes of baseline and champion. While one
// candidate is checked the next one is built; while one is measured nothing else runs. Not thread-safe: it borrows
// threads from VerifierOptions::parallel for as long as poll() works.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "problem/problem.hpp"
#include "verify/processes/execution_backend.hpp"
#include "verify/state/options.hpp"
#include "verify/verifier.hpp"

namespace kw {

enum class GatePhase : std::uint8_t;
struct LoadedCandidate;

class LocalVerifier final : public Verifier {
 public:
  /// Evaluates the oracle, runs the plain kernel to learn what error is allowed and how fast it is, and refuses
  /// problems that cannot be scored. errc::baseline when the plain kernel does not build, run or agree with the
  /// oracle; errc::out_of_time when options.opening_deadline passed first, or the plain kernel takes longer than a
  /// launch may. `problem`, `backend` and `clock` must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<LocalVerifier>> open(const Problem& problem, ExecutionBackend& backend,
                                                                   const Clock& clock, VerifierOptions options);
  ~LocalVerifier() override;

  [[nodiscard]] VerifyRequest request_for(const Candidate& candidate, std::optional<Duration> budget) const override;
  VerifyTicket submit(const VerifyRequest& request) override;
  /// Takes the oldest candidate through all of its gates. The one behind it is built beside that one's checks, and
  /// where candidates are screened, at the same time as the oldest. While a would-be best is proved, all behind it are
  /// built, and on a CPU the next one is screened. For a GPU, whose times no compiler disturbs, candidates that will be
  /// screened are built as soon as they are submitted.
  [[nodiscard]] std::optional<VerifyResult> poll() override;
  void wait(Instant) override {}  // poll() works until it has something to give
  [[nodiscard]] std::size_t in_flight() const override;
  void cancel() override;
  void promote() override;
  [[nodiscard]] Result<void> restore(const Candidate& candidate) override;
  [[nodiscard]] Result<Measurement> final_measurement(int processes, const HasTime& has_time) override;
  void release() override;
  [[nodiscard]] const BaselineRecord& plain() const override;
  [[nodiscard]] Duration data_of_launch() const override;
  [[nodiscard]] const DeviceFacts& device() const override;
  [[nodiscard]] CheckedCases checked() const override;
  [[nodiscard]] double device_seconds() const override;

  [[nodiscard]] const CheckSuite& suite() const;

 private:
  struct State;
  struct InFlight;
  explicit LocalVerifier(std::unique_ptr<State> state);
  static void begin_first(State& state);
  [[nodiscard]] InFlight& enqueue(const Candidate& candidate, const StepClock& clock);
  void begin_builds();
  void build(InFlight& one, bool screens) const;
  static void run_builds(InFlight& one, bool screens);
  void build_oldest();
  void pass(InFlight& oldest, GatePhase phase, bool build_next);
  void check_first(InFlight& oldest);
  void prove(InFlight& oldest);
  void go_ahead();
  [[nodiscard]] VerifyResult settle(InFlight& one);
  void let_go(LoadedCandidate& loaded);

  std::unique_ptr<State> state_;
};

}  // namespace kw
