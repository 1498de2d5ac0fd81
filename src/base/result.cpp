#include "base/result.hpp"

#include <cstdio>
#include <cstdlib>

namespace kw {

std::string Error::to_string() const {
  std::string text;
  if (!where.file.empty()) text += where.file + ":";
  if (where.line > 0) text += fmt::format("{}:", where.line);
  if (where.column > 0) text += fmt::format("{}:", where.column);
  if (!text.empty()) text += " ";
  text += fmt::format("{} [{}]", message, code.name);
  for (const auto& doing : context) text += "\n  while " + doing;
  if (!hint.empty()) text += "\n  try: " + hint;
  return text;
}

void check_failed(const char* file, int line, const char* condition, const std::string& detail) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s %s\n", file, line, condition, detail.c_str());
  std::abort();
}

}  // namespace kw
