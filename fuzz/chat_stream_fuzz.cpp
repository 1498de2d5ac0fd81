// What a model's server sends. The first byte says how the rest is cut into pieces. Whatever the bytes: the pieces give
// the same events as the whole, a reply is bounded text, and an error message is one printable line.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/rng.hpp"
#include "base/utf8.hpp"
#include "propose/llm/client/reply_stream.hpp"
#include "propose/llm/client/server_error.hpp"
#include "propose/llm/client/sse_decoder.hpp"

namespace {

using Events = std::vector<kw::SseEvent>;

constexpr std::size_t k_max_event_bytes = 4096;

/// Nothing when the bytes go past the bound.
std::optional<Events> decode(std::string_view bytes, std::uint64_t seed) {
  kw::SseDecoder decoder(k_max_event_bytes);
  kw::Rng rng(seed);
  Events events;
  while (!bytes.empty()) {
    const auto length = std::min(bytes.size(), seed == 0 ? bytes.size() : static_cast<std::size_t>(rng.below(8)));
    const auto some = decoder.feed(bytes.substr(0, length));
    if (!some) return std::nullopt;
    events.insert(events.end(), some->begin(), some->end());
    bytes.remove_prefix(length);
  }
  const auto rest = decoder.finish();
  if (!rest) return std::nullopt;
  events.insert(events.end(), rest->begin(), rest->end());
  return events;
}

void check_reply(const kw::ReplyStream& stream) {
  const auto reply = stream.finish(100);
  if (!reply) return;
  KW_CHECK(!kw::first_non_text_byte(reply->text) && !kw::first_non_text_byte(reply->reasoning));
  KW_CHECK(reply->text.size() + reply->reasoning.size() <= kw::k_max_reply_bytes + 1);
  KW_CHECK(reply->usage.prompt >= reply->usage.cached && reply->usage.completion >= reply->usage.reasoning);
  KW_CHECK(reply->usage.cached >= 0 && reply->usage.reasoning >= 0);
}

void check_error(const kw::ServerError& error) {
  static const kw::Provider provider = *kw::make_provider("vllm", "");
  const auto failure = kw::describe(error, {provider, "m", nullptr});
  KW_CHECK(!failure.error.message.empty() && failure.error.message.size() < 1000);
  KW_CHECK(!kw::first_non_text_byte(failure.error.message));
  KW_CHECK(failure.error.message.find('\n') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = decode(bytes, 0);
  KW_CHECK(decode(bytes, data[0]) == whole);
  kw::ReplyStream stream;
  for (const auto& event : whole.value_or(Events{})) {
    if (!stream.add(event.data)) break;
  }
  check_reply(stream);
  if (stream.server_error()) check_error(*stream.server_error());

  kw::ReplyStream plain;
  if (plain.add(bytes)) check_reply(plain);
  check_error(kw::read_error_body(400, bytes));
  return 0;
}
