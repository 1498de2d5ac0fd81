#pragma once
// Why the oracle of tensor programs has no answer.

#include "base/result.hpp"

namespace kw::errc {
inline constexpr ErrorCode oracle_unanswered{"oracle.unanswered"};  ///< an operator, or a case of it, that it lacks
inline constexpr ErrorCode oracle_random{"oracle.random"};          ///< a node that gives another result each time
inline constexpr ErrorCode oracle_leaf{"oracle.leaf", ExitClass::internal};  ///< an input without its elements
}  // namespace kw::errc
