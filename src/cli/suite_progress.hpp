#pragma once
// What a person sees on stderr while a suite goes on: a line for every problem that is over, and on a terminal below
// them a few lines that are rewritten, one for each device at work and one for all.

#include <cstdio>
#include <map>
#include <string>

#include "suite/suite_loop.hpp"

namespace kw {

class SuiteProgress final : public SuiteObserver {
 public:
  /// `columns`: of the terminal; 0 where there is none, and nothing is rewritten.
  SuiteProgress(std::FILE* stream, int columns);
  void begun(const SuiteState& state, const SuiteRow& row) override;
  void phase(const SuiteRow& row, const std::string& doing) override;
  void attempt(const SuiteRow& row, const RunRecord& run, const Attempt& attempt, const BudgetUse& used) override;
  void ended(const SuiteState& state, const SuiteRow& row) override;
  void warning(const SuiteRow& row, const std::string& text) override;
  /// Removes what is rewritten, so that what is printed next starts clean.
  void clear();

 private:
  void line(const std::string& text);
  void draw();

  std::FILE* stream_;
  int columns_;
  int drawn_ = 0;                               ///< lines that are on the terminal now
  std::map<std::string, std::string> at_work_;  ///< what each device does
  std::string summary_;
};

/// "level1/23_Softmax  solved  1.234 ms  4.5x plain ...": a row in a line of at most `columns`; 0: as long as it is.
[[nodiscard]] std::string suite_row_line(const SuiteRow& row, int columns);

/// Of the terminal at `stream`; 0 where it is none, 100 where it does not say.
[[nodiscard]] int terminal_columns(std::FILE* stream);

}  // namespace kw
