// The lines a person sees while a run goes on, with a clock that the test ticks.

#include "cli/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "record/testing/synthetic_run.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A stream whose text can be read.
class TextStream {
 public:
  TextStream() : stream_(::open_memstream(&text_, &bytes_)) {}
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;
  ~TextStream() {
    std::fclose(stream_);
    std::free(text_);
  }
  [[nodiscard]] std::FILE* get() const { return stream_; }
  /// What was written since the last call.
  std::string take() {
    std::fflush(stream_);
    std::string all(text_, bytes_);
    std::string fresh = all.substr(taken_);
    taken_ = all.size();
    return fresh;
  }

 private:
  char* text_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t taken_ = 0;
  std::FILE* stream_;
};

class Progress : public ::testing::Test {
 protected:
  Progress() { best_.candidate.tunables = {{"BM", 4}, {"BN", 128}, {"UNROLL", 1}}; }

  static Attempt accepted(double milliseconds) {
    Attempt attempt;
    attempt.ordinal = 3;
    attempt.origin = "neighbour of 1";
    attempt.candidate.bundle = synthetic::bundle();
    attempt.verdict.status = VerdictStatus::accepted;
    attempt.measurement = Measurement{};
    attempt.measurement->median_ns = milliseconds * 1e6;
    attempt.measurement->gflops = 12.5;
    return attempt;
  }
  static Attempt rejected() {
    Attempt attempt;
    attempt.ordinal = 4;
    attempt.verdict.status = VerdictStatus::rejected;
    attempt.verdict.reason = Reason::wrong_result;
    return attempt;
  }

  FakeClock clock_;
  TextStream text_;
  RunRecord run_ = synthetic_run(1, 0).run;
  Attempt best_ = accepted(6.12);
  BudgetUse used_;
};

TEST_F(Progress, stamps_phases_and_warnings_with_the_time_since_the_start) {
  TerminalProgress progress(text_.get(), false, clock_);
  progress.phase("opening the device");
  clock_.advance(std::chrono::milliseconds(12'340));
  progress.warning("the disk is nearly full");
  EXPECT_EQ(text_.take(), "   0.0 s  opening the device\n  12.3 s  warning: the disk is nearly full\n");
}

TEST_F(Progress, tells_a_new_best_at_once) {
  TerminalProgress progress(text_.get(), false, clock_);
  best_.became_best = true;
  progress.attempt(run_, best_, used_);
  EXPECT_EQ(text_.take(),
            "   0.0 s  best     6.120 ms    12.5 GFLOP/s   10.0x plain  #3 neighbour of 1: BM=4 BN=128 UNROLL=1\n");
}

TEST_F(Progress, tells_a_best_that_was_only_estimated) {
  TerminalProgress progress(text_.get(), false, clock_);
  best_.became_best = true;
  best_.measurement.reset();
  progress.attempt(run_, best_, used_);
  EXPECT_EQ(text_.take(), "   0.0 s  best by static estimate, not timed  #3 neighbour of 1: BM=4 BN=128 UNROLL=1\n");
}

TEST_F(Progress, without_a_terminal_tells_the_status_every_ten_seconds_at_most) {
  TerminalProgress progress(text_.get(), false, clock_);
  used_.candidates = 4;
  progress.attempt(run_, rejected(), used_);
  EXPECT_EQ(text_.take(), "");
  clock_.advance(std::chrono::milliseconds(10'001));
  used_.wall_seconds = 10;
  used_.candidates = 5;
  progress.attempt(run_, rejected(), used_);
  EXPECT_EQ(text_.take(), "  10.0 s  10/60 s, 5 candidates, 2 rejected; #4 rejected: wrong_result\n");
  progress.attempt(run_, best_, used_);
  EXPECT_EQ(text_.take(), "");
}

TEST_F(Progress, does_not_call_rejected_what_was_not_decided) {
  TerminalProgress progress(text_.get(), true, clock_);
  Attempt undecided = rejected();
  undecided.verdict.status = VerdictStatus::unverified;
  undecided.verdict.reason = Reason::none;
  undecided.verdict.message = "the budget ended first";
  progress.attempt(run_, rejected(), used_);
  text_.take();
  progress.attempt(run_, undecided, used_);
  EXPECT_EQ(text_.take(),
            "\r\x1b[K   0.0 s  0/60 s, 0 candidates, 1 rejected, 1 undecided; #4 undecided: the budget ended first");
}

TEST_F(Progress, on_a_terminal_rewrites_the_status_in_its_place) {
  TerminalProgress progress(text_.get(), true, clock_);
  run_.limits.candidates = 200;
  used_.candidates = 4;
  progress.attempt(run_, best_, used_);
  EXPECT_EQ(text_.take(), "\r\x1b[K   0.0 s  0/60 s, candidate 4/200; #3 6.120 ms");
  progress.clear();
  EXPECT_EQ(text_.take(), "\r\x1b[K");
}

TEST_F(Progress, keeps_the_status_to_one_line_of_a_terminal) {
  TerminalProgress progress(text_.get(), true, clock_);
  run_.limits.candidates = 1'000'000'000'000;
  used_.candidates = 123'456'789'012;
  best_.became_best = true;
  progress.attempt(run_, best_, used_);
  text_.take();
  progress.attempt(run_, rejected(), used_);
  const std::string line = text_.take().substr(4);
  EXPECT_LE(line.size(), 118U);
  EXPECT_THAT(line, Not(HasSubstr("\n")));
}

TEST_F(Progress, tells_what_a_model_answered) {
  TerminalProgress progress(text_.get(), false, clock_);
  Turn turn;
  turn.chain = 2;
  turn.purpose = "repair";
  turn.reply.seconds = 31.24;
  used_.tokens = 1200;
  used_.dollars = 0.0125;
  progress.turn(run_, turn, used_);
  turn.fault = ReplyFault::no_code;
  turn.fault_message = "there is no code in the reply";
  run_.model_use = ModelUse{};
  run_.model_use->dollars = 0.0125;
  progress.turn(run_, turn, used_);
  EXPECT_EQ(text_.take(),
            "   0.0 s  chain 2 repair: a kernel after 31.2 s (1200 tokens)\n"
            "   0.0 s  chain 2 repair: no code: there is no code in the reply (1200 tokens, $0.0125)\n");
}

TEST_F(Progress, shows_control_characters_instead_of_obeying_them) {
  TerminalProgress progress(text_.get(), false, clock_);
  progress.warning("cannot write \x1b[2J\x07\n  try: another place");
  const std::string text = text_.take();
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_THAT(text, HasSubstr("[2J\xef\xbf\xbd\n  try: another place\n"));
}

}  // namespace
}  // namespace kw
