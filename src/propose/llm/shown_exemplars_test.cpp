#include "propose/llm/shown_exemplars.hpp"

#include <gmock/gmock.h>

#include <deque>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double k_plain_ns = 100e6;

/// Three chains, each with an island; kernels are named by their milliseconds.
class MigrationTest : public testing::Test {
 protected:
  void add(std::int64_t chain, double ms) {
    Attempt& attempt = attempts.emplace_back();
    attempt.ordinal = std::ssize(attempts);
    attempt.candidate.bundle.source = std::to_string(attempt.ordinal);
    attempt.measurement.emplace().median_ns = ms * 1e6;
    attempt.provenance.chain = chain;
  }
  void answer(std::int64_t chain, int times) {
    for (int i = 0; i < times; ++i) shown.count_answer(chain, attempts);
  }
  std::vector<double> drawn_for(std::int64_t chain) {
    std::vector<const Attempt*> verified;
    for (const auto& attempt : attempts) verified.push_back(&attempt);
    std::vector<double> ms;
    for (const auto& one : shown.draw(chain, verified, k_plain_ns, rng)) {
      ms.push_back(one.attempt->measurement->median_ns / 1e6);
    }
    return ms;
  }
  std::deque<Attempt> attempts;
  ShownExemplars shown{ExemplarChoice::island, 3, 3};
  Rng rng{1};
};

TEST_F(MigrationTest, brings_the_best_of_the_next_chain_after_every_fourth_answer) {
  add(0, 40);
  add(1, 20);
  add(1, 10);
  add(2, 5);
  answer(0, 3);
  EXPECT_THAT(drawn_for(0), ElementsAre(40));
  answer(0, 1);
  EXPECT_THAT(drawn_for(0), ElementsAre(40, 10)) << "its best one, and of no other chain";
  add(1, 2);
  answer(0, 3);
  EXPECT_THAT(drawn_for(0), ElementsAre(40, 10));
  answer(0, 1);
  EXPECT_THAT(drawn_for(0), ElementsAre(40, 10, 2)) << "what came once stays";
}

TEST_F(MigrationTest, goes_around_the_ring_and_counts_each_chain_alone) {
  add(0, 40);
  add(1, 20);
  answer(2, 4);
  EXPECT_THAT(drawn_for(2), ElementsAre(40)) << "the next one of the last is the first";
  answer(1, 4);
  EXPECT_THAT(drawn_for(1), ElementsAre(20)) << "the third has nothing of its own to give";
  answer(0, 3);
  EXPECT_THAT(drawn_for(0), ElementsAre(40));
}

TEST_F(MigrationTest, brings_no_kernel_that_was_rejected) {
  add(1, 20);
  attempts.back().verdict.reject(GateId::check, Reason::wrong_result, "O is wrong");
  answer(0, 4);
  EXPECT_THAT(drawn_for(0), IsEmpty());
}

}  // namespace
}  // namespace kw
