// Cuts a bundle's text into header and source, from untrusted bytes.

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/utf8.hpp"
#include "record/bundle.hpp"
#include "record/bundle_header.hpp"
#include "record/bundle_limits.hpp"

namespace kw {
namespace {

using bundle_format::k_marker;

int line_of(std::string_view text, std::size_t offset) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

/// A bundle's text cut at the header's end.
struct Cut {
  std::string_view header;  ///< TOML, from just after the marker
  int header_line = 1;      ///< line of the marker
  std::string_view source;
};

Result<Cut> cut(std::string_view text, const std::string& file) {
  const auto no_header = [&](std::string message, int line) {
    return fail(Error{errc::bundle_no_header,
                      std::move(message),
                      "start the file with a line \"/*kernelwright\", then the header in TOML, then a line \"*/\"",
                      {file, line, 0}});
  };
  constexpr std::string_view k_byte_order_mark = "\xef\xbb\xbf";
  std::size_t at = text.substr(0, 3) == k_byte_order_mark ? 3 : 0;
  at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
  const int line = line_of(text, at);
  if (text.substr(at, 2) != "/*") return no_header("the file does not start with a bundle header", line);
  at = std::min(text.find_first_not_of(" \t", at + 2), text.size());
  if (text.substr(at, k_marker.size()) != k_marker) {
    return no_header("the first comment is not a bundle header", line);
  }
  at += k_marker.size();
  const std::size_t end = text.find("*/", at);
  if (end == std::string_view::npos) return no_header("the header's comment never ends", line);
  std::size_t source = end + 2;
  if (text.substr(source, 2) == "\r\n") {
    source += 2;
  } else if (text.substr(source, 1) == "\n") {
    source += 1;
  }
  return Cut{text.substr(at, end - at), line, text.substr(source)};
}

}  // namespace

Result<Bundle> parse_bundle(std::string_view text, const std::string& file) {
  const auto too_large = [&](std::size_t bytes) {
    return fail(
        Error{errc::bundle_too_large,
              fmt::format("the bundle has {} bytes; at most {} are allowed", bytes, bundle_format::k_max_text_bytes),
              "",
              {file, 0, 0}});
  };
  if (text.size() > bundle_format::k_max_text_bytes) return too_large(text.size());
  if (const auto offset = first_non_text_byte(text)) {
    return fail(Error{errc::bundle_value,
                      "the bundle is not UTF-8 text, or holds a NUL byte",
                      "",
                      {file, line_of(text, *offset), 0}});
  }
  KW_TRY(const Cut parts, cut(text, file));
  KW_TRY(Bundle bundle, read_bundle_header(parts.header, file, parts.header_line));
  bundle.source = std::string(parts.source);
  if (bundle.source.find_first_not_of(" \t\r\n") == std::string::npos) {
    return fail(
        Error{errc::bundle_value, "there is no source below the header", "", {file, line_of(text, text.size()), 0}});
  }
  // The normal form can be a little longer than what was read, and it must be readable too.
  if (const std::size_t bytes = bundle.to_text().size(); bytes > bundle_format::k_max_text_bytes) {
    return too_large(bytes);
  }
  return bundle;
}

}  // namespace kw
