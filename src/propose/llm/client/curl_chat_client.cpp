#include "propose/llm/client/curl_chat_client.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <utility>

#include "propose/llm/client/chat_errors.hpp"
#include "propose/llm/client/http_post.hpp"
#include "propose/llm/client/request_body.hpp"

namespace kw {
namespace {

/// The variables of the curl program, which its library leaves to the caller.
std::string ca_file_of_environment() {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody here sets variables
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

/// For a connection over which nothing is said.
class SilentReceiver final : public HttpReceiver {
 public:
  SilentReceiver(const ChatLimits& limits, const Clock& clock) : limits_(limits), clock_(clock) {}
  Tried<void> on_head(const HttpHead&) override { return {}; }
  Tried<void> on_body(std::string_view) override { return {}; }
  Tried<void> on_tick() override {
    if (auto error = stopped(limits_, clock_)) return tl::unexpected(ChatFailure{*std::move(error), false, {}});
    return {};
  }
  [[nodiscard]] bool is_complete() const override { return false; }

 private:
  const ChatLimits& limits_;
  const Clock& clock_;
};

class CurlChatClient final : public ChatClient {
 public:
  CurlChatClient(ClientOptions options, const Clock& clock)
      : options_(std::move(options)), clock_(clock), key_(options_.key ? &*options_.key : nullptr) {}

  Result<ChatReply> complete(const ChatRequest& request, const ChatLimits& limits) override;
  Result<void> reach(const ChatLimits& limits) override;

 private:
  Tried<ChatReply> try_once(const ChatRequest& request, const RequestShape& shape, const ChatLimits& limits,
                            double& first_token_seconds);
  [[nodiscard]] HttpRequest connection() const;
  [[nodiscard]] HttpRequest http_request(const ChatRequest& request, const RequestShape& shape) const;
  [[nodiscard]] std::optional<Error> wait(Duration duration, const ChatLimits& limits) const;
  [[nodiscard]] Error without_key(Error error) const;
  [[nodiscard]] ChatReply without_key(ChatReply reply) const;

  ClientOptions options_;
  const Clock& clock_;
  const ApiKey* key_;
  std::atomic<std::uint64_t> requests_ = 0;
};

/// Of all requests, and of none.
HttpRequest CurlChatClient::connection() const {
  HttpRequest http;
  http.url = options_.provider.base_url + "/chat/completions";
  http.ca_file = options_.ca_file;
  http.bypass_proxy = is_loopback(options_.provider);
  http.connect_timeout = options_.timeouts.connect;
  return http;
}

HttpRequest CurlChatClient::http_request(const ChatRequest& request, const RequestShape& shape) const {
  HttpRequest http = connection();
  http.headers = {"Content-Type: application/json", "Accept: text/event-stream, application/json",
                  "User-Agent: kernelwright", "Expect:"};
  if (key_ != nullptr) http.headers.push_back(key_->authorization_header());
  http.body = request_body(request, options_.provider, shape);
  return http;
}

Tried<ChatReply> CurlChatClient::try_once(const ChatRequest& request, const RequestShape& shape,
                                          const ChatLimits& limits, double& first_token_seconds) {
  const ErrorScene scene{options_.provider, request.model, key_};
  const Instant began = clock_.now();
  ReplyReceiver receiver(scene, options_.timeouts, limits, clock_);
  if (auto posted = http_post(http_request(request, shape), receiver); !posted) {
    if (posted.error().error.code != errc::chat_connection || !receiver.has_whole_answer()) {
      return tl::unexpected(std::move(posted).error());
    }
  }
  auto reply = receiver.finish(prompt_bytes(request));
  first_token_seconds = to_seconds(receiver.first_token().value_or(clock_.now()) - began);
  return reply;
}

std::optional<Error> CurlChatClient::wait(Duration duration, const ChatLimits& limits) const {
  const Instant until = clock_.now() + duration;
  while (clock_.now() < until) {
    if (auto error = stopped(limits, clock_)) return error;
    std::this_thread::sleep_for(std::min<Duration>(k_tick, until - clock_.now()));
  }
  return std::nullopt;
}

Error CurlChatClient::without_key(Error error) const {
  if (key_ == nullptr) return error;
  error.message = key_->redact(error.message);
  error.hint = key_->redact(error.hint);
  return error;
}

/// A server that reflects its headers could put the key into an answer, and answers are kept.
ChatReply CurlChatClient::without_key(ChatReply reply) const {
  if (key_ == nullptr) return reply;
  reply.text = key_->redact(reply.text);
  reply.reasoning = key_->redact(reply.reasoning);
  reply.model = key_->redact(reply.model);
  return reply;
}

/// Some servers refuse parameters that they do not know; this one can be done without.
bool refuses_usage(const Error& error) {
  return error.code == errc::chat_bad_request && error.message.find("stream_options") != std::string::npos;
}

Result<ChatReply> CurlChatClient::complete(const ChatRequest& request, const ChatLimits& limits) {
  const Instant began = clock_.now();
  Rng rng = Rng(options_.seed).split(requests_.fetch_add(1, std::memory_order_relaxed));
  RequestShape shape;
  for (int retries = 0;;) {
    if (auto error = stopped(limits, clock_)) return fail(*std::move(error));
    const double before = to_seconds(clock_.now() - began);
    double first_token_seconds = 0;
    auto reply = try_once(request, shape, limits, first_token_seconds);
    if (reply) {
      reply->seconds = to_seconds(clock_.now() - began);
      reply->first_token_seconds = before + first_token_seconds;
      reply->retries = retries;
      return without_key(*std::move(reply));
    }
    if (shape.include_usage && refuses_usage(reply.error().error)) {
      shape.include_usage = false;
      continue;
    }
    const auto decision = decide_retry(options_.retry, reply.error(), retries, limits.deadline - clock_.now(), rng);
    if (decision.give_up) return fail(without_key(*decision.give_up));
    if (auto error = wait(*decision.wait, limits)) return fail(*std::move(error));
    ++retries;
  }
}

Result<void> CurlChatClient::reach(const ChatLimits& limits) {
  SilentReceiver receiver(limits, clock_);
  auto connected = http_connect(connection(), receiver);
  if (connected) return {};
  Error error = std::move(connected).error().error;
  error.message = fmt::format("the model's server, {}, is not there: {}", options_.provider.base_url, error.message);
  return fail(without_key(std::move(error)));
}

}  // namespace

Result<std::unique_ptr<ChatClient>> make_curl_chat_client(ClientOptions options, const Clock& clock) {
  if (options.provider.key_required && !options.key) {
    return fail(Error{errc::chat_key, fmt::format("{} wants a key", options.provider.name),
                      fmt::format("export {}=..., or --key-file FILE with mode 0600", options.provider.key_variable)});
  }
  if (options.key && !options.allow_key_over_http && is_open_to_listeners(options.provider)) {
    return fail(Error{
        errc::chat_key,
        fmt::format("{} is plain http to another machine: the key could be read on the way", options.provider.base_url),
        "use https, a tunnel to a port of this machine, or no key"});
  }
  if (options.ca_file.empty()) options.ca_file = ca_file_of_environment();
  return std::make_unique<CurlChatClient>(std::move(options), clock);
}

}  // namespace kw
