#include "propose/portfolio/portfolio.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "propose/portfolio/background_tuner.hpp"
#include "propose/testing/synthetic_style.hpp"

namespace kw {
namespace {

/// What the members of a portfolio were asked and told, one line each.
using Log = std::vector<std::string>;

Candidate candidate_of(const std::string& who, int number) {
  return make_candidate(synthetic::bundle({}, {}, fmt::format("{} {}", who, number))).value();
}

class Scripted final : public Proposer {
 public:
  Scripted(std::string name, int proposals, Log& log, Idle::Why then = Idle::Why::exhausted)
      : name_(std::move(name)), left_(proposals), log_(log), then_(then) {}

  std::optional<Proposal> next() override {
    if (pauses_ > 0) return --pauses_, std::nullopt;
    if (left_ == 0) return std::nullopt;
    return Proposal{candidate_of(name_, left_--), name_, ""};
  }
  [[nodiscard]] Idle idle() const override { return {then_, {}}; }
  void observe(const Attempt& attempt) override {
    log_.push_back(fmt::format("{} observes {}", name_, attempt.ordinal));
  }
  void others_proposed(const Candidate& candidate) override {
    log_.push_back(fmt::format("{} hears of {}", name_, candidate.bundle.source));
  }
  void others_observed(const Attempt& attempt) override {
    log_.push_back(fmt::format("{} sees {}", name_, attempt.ordinal));
  }
  void pause() { ++pauses_; }

 private:
  std::string name_;
  int left_;
  Log& log_;
  Idle::Why then_;
  int pauses_ = 0;
};

class PortfolioTest : public testing::Test {
 protected:
  /// A leader and others, each with so many proposals.
  Portfolio portfolio(int leads, Idle::Why then, std::vector<int> others) {
    auto leader = std::make_unique<Scripted>("leader", leads, log_, then);
    leader_ = leader.get();
    std::vector<std::unique_ptr<Proposer>> rest;
    for (const int count : others) {
      rest.push_back(std::make_unique<Scripted>(fmt::format("other{}", rest.size()), count, log_));
    }
    return {std::move(leader), std::move(rest)};
  }
  Attempt attempt(std::int64_t ordinal, bool best = false) {
    Attempt made;
    made.ordinal = ordinal;
    made.became_best = best;
    made.measurement = Measurement();
    return made;
  }

  Log log_;
  Scripted* leader_ = nullptr;
};

TEST_F(PortfolioTest, the_leader_comes_first_and_the_others_fill_its_pauses) {
  auto all = portfolio(2, Idle::Why::waiting, {5});
  EXPECT_EQ(all.next()->proposer, "leader");
  leader_->pause();
  EXPECT_EQ(all.next()->proposer, "other0");
  EXPECT_EQ(all.next()->proposer, "leader");
  EXPECT_EQ(all.next()->proposer, "other0") << "the leader has nothing left";
}

TEST_F(PortfolioTest, nothing_is_filled_in_where_the_leader_wants_to_be_asked_again) {
  auto all = portfolio(0, Idle::Why::again, {5});
  EXPECT_FALSE(all.next().has_value());
  EXPECT_EQ(all.idle().why, Idle::Why::again);
}

TEST_F(PortfolioTest, each_is_told_of_its_own_work_and_of_that_of_the_others) {
  auto all = portfolio(1, Idle::Why::exhausted, {1});
  ASSERT_TRUE(all.next());
  ASSERT_TRUE(all.next());
  all.observe(attempt(0));
  all.observe(attempt(1));
  EXPECT_EQ(log_, (Log{"other0 hears of leader 1", "leader hears of other0 1", "leader observes 0", "other0 sees 0",
                       "leader sees 1", "other0 observes 1"}));
  EXPECT_FALSE(all.next().has_value());
  EXPECT_EQ(all.idle().why, Idle::Why::exhausted);
}

TEST_F(PortfolioTest, the_device_goes_to_the_one_that_gains) {
  auto all = portfolio(0, Idle::Why::waiting, {100, 100});
  int second = 0;
  for (std::int64_t i = 0; i < 60; ++i) {
    const bool gains = all.next()->proposer == "other1";
    second += gains ? 1 : 0;
    all.observe(attempt(i, gains));
  }
  EXPECT_GT(second, 40);
}

TEST_F(PortfolioTest, one_that_is_exhausted_leaves_the_device_to_the_rest) {
  auto all = portfolio(0, Idle::Why::waiting, {1, 3});
  int found = 0;
  for (std::int64_t i = 0; all.next(); ++i) {
    ++found;
    all.observe(attempt(i));
  }
  EXPECT_EQ(found, 4);
}

TEST(BackgroundTuner, tunes_what_came_from_outside_and_nothing_else) {
  const auto problem = synthetic::problem();
  BackgroundTuner tuner(problem, synthetic::device(), 7);
  EXPECT_FALSE(tuner.next().has_value());
  EXPECT_EQ(tuner.idle().why, Idle::Why::waiting);

  Attempt attempt;
  attempt.ordinal = 4;
  attempt.candidate = make_candidate(synthetic::bundle({{"A", {1, 2, 4}, 1}}, {}, "by hand")).value();
  attempt.measurement = Measurement();
  attempt.measurement->median_ns = 5e6;
  tuner.others_observed(attempt);
  EXPECT_FALSE(tuner.next().has_value()) << "of a proposer that searches by itself";
  attempt.provenance = {3, 1};
  tuner.others_observed(attempt);
  const auto proposal = tuner.next();
  ASSERT_TRUE(proposal.has_value());
  EXPECT_EQ(proposal->proposer, "tune");
  EXPECT_EQ(proposal->origin.rfind("tunables of 4: ", 0), 0U) << proposal->origin;
  EXPECT_EQ(proposal->provenance.chain, 1);
  EXPECT_FALSE(proposal->provenance.turn.has_value());
}

}  // namespace
}  // namespace kw
