#pragma once
// The secret that a provider wants. It comes from the environment or from a file that nobody else can read, leaves in
// one request header, and cannot be printed: no formatter, no stream operator, no conversion to text.

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kw {

class ApiKey {
 public:
  static constexpr std::size_t k_max_bytes = 4096;
  /// Below this a key is a word that servers without keys are given ("x", "none", "EMPTY"): no secret, and its letters
  /// stand in every kernel.
  static constexpr std::size_t k_least_secret_bytes = 8;

  /// `text` with white space around it cut: printable ASCII without spaces, one line, bounded. errc::chat_key names
  /// `source` ("the environment variable X") and never the text.
  [[nodiscard]] static Result<ApiKey> make(std::string_view text, std::string_view source);

  /// "Authorization: Bearer ...", for the HTTP client alone.
  [[nodiscard]] std::string authorization_header() const { return "Authorization: Bearer " + text_; }
  /// `text` with "[key]" wherever the key stood; as it is where the key is shorter than k_least_secret_bytes. For
  /// everything that a server said, before it is cut, stored or shown.
  [[nodiscard]] std::string redact(std::string_view text) const;

  friend std::ostream& operator<<(std::ostream&, const ApiKey&) = delete;

 private:
  explicit ApiKey(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

/// A regular file that its owner alone may read or write. errc::chat_key says which chmod to run.
[[nodiscard]] Result<ApiKey> read_key_file(const std::filesystem::path& path);

struct Provider;
/// The key for `provider`: from `key_file` if given, else from `environment_value`, which is what the variable
/// provider.key_variable holds. Nothing when neither is there and the provider needs none; errc::chat_key when it does.
[[nodiscard]] Result<std::optional<ApiKey>> find_api_key(const Provider& provider,
                                                         const std::optional<std::filesystem::path>& key_file,
                                                         std::optional<std::string_view> environment_value);

}  // namespace kw

/// A key is never formatted.
template <>
struct fmt::formatter<kw::ApiKey> {
  formatter() = delete;
};
