#include "verify/state/data_ahead.hpp"

#include <algorithm>
#include <chrono>

#include "record/time_use.hpp"
#include "verify/checking/check_suite.hpp"

namespace kw {

namespace {

constexpr Duration k_not_worth_asking = std::chrono::milliseconds(50);

}  // namespace

TimedData draw_timed_data(const RunFacts& facts, const DataNeed& need, Answerer answerer, Rng& rng, TimedData used,
                          TimeLedger* ledger) {
  const Instant began = facts.clock.now();
  const ParallelFor& parallel = facts.options.parallel;
  const bool by_device = need.host == HostBytes::when_asked_for;
  const auto like = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(k_timing_cases)));
  FreshCase fresh = draw_fresh(facts.problem, facts.suite.cases()[like], facts.costs(), rng, parallel, ledger,
                               {by_device, need.least_rows, answerer}, std::move(used.fresh.one.inputs));
  const auto storing = TimeLedger::activity(ledger, time_activity::inputs);
  StoredInputs inputs(facts.problem, fresh.one, std::move(used.inputs));
  for (std::size_t i = 0; !by_device && i < fresh.one.inputs.size(); ++i) {
    static_cast<void>(inputs.bytes(i, parallel));
  }
  return {like,
          std::move(fresh),
          std::move(inputs),
          std::move(used.outputs),
          std::move(used.plain),
          Rng(rng.next()),
          facts.clock.now() - began};
}

// Drawn beside a launch they cost what they take longer than it, and that has to be worth a launch.
Answerer DataAhead::answerer(std::optional<Duration> plain_takes) const {
  const bool is_slow = plain_takes && oracle_takes_ > std::max(k_not_worth_asking, 2 * *plain_takes);
  return is_slow ? Answerer::plain : Answerer::oracle;
}

TimedData DataAhead::take(const RunFacts& facts, const DataNeed& need, std::optional<Duration> plain_takes, Rng& rng,
                          TimeLedger* ledger) {
  auto drawn = take_next(need, ledger);
  TimedData data =
      drawn ? *std::move(drawn) : draw_timed_data(facts, need, answerer(plain_takes), rng, take_used(), ledger);
  if (data.fresh.answerer == Answerer::oracle) oracle_takes_ = data.took;
  if (facts.device().kind != DeviceKind::gpu) return data;
  next_ = std::make_unique<Next>(Next{need, take_used()});
  next_->drawing =
      facts.options.start([&facts, next = next_.get(), by = answerer(plain_takes), own = Rng(rng.next())]() mutable {
        next->data = draw_timed_data(facts, next->need, by, own, std::move(next->data), nullptr);
      });
  return data;
}

TimedData DataAhead::take_used() {
  if (used_.empty()) return {};
  TimedData used = std::move(used_.back());
  used_.pop_back();
  return used;
}

std::optional<TimedData> DataAhead::take_next(const DataNeed& need, TimeLedger* ledger) {
  const auto next = std::exchange(next_, nullptr);
  if (!next) return std::nullopt;
  const auto waiting_for_data = TimeLedger::activity(ledger, time_activity::inputs);
  next->drawing.get();
  if (next->need == need) return std::move(next->data);
  give_back(std::move(next->data));
  return std::nullopt;
}

}  // namespace kw
