#include "base/hash.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/result.hpp"

namespace kw {

std::string Hash::hex() const {
  std::string text;
  for (const auto byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

Hash hash_bytes(std::string_view bytes) {
  Hash hash;
  unsigned int length = 0;
  const int ok = EVP_Digest(bytes.data(), bytes.size(), hash.bytes.data(), &length, EVP_sha256(), nullptr);
  KW_CHECK(ok == 1 && length == hash.bytes.size(), "SHA-256 gave {} bytes", length);
  return hash;
}

Hasher& Hasher::add(std::string_view field) {
  buffer_ += fmt::format("{}:", field.size());
  buffer_ += field;
  return *this;
}

Hasher& Hasher::add(std::int64_t value) {
  return add(fmt::format("{}", value));
}

}  // namespace kw
