#include "verify/checking/error_pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/rng.hpp"
#include "problem/captures/captures.hpp"
#include "verify/checking/error_location.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

/// An output O[B, Hq, Sq, Dv] whose got values start as the expected ones, to be spoilt.
class ErrorPatternTest : public testing::Test {
 protected:
  struct At {
    std::int64_t b, h, q, d;
  };
  ErrorPatternTest() {
    Rng rng(7);
    const auto count = static_cast<std::size_t>(element_count(tensor, axes).value());
    for (std::size_t i = 0; i < count; ++i) expected.push_back(rng.normal());
    got = expected;
  }
  /// Every element that `where` says becomes `spoil` of it; a value of its own each, so that only the places tell.
  void spoil(const std::function<bool(At)>& where, const std::function<double(double, std::size_t)>& how) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto flat = static_cast<std::int64_t>(i);
      const At at{flat / (4 * 129 * 8), flat / (129 * 8) % 4, flat / 8 % 129, flat % 8};
      if (where(at)) got[i] = how(expected[i], i);
    }
  }
  void spoil(const std::function<bool(At)>& where) {
    Rng rng(11);
    spoil(where, [&](double, std::size_t) { return 5 + rng.normal(); });
  }
  ErrorPattern find() const { return find_error_pattern(compared()); }
  ComparedOutput compared() const { return {tensor, axes, expected, got, test_form(8, tensor.dtype), limit}; }
  std::string words() const { return fmt::format("{}", fmt::join(find().words, " | ")); }

  TensorSpec tensor{"O", DType::f32, {"B", "Hq", "Sq", "Dv"}};
  Axes axes{{"B", 2}, {"Hq", 4}, {"Sq", 129}, {"Dv", 8}};
  double limit = 2e-6;
  std::vector<double> expected;
  std::vector<double> got;
};

TEST_F(ErrorPatternTest, of_a_right_output_is_empty) {
  const ErrorPattern pattern = find();
  EXPECT_EQ(pattern.wrong, 0);
  EXPECT_TRUE(pattern.worst.empty());
  EXPECT_TRUE(pattern.words.empty());
}

TEST_F(ErrorPatternTest, lists_the_worst_elements_first_with_their_places) {
  spoil([](At at) { return at.b == 1 && at.h == 2 && at.q == 3 && at.d >= 6; },
        [](double, std::size_t i) { return i % 2 == 0 ? 10.0 : 20.0; });
  const ErrorPattern pattern = find();
  ASSERT_EQ(pattern.wrong, 2);
  ASSERT_EQ(pattern.worst.size(), 2U);
  EXPECT_EQ(pattern.worst[0].got, 20.0);
  const std::string text = describe(pattern, compared());
  EXPECT_THAT(text, testing::StartsWith("O: 2 of 8256 elements over the limit (0.0242 %)\n  O[B=1, Hq=2, Sq=3, Dv=7]: "
                                        "expected "));
  EXPECT_THAT(text, HasSubstr("got 20 (error "));
  EXPECT_THAT(text, HasSubstr("allowed 2.00e-06)\n  O[B=1, Hq=2, Sq=3, Dv=6]: "));
  EXPECT_THAT(
      text, HasSubstr("\n  pattern: only the last of 2 B (1); only Hq 2; only Sq 3; only the last 2 of 8 Dv (6 to 7)"));
}

TEST_F(ErrorPatternTest, bounds_what_is_listed) {
  spoil([](At) { return true; });
  EXPECT_EQ(find().worst.size(), k_worst_elements);
  EXPECT_THAT(words(), testing::StartsWith("every element is wrong"));
}

TEST_F(ErrorPatternTest, names_heads_batches_rows_and_columns) {
  spoil([](At at) { return at.h == 1 || at.h == 3; });
  EXPECT_EQ(words(), "only the odd Hq");
  got = expected;
  spoil([](At at) { return at.b == 1; });
  EXPECT_EQ(words(), "only the last of 2 B (1)");
  got = expected;
  spoil([](At at) { return at.q == 128; });
  EXPECT_EQ(words(), "only the last of 129 Sq (128)");
  got = expected;
  spoil([](At at) { return at.q < 5; });
  EXPECT_EQ(words(), "only the first 5 of 129 Sq (0 to 4)");
  got = expected;
  spoil([](At at) { return at.q % 2 == 0; });
  EXPECT_EQ(words(), "only the even Sq");
  got = expected;
  spoil([](At at) { return at.d % 4 == 3; });
  EXPECT_EQ(words(), "only Dv with Dv % 4 == 3");
  got = expected;
  spoil([](At at) { return at.q == 3 || at.q == 50 || at.q == 100; });
  EXPECT_EQ(words(), "only 3 of 129 Sq: 3, 50, 100");
}

