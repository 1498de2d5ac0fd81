#include "language/kernel_headers.hpp"

#include <algorithm>

#include "language/language.hpp"

namespace kw {

std::span<const std::string_view> language_headers(std::string_view target) {
  const Language* language = find_language(target);
  return language == nullptr ? std::span<const std::string_view>() : language->headers;
}

bool is_kernel_header(std::string_view target, std::string_view header) {
  const auto own = language_headers(target);
  const auto is_it = [&](std::string_view name) { return name == header; };
  return !own.empty() && (std::ranges::any_of(own, is_it) || std::ranges::any_of(k_c_headers, is_it));
}

}  // namespace kw
