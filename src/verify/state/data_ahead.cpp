#include "verify/state/data_ahead.hpp"

#include "record/time_use.hpp"
#include "verify/checking/check_suite.hpp"

namespace kw {

TimedData draw_timed_data(const RunFacts& facts, const DataNeed& need, Rng& rng, TimedData used, TimeLedger* ledger) {
  const ParallelFor& parallel = facts.options.parallel;
  const bool by_device = need.host == HostBytes::when_asked_for;
  const auto like = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(k_timing_cases)));
  FreshCase fresh = draw_fresh(facts.problem, facts.suite.cases()[like], facts.costs(), rng, parallel, ledger,
                               need.least_rows, std::move(used.fresh.one.inputs), by_device);
  const auto storing = TimeLedger::activity(ledger, time_activity::inputs);
  StoredInputs inputs(facts.problem, fresh.one, std::move(used.inputs));
  for (std::size_t i = 0; !by_device && i < fresh.one.inputs.size(); ++i) {
    static_cast<void>(inputs.bytes(i, parallel));
  }
  return {like, std::move(fresh), std::move(inputs), std::move(used.outputs), Rng(rng.next())};
}

TimedData DataAhead::take(const RunFacts& facts, const DataNeed& need, Rng& rng, TimeLedger* ledger) {
  auto drawn = take_next(need, ledger);
  TimedData data = drawn ? *std::move(drawn) : draw_timed_data(facts, need, rng, take_used(), ledger);
  if (facts.device().kind != DeviceKind::gpu) return data;
  next_ = std::make_unique<Next>(Next{need, take_used()});
  next_->drawing = facts.options.start([&facts, next = next_.get(), own = Rng(rng.next())]() mutable {
    next->data = draw_timed_data(facts, next->need, own, std::move(next->data), nullptr);
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
