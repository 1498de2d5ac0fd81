#include "propose/llm/client/reply_receiver.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include "propose/llm/client/chat_errors.hpp"
#include "propose/llm/client/chat_json.hpp"

namespace kw {
namespace {

/// An event carries a few bytes of answer in some hundred bytes of JSON.
constexpr std::size_t k_max_stream_bytes = 64 * k_max_reply_bytes;
constexpr std::size_t k_max_error_body_bytes = 64U << 10U;
constexpr std::string_view k_white = " \t\r\n";

std::string media_type(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  while (type.ends_with(' ')) type.pop_back();
  for (char& c : type) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return type;
}

Error broken_off() {
  return Error{errc::chat_connection, "the answer broke off in the middle", "try again later"};
}

Error too_large(std::size_t bound) {
  return Error{errc::chat_too_large, fmt::format("the answer is longer than {} bytes on the wire", bound),
               "the model repeats itself, or another program answers; limit its tokens"};
}

}  // namespace

std::optional<Error> stopped(const ChatLimits& limits, const Clock& clock) {
  if (limits.stop != nullptr && limits.stop->load(std::memory_order_relaxed)) {
    return Error{errc::chat_stopped, "the request was given up: the run was stopped"};
  }
  if (clock.now() >= limits.deadline) {
    return Error{errc::chat_stopped, "the request was given up: the budget's time is over"};
  }
  return std::nullopt;
}

ReplyReceiver::ReplyReceiver(const ErrorScene& scene, const ChatTimeouts& timeouts, const ChatLimits& limits,
                             const Clock& clock)
    : scene_(scene), timeouts_(timeouts), limits_(limits), clock_(clock), began_(clock.now()), last_progress_(began_) {}

tl::unexpected<ChatFailure> ReplyReceiver::failed(Error error, bool worth_retrying) const {
  return tl::unexpected(ChatFailure{std::move(error), worth_retrying, std::nullopt});
}

tl::unexpected<ChatFailure> ReplyReceiver::failed_status() const {
  const auto redirect = head_.status >= 300 && head_.status < 400;
  if (redirect) {
    return failed(
        {errc::chat_provider,
         fmt::format("{} redirects to {} (HTTP {}); redirects are not followed, because the key would go along",
                     scene_.provider.base_url, excerpt(head_.location, scene_.key), head_.status),
         "if that is the right place, give it as --base-url"});
  }
  ChatFailure failure = describe(read_error_body(head_.status, body_), scene_);
  // The date in Retry-After was read from the server's clock, and so is compared with it.
  const std::int64_t now = parse_http_date(head_.date).value_or(std::time(nullptr));
  failure.retry_after = parse_retry_after(head_.retry_after, now);
  return tl::unexpected(std::move(failure));
}

ChatFailure ReplyReceiver::wrong_type() const {
  const auto type = excerpt(media_type(head_.content_type), scene_.key);
  return {Error{errc::chat_protocol,
                fmt::format("{} answered {} instead of a chat completion", scene_.provider.base_url,
                            type.empty() ? "with something unnamed" : "with " + type),
                "check --base-url, which most often ends in /v1"},
          false, std::nullopt};
}

Tried<void> ReplyReceiver::on_head(const HttpHead& head) {
  head_ = head;
  last_progress_ = clock_.now();
  const std::string type = media_type(head.content_type);
  if (head.status != 200) {
    mode_ = Mode::error;
  } else if (type == "text/event-stream") {
    mode_ = Mode::events;
  } else if (type == "application/json" || type.ends_with("+json")) {
    mode_ = Mode::plain;
  } else if (type.empty() || type == "text/plain") {
    mode_ = Mode::sniff;
  } else {
    return tl::unexpected(wrong_type());
  }
  return {};
}

Tried<void> ReplyReceiver::on_body(std::string_view bytes) {
  if (auto error = stopped(limits_, clock_)) return failed(*std::move(error));
  wire_bytes_ += bytes.size();
  if (wire_bytes_ > k_max_stream_bytes) return failed(too_large(k_max_stream_bytes));
  if (mode_ == Mode::sniff) {
    const std::size_t first = bytes.find_first_not_of(k_white);
    if (first == std::string_view::npos) return {};
    constexpr std::string_view k_first_of_events = ":deir\xef";  // comment, data, event, id, retry, byte order mark
    if (bytes[first] == '{') {
      mode_ = Mode::plain;
    } else if (k_first_of_events.find(bytes[first]) != std::string_view::npos) {
      mode_ = Mode::events;
    } else {
      return tl::unexpected(wrong_type());
    }
  }
  if (mode_ == Mode::events) return take_events(decoder_.feed(bytes));
  if (mode_ == Mode::plain) return take_plain(bytes);
  body_ += bytes.substr(0, k_max_error_body_bytes - std::min(k_max_error_body_bytes, body_.size()));
  return {};
}

Tried<void> ReplyReceiver::take_events(Result<std::vector<SseEvent>> events) {
  if (!events) return failed(std::move(events).error());
  for (const auto& event : *events) {
    if (auto added = stream_.add(event.data); !added) return failed(std::move(added).error());
    if (stream_.server_error()) return tl::unexpected(describe(*stream_.server_error(), scene_));
    last_progress_ = clock_.now();
    if (!first_token_ && (stream_.has_token() || stream_.has_finish())) first_token_ = last_progress_;
  }
  return {};
}

Tried<void> ReplyReceiver::take_plain(std::string_view bytes) {
  if (body_.empty()) {
    // Empty lines keep the connection alive while the model thinks.
    const std::size_t first = bytes.find_first_not_of(k_white);
    if (first == std::string_view::npos) return {};
    bytes.remove_prefix(first);
    first_token_ = last_progress_ = clock_.now();
  }
  body_ += bytes;
  return body_.size() > k_max_json_bytes ? failed(too_large(k_max_json_bytes)) : Tried<void>();
}

Tried<void> ReplyReceiver::on_tick() {
  if (auto error = stopped(limits_, clock_)) return failed(*std::move(error));
  const Instant now = clock_.now();
  if (mode_ == Mode::error) {
    return now - last_progress_ > timeouts_.idle ? Tried<void>(failed_status()) : Tried<void>();
  }
  if (!first_token_ && now - began_ > timeouts_.first_token) {
    return failed(
        {errc::chat_timeout,
         fmt::format("model '{}' said nothing within {:g} s", scene_.model, to_seconds(timeouts_.first_token)),
         "a model that thinks longer needs a longer budget; a server that loads it, another try"});
  }
  if (first_token_ && now - last_progress_ > timeouts_.idle) {
    return failed({errc::chat_timeout,
                   fmt::format("model '{}' fell silent for {:g} s in the middle of its answer", scene_.model,
                               to_seconds(timeouts_.idle)),
                   "try again later"});
  }
  return {};
}

Tried<ChatReply> ReplyReceiver::finish(std::size_t prompt_bytes) {
  if (mode_ == Mode::error) return failed_status();
  if (mode_ == Mode::plain) {
    const bool whole =
        body_.find_last_not_of(k_white) != std::string::npos && body_[body_.find_last_not_of(k_white)] == '}';
    if (auto added = stream_.add(body_); !added) {
      return whole ? failed(std::move(added).error()) : failed(broken_off(), true);
    }
    if (stream_.server_error()) return tl::unexpected(describe(*stream_.server_error(), scene_));
  } else if (!stream_.done()) {
    const auto rest = decoder_.finish();
    if (!rest) return failed(rest.error());
    for (const auto& event : *rest) {
      if (!stream_.add(event.data)) return failed(broken_off(), true);
    }
    if (stream_.server_error()) return tl::unexpected(describe(*stream_.server_error(), scene_));
  }
  auto reply = stream_.finish(prompt_bytes);
  if (!reply) return failed(std::move(reply).error());
  return *std::move(reply);
}

}  // namespace kw
