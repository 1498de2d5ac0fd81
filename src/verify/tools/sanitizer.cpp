#include "verify/tools/sanitizer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "record/named_lines.hpp"

namespace kw {
namespace {

/// A word of a tool, and what it means; the first that is found counts.
constexpr auto k_finding_kinds = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"where its buffers lie", ": an address used as a number"},
    {"race", ": a data race"},
    {"Race", ": a data race"},
    {"ninitiali", ": a value that nobody wrote"},
    {"arrier", ": a barrier that not all threads reach"},
    {"isaligned", ": a misaligned access"},
    {"nvalid", ": an access outside of a buffer"},
    {"out of bounds", ": an access outside of a buffer"},
});

}  // namespace

std::string summary_of(const SanitizerFinding& finding) {
  const auto* const kind = std::ranges::find_if(
      k_finding_kinds, [&](const auto& one) { return finding.text.find(one.first) != std::string::npos; });
  return "a sanitizer finding" + std::string(kind == k_finding_kinds.end() ? "" : kind->second) +
         lines_text(finding.text);
}

}  // namespace kw
