#pragma once
// Untrusted JSON from a server, read so that it can do no harm: bytes that are no UTF-8 and halves of surrogate pairs
// become U+FFFD, nesting and size are bounded. The one place of the client that shows bytes to the JSON library.

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kw {

inline constexpr std::size_t k_max_json_bytes = 8U << 20U;
inline constexpr int k_max_json_depth = 32;

/// errc::chat_protocol for what is no JSON object or too deep, errc::chat_too_large past k_max_json_bytes. Messages
/// never quote the bytes.
[[nodiscard]] Result<nlohmann::json> parse_chat_json(std::string_view bytes);

/// The string at `key` of `object` when there is one, with NUL replaced; empty otherwise, also when `object` is none.
[[nodiscard]] std::string text_at(const nlohmann::json& object, const char* key);
/// The value at `key`; a null value when there is none or `object` is none.
[[nodiscard]] const nlohmann::json& value_at(const nlohmann::json& object, const char* key);

}  // namespace kw
