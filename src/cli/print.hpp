#pragma once
// What commands say to people. Names, paths, messages and logs come from users, files, compilers, models and
// candidates, and a terminal obeys some of the bytes that they may hold.

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "archive/archive.hpp"
#include "record/verdict.hpp"
#include "report/escape.hpp"

namespace kw {

/// Control characters become U+FFFD; lines and tabs stay. Output for programs (JSON, bundles) is not printed this way.
template <typename... Args>
void print_text(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
  std::fputs(escape_code(fmt::format(format, std::forward<Args>(args)...)).c_str(), stream);
}
template <typename... Args>
void print_text(fmt::format_string<Args...> format, Args&&... args) {
  print_text(stdout, format, std::forward<Args>(args)...);
}

/// "accepted", "accepted, but not sanitized", "rejected": what a verdict comes to, in a few words.
[[nodiscard]] std::string verdict_in_words(const Verdict& verdict);

/// One warning on standard error that names the damaged runs which reading met, if it met any.
void warn_of_damage(const Archive& archive);

}  // namespace kw
