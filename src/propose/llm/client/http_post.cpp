#include "propose/llm/client/http_post.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "propose/llm/client/chat_errors.hpp"

namespace kw {
namespace {

using Easy = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Multi = std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)>;
using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

constexpr std::size_t k_max_head_bytes = 256U << 10U;

/// The library wants to be started once per process, before any other call of it.
void start_library() {
  static std::once_flag once;
  std::call_once(once, [] { KW_CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); });
}

tl::unexpected<ChatFailure> failure(ErrorCode code, std::string message, std::string hint, bool worth_retrying) {
  return tl::unexpected(ChatFailure{Error{code, std::move(message), std::move(hint)}, worth_retrying, std::nullopt});
}

tl::unexpected<ChatFailure> headers_too_long(std::string_view bound) {
  return failure(errc::chat_protocol, fmt::format("the headers of the server's reply are too long: {}", bound),
                 "check --base-url: it may not be a model that answers there", false);
}

/// What the callbacks share. They are called from C, so that nothing may be thrown through them.
struct Transfer {
  CURL* easy = nullptr;
  HttpReceiver* receiver = nullptr;
  std::size_t head_bytes = 0;
  bool head_given = false;
  std::optional<ChatFailure> failed;

  void note(Tried<void> result) {
    if (!result && !failed) failed = std::move(result).error();
  }
  [[nodiscard]] std::string header(const char* name) const {
    curl_header* found = nullptr;
    if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK) return {};
    return found->value;
  }
  void give_head() {
    if (std::exchange(head_given, true)) return;
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    note(receiver->on_head(
        {static_cast<int>(status), header("Content-Type"), header("Retry-After"), header("Date"), header("Location")}));
  }
};

std::size_t take_header(char*, std::size_t size, std::size_t count, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  transfer.head_bytes += size * count;
  if (transfer.head_bytes <= k_max_head_bytes) return size * count;
  transfer.note(headers_too_long("they have more than 256 KiB"));
  return 0;
}

std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  transfer.give_head();
  if (!transfer.failed) transfer.note(transfer.receiver->on_body({bytes, size * count}));
  return transfer.failed ? 0 : size * count;
}

void set_up(Transfer& transfer, const HttpRequest& request, const curl_slist* headers, char* error_text) {
  CURL* const easy = transfer.easy;
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(request.connect_timeout).count();
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);  // a redirect would carry the key elsewhere
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // do not wait for a slow name server when giving up
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::max<std::int64_t>(timeout, 1)));
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (!request.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, request.ca_file.c_str());
  if (request.bypass_proxy) curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &take_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &take_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
}

Tried<void> explain(CURLcode code, const char* error_text) {
  const std::string said = *error_text != '\0' ? error_text : curl_easy_strerror(code);
  switch (code) {
    case CURLE_OK:
      return {};
    case CURLE_OPERATION_TIMEDOUT:
      return failure(errc::chat_timeout, "no connection within the connect timeout: " + said,
                     "check --base-url and the network", true);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return failure(errc::chat_connection, "no connection: " + said,
                     "check that the server runs, --base-url, and https_proxy and no_proxy", true);
    case CURLE_SSL_CONNECT_ERROR:
      return failure(errc::chat_connection, "no TLS connection: " + said,
                     "check that the server speaks https at this port; a local one most often speaks http", false);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
      return failure(errc::chat_connection, "the server's certificate is not trusted: " + said,
                     "export CURL_CA_BUNDLE=FILE with the certificate of the authority that signed it", false);
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return failure(errc::chat_connection, "the connection broke: " + said, "try again later", true);
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return failure(errc::chat_provider, "the base URL cannot be used: " + said, "--base-url http(s)://HOST/v1",
                     false);
    default:
      return failure(errc::chat_connection, "the request failed: " + said, "check --base-url and the network", false);
  }
}

/// The library keeps a header line of up to 100 KiB, and calls a longer one a lack of memory.
bool is_long_header(CURLcode code, const Transfer& transfer) {
#if LIBCURL_VERSION_NUM >= 0x080600
  if (code == CURLE_TOO_LARGE) return !transfer.head_given;
#endif
  return code == CURLE_OUT_OF_MEMORY && !transfer.head_given;
}

/// Runs the transfer to its end, or to where the receiver ends it.
Tried<CURLcode> drive(CURLM* multi, Transfer& transfer) {
  for (;;) {
    int running = 0;
    const CURLMcode performed = curl_multi_perform(multi, &running);
    if (transfer.failed) return tl::unexpected(*transfer.failed);
    if (transfer.receiver->is_complete()) return CURLE_OK;
    if (performed != CURLM_OK) return CURLE_FAILED_INIT;
    if (running == 0) break;
    if (auto tick = transfer.receiver->on_tick(); !tick) return tl::unexpected(std::move(tick).error());
    curl_multi_poll(multi, nullptr, 0, static_cast<int>(k_tick.count()), nullptr);
  }
  int left = 0;
  const CURLMsg* const message = curl_multi_info_read(multi, &left);
  return message != nullptr && message->msg == CURLMSG_DONE ? message->data.result : CURLE_FAILED_INIT;
}

enum class Reach : std::uint8_t { connect, post };

Tried<void> transfer(const HttpRequest& request, HttpReceiver& receiver, Reach reach) {
  start_library();
  Headers headers(nullptr, &curl_slist_free_all);
  for (const auto& header : request.headers) {
    // The list's head stays the same from the first element on.
    curl_slist* const list = curl_slist_append(headers.get(), header.c_str());
    if (headers == nullptr) headers.reset(list);
  }
  const Multi multi(curl_multi_init(), &curl_multi_cleanup);
  const Easy easy(curl_easy_init(), &curl_easy_cleanup);
  KW_CHECK(multi != nullptr && easy != nullptr);
  std::array<char, CURL_ERROR_SIZE> error_text{};
  Transfer one{easy.get(), &receiver, 0, false, std::nullopt};
  set_up(one, request, headers.get(), error_text.data());
  if (reach == Reach::connect) curl_easy_setopt(easy.get(), CURLOPT_CONNECT_ONLY, 1L);
  curl_multi_add_handle(multi.get(), easy.get());
  const auto ended = drive(multi.get(), one);
  curl_multi_remove_handle(multi.get(), easy.get());
  if (!ended) return tl::unexpected(ended.error());
  if (*ended == CURLE_OK && reach == Reach::post) one.give_head();  // an answer without a body
  if (one.failed) return tl::unexpected(*one.failed);
  if (is_long_header(*ended, one)) return headers_too_long("one line has more than 100 KiB");
  return explain(*ended, error_text.data());
}

}  // namespace

Tried<void> http_post(const HttpRequest& request, HttpReceiver& receiver) {
  return transfer(request, receiver, Reach::post);
}

Tried<void> http_connect(const HttpRequest& request, HttpReceiver& receiver) {
  return transfer(request, receiver, Reach::connect);
}

}  // namespace kw
