#pragma once
// A gate that only a test has: it rejects candidates that assign more than four to the tunable ROWS.

#include "verify/gates/gate.hpp"

namespace kw {

inline constexpr std::int64_t k_few_rows = 4;

[[nodiscard]] Gate few_rows_gate();

}  // namespace kw
