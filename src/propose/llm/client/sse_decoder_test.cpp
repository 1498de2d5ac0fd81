#include "propose/llm/client/sse_decoder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "propose/llm/client/chat_errors.hpp"

namespace kw {
namespace {

using testing::ElementsAre;

/// Everything, given in pieces of these lengths (the last one repeats).
std::vector<SseEvent> decode(std::string_view bytes, Rng* cuts = nullptr) {
  SseDecoder decoder;
  std::vector<SseEvent> events;
  const auto take = [&](Result<std::vector<SseEvent>> some) {
    ASSERT_TRUE(some) << some.error().to_string();
    events.insert(events.end(), some->begin(), some->end());
  };
  while (!bytes.empty()) {
    const auto length = cuts == nullptr ? bytes.size() : static_cast<std::size_t>(cuts->below(4));
    take(decoder.feed(bytes.substr(0, length)));
    bytes.remove_prefix(std::min(length, bytes.size()));
  }
  take(decoder.finish());
  return events;
}

TEST(SseDecoder, ends_lines_at_lf_cr_lf_and_lone_cr) {
  const SseEvent one{"", "one"};
  const SseEvent two{"", "two"};
  EXPECT_THAT(decode("data: one\n\ndata: two\n\n"), ElementsAre(one, two));
  EXPECT_THAT(decode("data: one\r\n\r\ndata: two\r\n\r\n"), ElementsAre(one, two));
  EXPECT_THAT(decode("data: one\r\rdata: two\r\r"), ElementsAre(one, two));
  EXPECT_THAT(decode("data: one\r\n\ndata: two\n\r\n"), ElementsAre(one, two));
}

TEST(SseDecoder, passes_over_comments_ids_and_retry_times) {
  EXPECT_THAT(decode(": keep-alive\n\n:\n\nid: 7\nretry: 10\nnonsense\ndata: x\n\n: bye\n\n"),
              ElementsAre(SseEvent{"", "x"}));
}

TEST(SseDecoder, joins_data_lines_and_takes_one_space_only) {
  EXPECT_THAT(decode("event: delta\ndata:a\ndata:  b\ndata\n\n"), ElementsAre(SseEvent{"delta", "a\n b\n"}));
}

TEST(SseDecoder, gives_no_event_for_a_name_without_data) {
  EXPECT_THAT(decode("event: ping\n\ndata: x\n\n"), ElementsAre(SseEvent{"", "x"}));
}

TEST(SseDecoder, counts_a_last_event_without_empty_line) {
  EXPECT_THAT(decode("data: one\n\ndata: [DONE]"), ElementsAre(SseEvent{"", "one"}, SseEvent{"", "[DONE]"}));
}

TEST(SseDecoder, passes_over_a_byte_order_mark) {
  EXPECT_THAT(decode("\xef\xbb\xbf"
                     "data: x\n\n"),
              ElementsAre(SseEvent{"", "x"}));
}

TEST(SseDecoder, does_not_care_where_the_bytes_are_cut) {
  const std::string text =
      ": c\r\n\r\nevent: a\r\ndata: \xe2\x82\xac\xf0\x9f\x98\x80\r\ndata: more\r\n\r\ndata: {\"x\": 1}\n\n\rdata: "
      "z\r\r";
  const auto whole = decode(text);
  ASSERT_EQ(whole.size(), 3U);
  EXPECT_EQ(whole[0], (SseEvent{"a", "\xe2\x82\xac\xf0\x9f\x98\x80\nmore"}));
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng cuts(seed);
    EXPECT_EQ(decode(text, &cuts), whole) << "seed " << seed;
  }
}

TEST(SseDecoder, bounds_lines_and_events) {
  SseDecoder line_decoder(16);
  EXPECT_TRUE(line_decoder.feed("data: 0123456789"));
  const auto line = line_decoder.feed("0");
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, errc::chat_too_large);
  EXPECT_EQ(line.error().message, "a line of the answer's event stream is longer than 16 bytes");

  SseDecoder event_decoder(16);
  EXPECT_TRUE(event_decoder.feed("data: 01234567\ndata: 012345\n"));
  const auto event = event_decoder.feed("data: 01\n");
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().code, errc::chat_too_large);
  EXPECT_EQ(event.error().message, "an event of the answer is longer than 16 bytes");
}

}  // namespace
}  // namespace kw
