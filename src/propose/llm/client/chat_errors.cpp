#include "propose/llm/client/chat_errors.hpp"

#include <algorithm>
#include <array>

namespace kw {

bool is_final_chat_error(const Error& error) {
  constexpr std::array<ErrorCode, 8> k_final = {errc::chat_replayed, errc::chat_bad_request, errc::chat_unauthorized,
                                                errc::chat_payment,  errc::chat_forbidden,   errc::chat_not_found,
                                                errc::chat_key,      errc::chat_provider};
  return std::find(k_final.begin(), k_final.end(), error.code) != k_final.end();
}

}  // namespace kw