TEST_F(ErrorPatternTest, names_tiles_and_parts_of_tiles) {
  spoil([](At at) { return at.q / 32 == 1; });
  EXPECT_EQ(words(), "only Sq 32 to 63: 1 whole tile of 32");
  got = expected;
  spoil([](At at) { return at.q / 16 == 1 || at.q / 16 == 4; });
  EXPECT_EQ(words(), "only whole tiles of 16 Sq: tiles 1, 4");
  got = expected;
  spoil([](At at) { return at.q % 32 >= 28; });
  EXPECT_EQ(words(), "only Sq at positions 28 to 31 within each tile of 32");
}

TEST_F(ErrorPatternTest, names_nan_and_where_it_is) {
  spoil([](At at) { return at.q >= 100; });
  spoil([](At at) { return at.q == 128; }, [](double, std::size_t) { return k_nan; });
  EXPECT_THAT(words(), HasSubstr("NaN or infinity in 64 of the wrong elements: only the last of 129 Sq (128)"));
  got = expected;
  spoil([](At at) { return at.h == 0; }, [](double, std::size_t) { return k_nan; });
  EXPECT_EQ(words(),
            "only the first of 4 Hq (0) | NaN or infinity in 2064 of the wrong elements, which is all of them");
  EXPECT_THAT(describe(find(), compared()), HasSubstr("got nan"));
}

TEST_F(ErrorPatternTest, names_a_constant_factor_zero_a_sign_and_an_offset) {
  const auto all = [](At) { return true; };
  spoil(all, [](double e, std::size_t) { return 0.125 * e; });
  EXPECT_EQ(words(), "every element is wrong | got is 0.125 times what is expected");
  spoil(all, [](double, std::size_t) { return 0.0; });
  EXPECT_EQ(words(), "every element is wrong | got is zero where something else is expected");
  spoil(all, [](double e, std::size_t) { return -e; });
  EXPECT_EQ(words(), "every element is wrong | got is -1 times what is expected");
  spoil(all, [](double e, std::size_t) { return e + 3; });
  EXPECT_EQ(words(), "every element is wrong | got is what is expected plus 3");
  // One stray element does not hide it.
  spoil(all, [](double e, std::size_t i) { return i == 77 ? 9 : 0.5 * e; });
  EXPECT_THAT(words(), HasSubstr("got is 0.5 times"));
}

TEST_F(ErrorPatternTest, names_rows_that_are_off_by_one) {
  for (std::size_t i = 0; i + 8 < got.size(); ++i) got[i] = expected[i + 8];
  EXPECT_THAT(words(), HasSubstr("got is what is expected one Sq further"));
  got = expected;
  for (std::size_t i = got.size() - 1; i > 0; --i) got[i] = expected[i - 1];
  EXPECT_THAT(words(), HasSubstr("got is what is expected one Dv before"));
}

TEST_F(ErrorPatternTest, tells_rounding_from_indexing) {
  spoil([](At) { return true; },
        [](double e, std::size_t i) { return e + (i % 2 == 0 ? 2e-5 : -3e-5) * (1 + std::abs(e)); });
  EXPECT_THAT(words(), HasSubstr("the errors are small: rounding rather than indexing"));
}

TEST_F(ErrorPatternTest, sees_patterns_through_the_rounding_of_the_type) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    tensor.dtype = dtype;
    limit = 1.2 * least_allowed_error(dtype);
    const auto stored = [&](double value) { return static_cast<double>(stored_value(dtype, value)); };
    const auto all = [](At) { return true; };
    spoil(all, [&](double e, std::size_t) { return stored(0.3 * e); });
    EXPECT_THAT(words(), HasSubstr("got is 0.")) << to_string(dtype);
    EXPECT_THAT(words(), HasSubstr(" times what is expected")) << to_string(dtype);
    EXPECT_THAT(words(), testing::Not(HasSubstr("rounding"))) << "an error of a third of the row is no rounding";
    for (std::size_t i = 0; i + 8 < got.size(); ++i) got[i] = stored(expected[i + 8]);
    EXPECT_THAT(words(), HasSubstr("got is what is expected one Sq further")) << to_string(dtype);
    spoil(all, [&](double e, std::size_t i) { return e + (i % 2 == 0 ? 2 : -3) * limit * (1 + std::abs(e) / 4); });
    EXPECT_THAT(words(), HasSubstr("the errors are small: rounding rather than indexing")) << to_string(dtype);
  }
}

TEST_F(ErrorPatternTest, says_so_when_there_is_no_pattern_in_the_places) {
  Rng rng(3);
  spoil([&](At) { return rng.uniform() < 0.5; });
  EXPECT_EQ(words(), "wrong elements at every index of every axis");
}

TEST(PlaceWords, of_no_marks_and_of_all_are_empty) {
  const TensorSpec tensor{"O", DType::f32, {"R"}};
  const Axes axes{{"R", 4}};
  EXPECT_TRUE(error_location({false, false, false, false}, tensor, axes).empty());
  EXPECT_TRUE(error_location({true, true, true, true}, tensor, axes).empty());
  EXPECT_THAT(error_location({false, true, true, false}, tensor, axes), ElementsAre("only R 1 to 2"));
  EXPECT_EQ(coordinates(tensor, axes, 3), "O[R=3]");
}

}  // namespace
}  // namespace kw
