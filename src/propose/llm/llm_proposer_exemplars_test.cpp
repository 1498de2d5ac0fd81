// In the model's seat: which verified kernels are shown beside the best, and what is asked about them.
#include <gmock/gmock.h>

#include <set>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ShownExemplarsTest : public ModelSeat {
 protected:
  ShownExemplarsTest() { options_.exemplars = ExemplarChoice::top; }
  /// A verified kernel of an earlier run; `unroll` is its tunable.
  void earlier(const std::string& body, std::int64_t unroll, double ms) {
    const Bundle made =
        parse_bundle(bundle(body, "[tunables]\nUNROLL = {values = [1, 2, 4], default = 1}\n"), "b").value();
    Attempt& attempt = past_.emplace_back();
    attempt.ordinal = std::ssize(past_);
    attempt.candidate = make_candidate(made, {{"UNROLL", unroll}}).value();
    timed(ms)(attempt);
  }
  static int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  }
};

TEST_F(ShownExemplarsTest, are_distinct_sources_with_a_table_of_tunables) {
  earlier("O[0] = 1;", 1, 30);
  earlier("O[0] = 2;", 1, 12);
  earlier("O[0] = 2; // the same", 2, 10);
  earlier("O[0] = 2;", 4, 11);
  EXPECT_EQ(count(told(), "O[0] = 1;"), 1);
  EXPECT_EQ(count(told(), "O[0] = 2;"), 1);
  EXPECT_THAT(told(), HasSubstr("| UNROLL | time |\n| --- | --- |\n| 2 | 10 ms |\n| 4 | 11 ms |\n| 1 | 12 ms |\n"));
}

TEST_F(ShownExemplarsTest, do_not_repeat_the_best) {
  earlier("O[0] = 1;", 1, 30);
  earlier("O[0] = 2;", 1, 12);
  turn("O[0] = 3;", timed(5));
  EXPECT_EQ(count(told(), "O[0] = 3;\n}"), 1);
  EXPECT_THAT(told(), AllOf(HasSubstr("O[0] = 1;"), HasSubstr("O[0] = 2;")));
}

TEST_F(ShownExemplarsTest, are_asked_about_in_the_form_of_the_answer) {
  turn("O[0] = 3;", timed(5));
  EXPECT_THAT(told(), Not(HasSubstr("**Contrast**"))) << "there is nothing to compare";
  turn("O[0] = 4;", timed(4, 1.25));
  const std::string form = told().substr(told().find("# Your answer"));
  EXPECT_THAT(form, HasSubstr("**Contrast**"));
}

TEST_F(ShownExemplarsTest, differ_from_chain_to_chain) {
  options_.exemplars = ExemplarChoice::bucket;
  options_.chains = 3;
  for (int i = 1; i <= 6; ++i) earlier(fmt::format("O[0] = {};", i), 1, 60.0 / (1 << i));
  (void)told();
  std::set<std::vector<int>> pairs;
  for (const auto& request : service_.all) {
    std::vector<int> shown;
    for (int i = 1; i <= 6; ++i) shown.push_back(count(request.messages.at(1).text, fmt::format("O[0] = {};", i)));
    EXPECT_TRUE(pairs.insert(shown).second);
  }
  EXPECT_EQ(pairs.size(), 3U);
}

}  // namespace
}  // namespace kw
