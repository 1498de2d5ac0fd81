#pragma once
// Content hashes: SHA-256, because identities are computed over untrusted bytes and a collision would let one candidate
// wear another's verdict.

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace kw {

struct Hash {
  std::array<std::uint8_t, 32> bytes{};
  auto operator<=>(const Hash&) const = default;
  /// 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;
  /// The first 12 digits, for people and file names.
  [[nodiscard]] std::string short_hex() const { return hex().substr(0, 12); }
};

/// SHA-256 of the bytes.
[[nodiscard]] Hash hash_bytes(std::string_view bytes);

/// Feeds several fields into one hash, each with its length, so that ("ab","c") and ("a","bc") differ.
class Hasher {
 public:
  Hasher& add(std::string_view field);
  Hasher& add(std::int64_t value);
  [[nodiscard]] Hash finish() const { return hash_bytes(buffer_); }

 private:
  std::string buffer_;
};

}  // namespace kw
