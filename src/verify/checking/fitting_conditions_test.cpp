#include "verify/checking/fitting_conditions.hpp"

#include <gmock/gmock.h>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const JudgedSizes k_square_right = {{{"Sq", 64}, {"Skv", 64}}, true};

TEST(FittingConditions, name_the_constant_that_a_size_must_not_pass) {
  EXPECT_THAT(fitting_conditions({k_square_right, {{{"Sq", 64}, {"Skv", 193}}, false}}, {{"KEYS", 128}}),
              ElementsAre("Skv <= KEYS (128)", "Skv = Sq"));
}

TEST(FittingConditions, name_the_tile_that_a_size_has_to_fill) {
  const std::vector<JudgedSizes> judged = {
      k_square_right, {{{"Sq", 128}, {"Skv", 64}}, true}, {{{"Sq", 65}, {"Skv", 64}}, false}};
  EXPECT_THAT(fitting_conditions(judged, {{"BM", 16}, {"BN", 1}}), ElementsAre("Sq is a multiple of BM (16)"));
}

TEST(FittingConditions, are_of_axes_that_all_have) {
  EXPECT_THAT(fitting_conditions({{{{"Sq", 8}, {"A", 1}}, true}, {{{"Sq", 9}}, false}}, {{"A", 1}}), IsEmpty());
}

TEST(FittingConditions, are_none_where_nothing_tells_right_from_wrong) {
  EXPECT_THAT(fitting_conditions({k_square_right}, {{"BM", 16}}), IsEmpty());
  EXPECT_THAT(fitting_conditions({{{{"Sq", 64}}, false}}, {{"BM", 16}}), IsEmpty());
  EXPECT_THAT(fitting_conditions({}, {}), IsEmpty());
  const std::vector<JudgedSizes> contradicting = {k_square_right, {{{"Sq", 64}, {"Skv", 64}}, false}};
  EXPECT_THAT(fitting_conditions(contradicting, {{"BM", 16}}), IsEmpty());
}

}  // namespace
}  // namespace kw
