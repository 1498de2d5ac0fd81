#pragma once
// What a person sees on stderr while a run goes on: one line that is rewritten on a terminal, sparse lines elsewhere.

#include <cstdio>
#include <string>

#include "base/clock.hpp"
#include "loop/run.hpp"

namespace kw {

class TerminalProgress final : public RunObserver {
 public:
  /// `terminal`: rewrite the status line in place; otherwise print a new best at once and the status every 10 s.
  TerminalProgress(std::FILE* stream, bool terminal, const Clock& clock);
  void phase(const std::string& doing) override;
  void attempt(const RunRecord& run, const Attempt& attempt, const BudgetUse& used) override;
  void turn(const RunRecord& run, const Turn& turn, const BudgetUse& used) override;
  void warning(const std::string& text) override;
  /// Removes the status line, so that what is printed next starts clean.
  void clear();

 private:
  void line(const std::string& text);
  void status(const std::string& text);
  [[nodiscard]] std::string stamp() const;

  std::FILE* stream_;
  bool terminal_;
  const Clock& clock_;
  Instant start_;
  Instant last_status_;
  double best_ns_ = 0;
  std::int64_t rejected_ = 0;
  std::int64_t undecided_ = 0;
};

}  // namespace kw
