#pragma once
// Where the wall clock goes. The thread that made a ledger is always in one place of it: a stage, and an activity
// within. Entering another place ends the time of the one before, and leaving goes back, so that the parts add up to
// the whole and nothing is counted twice. What nobody named is in k_other. Work of other threads is time that nobody
// waited for: it is kept apart.

#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.hpp"

namespace kw {

class TimeLedger {
 public:
  static constexpr std::string_view k_other = "other";

  /// `seconds` in one place. Names live as long as the program.
  struct Entry {
    std::string_view stage;
    std::string_view activity;
    double seconds = 0;
  };

  /// `clock` must outlive it. The time runs from here, or from `began` where that was earlier: until now it went to
  /// `stage` and `activity`.
  explicit TimeLedger(const Clock& clock) : TimeLedger(clock, clock.now()) {}
  TimeLedger(const Clock& clock, Instant began, std::string_view stage = k_other, std::string_view activity = k_other);

  /// In a place for as long as it lives; they end in the reverse order. On another thread than the ledger's, the time
  /// of a stage is work done beside, and an activity does nothing. Nor does a span without a ledger.
  class Span {
   public:
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    ~Span();

   private:
    friend class TimeLedger;
    Span(TimeLedger* ledger, std::string_view stage, std::string_view activity);

    TimeLedger* ledger_;
    std::optional<Instant> beside_since_;  ///< of another thread
    Entry before_;                         ///< of the ledger's thread: where it was
  };

  /// A stage, and one of its activities where that is known already.
  [[nodiscard]] static Span stage(TimeLedger* ledger, std::string_view name, std::string_view activity = k_other) {
    return {ledger, name, activity};
  }
  /// An activity of the stage that the thread is in.
  [[nodiscard]] static Span activity(TimeLedger* ledger, std::string_view name) { return {ledger, {}, name}; }
  /// The last `spent` of where the thread is were `activity`: a part whose length somebody else has measured.
  void reassign(std::string_view activity, Duration spent);

  /// Every place so far in the order of the first visit, the one that goes on included. Their sum is elapsed(). From
  /// the ledger's thread.
  [[nodiscard]] std::vector<Entry> entries() const;
  [[nodiscard]] double elapsed() const { return to_seconds(clock_.now() - began_); }
  /// What other threads did meanwhile, in seconds of each of them.
  [[nodiscard]] double beside_seconds() const;

 private:
  void charge(std::string_view stage, std::string_view activity, Duration time);
  /// Ends the time of the place that the thread is in.
  void settle();

  const Clock& clock_;
  const std::thread::id owner_ = std::this_thread::get_id();
  Instant began_;
  Instant since_;  ///< the place that the thread is in has been charged until then
  Entry here_{k_other, k_other};
  std::vector<Entry> entries_;
  mutable std::mutex beside_mutex_;
  Duration beside_{};
};

}  // namespace kw
