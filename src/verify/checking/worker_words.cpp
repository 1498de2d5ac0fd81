#include "verify/checking/worker_words.hpp"

#include <algorithm>
#include <cctype>

namespace kw {

std::string plain_name(std::string_view name) {
  constexpr std::size_t k_most = 60;
  std::string plain(name.substr(0, k_most));
  std::ranges::replace_if(
      plain, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '?');
  return plain;
}

}  // namespace kw
