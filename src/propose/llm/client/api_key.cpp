#include "propose/llm/client/api_key.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/unique_fd.hpp"
#include "propose/llm/client/chat_errors.hpp"
#include "propose/llm/client/provider.hpp"

namespace kw {
namespace {

Error key_error(std::string message, std::string hint) {
  return Error{errc::chat_key, std::move(message), std::move(hint)};
}

/// What can be said against the file, before any of it is read.
std::optional<Error> refuse_file(const std::filesystem::path& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) {
    return key_error(fmt::format("the key file {} is not a regular file", path.string()), "write the key into a file");
  }
  constexpr mode_t k_others = S_IRWXG | S_IRWXO;
  if ((status.st_mode & k_others) != 0) {
    return key_error(fmt::format("the key file {} is open to other users (mode {:04o})", path.string(),
                                 static_cast<unsigned>(status.st_mode) & 07777U),
                     fmt::format("chmod 600 '{}'", path.string()));
  }
  return std::nullopt;
}

}  // namespace

Result<ApiKey> ApiKey::make(std::string_view text, std::string_view source) {
  constexpr std::string_view k_white = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(k_white);
  if (begin == std::string_view::npos) {
    return fail(key_error(fmt::format("{} holds no key", source), "put the key there, on one line"));
  }
  text = text.substr(begin, text.find_last_not_of(k_white) - begin + 1);
  if (text.size() > k_max_bytes) {
    return fail(key_error(fmt::format("{} holds {} bytes; no key is longer than {}", source, text.size(), k_max_bytes),
                          "put the key alone there, on one line"));
  }
  if (text.find_first_of("\r\n") != std::string_view::npos) {
    return fail(key_error(fmt::format("{} holds more than one line", source), "put the key alone there, on one line"));
  }
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; })) {
    return fail(key_error(fmt::format("{} holds characters that no key has", source),
                          "copy the key again: letters, digits and punctuation, no spaces"));
  }
  return ApiKey(std::string(text));
}

std::string ApiKey::redact(std::string_view text) const {
  if (text_.size() < k_least_secret_bytes) return std::string(text);
  std::string out;
  for (;;) {
    const std::size_t at = text.find(text_);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += "[key]";
    text.remove_prefix(at + text_.size());
  }
}

Result<ApiKey> read_key_file(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe would block here otherwise
  if (!fd.valid()) {
    return fail(key_error(fmt::format("cannot read the key file {}: {}", path.string(), std::strerror(errno)),
                          "--key-file takes the path of a file that holds the key alone"));
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return fail(key_error(fmt::format("cannot read the key file {}: {}", path.string(), std::strerror(errno)), {}));
  }
  if (auto refused = refuse_file(path, status)) return fail(*std::move(refused));
  std::string text(ApiKey::k_max_bytes + 2, '\0');  // a line end, and one byte to see that there is too much
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(fd.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(key_error(fmt::format("cannot read the key file {}: {}", path.string(), std::strerror(errno)), {}));
    }
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  return ApiKey::make(std::string_view(text).substr(0, length), fmt::format("the key file {}", path.string()));
}

Result<std::optional<ApiKey>> find_api_key(const Provider& provider,
                                           const std::optional<std::filesystem::path>& key_file,
                                           std::optional<std::string_view> environment_value) {
  if (key_file) {
    KW_TRY(auto key, read_key_file(*key_file));
    return key;
  }
  if (environment_value && !environment_value->empty()) {
    KW_TRY(auto key, ApiKey::make(*environment_value, "the environment variable " + provider.key_variable));
    return key;
  }
  if (!provider.key_required) return std::optional<ApiKey>();
  return fail(key_error(
      fmt::format("{} wants a key, and the environment variable {} is not set", provider.name, provider.key_variable),
      fmt::format("export {}=..., or --key-file FILE with mode 0600", provider.key_variable)));
}

}  // namespace kw
