#pragma once
// What `verify` says last, in one line.

#include <string>

#include "record/verdict.hpp"

namespace kw {

/// "accepted", "rejected" and so on. A kernel that no sanitizer looked at is not called accepted without saying so.
[[nodiscard]] std::string verdict_line(const Verdict& verdict);

}  // namespace kw
