#include "base/time_ledger.hpp"

#include <algorithm>

namespace kw {

TimeLedger::TimeLedger(const Clock& clock, Instant began, std::string_view stage, std::string_view activity)
    : clock_(clock), began_(began), since_(clock.now()) {
  if (since_ > began) charge(stage, activity, since_ - began);
}

TimeLedger::Span::Span(TimeLedger* ledger, std::string_view stage, std::string_view activity) : ledger_(ledger) {
  if (ledger_ == nullptr) return;
  if (std::this_thread::get_id() != ledger_->owner_) {
    if (stage.empty())
      ledger_ = nullptr;
    else
      beside_since_ = ledger_->clock_.now();
    return;
  }
  ledger_->settle();
  before_ = ledger_->here_;
  ledger_->here_ = {stage.empty() ? before_.stage : stage, activity};
}

TimeLedger::Span::~Span() {
  if (ledger_ == nullptr) return;
  if (beside_since_) {
    const std::lock_guard lock(ledger_->beside_mutex_);
    ledger_->beside_ += ledger_->clock_.now() - *beside_since_;
    return;
  }
  ledger_->settle();
  ledger_->here_ = before_;
}

void TimeLedger::charge(std::string_view stage, std::string_view activity, Duration time) {
  const auto known = std::ranges::find_if(
      entries_, [&](const Entry& entry) { return entry.stage == stage && entry.activity == activity; });
  Entry& entry = known != entries_.end() ? *known : entries_.emplace_back(Entry{stage, activity});
  entry.seconds += to_seconds(time);
}

void TimeLedger::settle() {
  const Instant now = clock_.now();
  charge(here_.stage, here_.activity, now - since_);
  since_ = now;
}

void TimeLedger::reassign(std::string_view activity, Duration spent) {
  if (std::this_thread::get_id() != owner_) return;
  settle();
  charge(here_.stage, here_.activity, -spent);
  charge(here_.stage, activity, spent);
}

std::vector<TimeLedger::Entry> TimeLedger::entries() const {
  TimeLedger copy(clock_);
  copy.entries_ = entries_;
  copy.charge(here_.stage, here_.activity, clock_.now() - since_);
  std::erase_if(copy.entries_, [](const Entry& entry) { return !(entry.seconds > 0); });
  return std::move(copy.entries_);
}

double TimeLedger::beside_seconds() const {
  const std::lock_guard lock(beside_mutex_);
  return to_seconds(beside_);
}

}  // namespace kw
