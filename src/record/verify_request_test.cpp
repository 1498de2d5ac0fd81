#include "record/verify_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/json.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;

VerifyRequest request() {
  Bundle bundle;
  bundle.target = "opencl";
  bundle.problem = "attention/causal";
  bundle.generator = "test";
  bundle.tunables = {{"BLOCK_M", {2, 4}, 2}};
  bundle.launches = {{"k", {"Sq", "Hq"}, {"1", "1"}, "0", {"Q", "K", "V", "O", "Sq"}}};
  bundle.source = "__kernel void k() {}  // \"quoted\", and a \\ backslash\n";
  VerifyRequest made;
  made.problem = ProblemSource{"name = \"attention/causal\"\n", {}, {}};
  made.problem_id = hash_bytes("the problem");
  made.candidate = make_candidate(std::move(bundle), {{"BLOCK_M", 4}}).value();
  made.suite_seed = 0xfedcba9876543210;
  made.budget = std::chrono::milliseconds(1500);
  return made;
}

/// The request as text, with one piece of it replaced.
std::string with(const std::string& piece, const std::string& other) {
  std::string text = encode(request());
  const std::size_t at = text.find(piece);
  KW_CHECK(at != std::string::npos, "no {} in {}", piece, text);
  return text.replace(at, piece.size(), other);
}

TEST(VerifyRequests, come_back_as_they_were_sent) {
  const VerifyRequest sent = request();
  const auto got = decode_verify_request(encode(sent));
  ASSERT_TRUE(got) << got.error().to_string();
  ASSERT_TRUE(got->problem.has_value());
  EXPECT_EQ(got->problem->text, sent.problem->text);
  EXPECT_EQ(got->problem_id, sent.problem_id);
  EXPECT_EQ(got->candidate.id(), sent.candidate.id());
  EXPECT_EQ(got->candidate.bundle, sent.candidate.bundle);
  EXPECT_EQ(got->candidate.tunables, sent.candidate.tunables);
  EXPECT_EQ(got->suite_seed, sent.suite_seed);
  EXPECT_EQ(got->budget, sent.budget);
  EXPECT_EQ(encode(*got), encode(sent));
}

TEST(VerifyRequests, may_lack_a_budget_and_the_text_of_a_problem_made_by_hand) {
  VerifyRequest sent = request();
  sent.problem.reset();
  sent.budget.reset();
  const auto got = decode_verify_request(encode(sent));
  ASSERT_TRUE(got) << got.error().to_string();
  EXPECT_FALSE(got->problem.has_value());
  EXPECT_FALSE(got->budget.has_value());
}

TEST(VerifyRequests, are_refused_with_what_is_wrong_in_them) {
  const struct {
    std::string text;
    ErrorCode code;
    std::string message;
  } cases[] = {
      {"{", errc::record_decode, "verify_request is not JSON"},
      {with("\"format\":1", "\"format\":2"), errc::record_decode, "has format 2, this program reads format 1"},
      {with("1500000000", "0"), errc::record_decode, "verify_request.budget_ns is not above zero"},
      {with("1500000000", "-5"), errc::record_decode, "verify_request.budget_ns is not above zero"},
      {with("{\"BLOCK_M\":4}", "{}"), errc::record_decode, "verify_request.tunables does not assign every tunable"},
      {with("{\"BLOCK_M\":4}", "{\"BLOCK_M\":3}"), errc::candidate_tunable, "BLOCK_M"},
      {with("/*kernelwright", "/*other"), errc::bundle_no_header, ""},
      {std::string(k_max_request_bytes + 1, ' '), errc::record_decode, "bytes, at most"},
  };
  for (const auto& one : cases) {
    const auto got = decode_verify_request(one.text);
    ASSERT_FALSE(got) << one.text.substr(0, 200);
    EXPECT_EQ(got.error().code, one.code) << got.error().to_string();
    EXPECT_THAT(got.error().message, HasSubstr(one.message));
  }
}

TEST(VerifyRequests, cut_off_anywhere_are_refused) {
  const std::string whole = encode(request());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(decode_verify_request(whole.substr(0, length))) << length;
  }
}

}  // namespace
}  // namespace kw
