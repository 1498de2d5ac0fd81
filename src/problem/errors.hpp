#pragma once
// What is refused of problem files and of changes to problems.

#include "base/result.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode problem_syntax{"problem.syntax"};            ///< not TOML
inline constexpr ErrorCode problem_unknown_key{"problem.unknown_key"};  ///< with the nearest known key as the hint
inline constexpr ErrorCode problem_missing_key{"problem.missing_key"};
inline constexpr ErrorCode problem_type{"problem.type"};    ///< a value of the wrong TOML type
inline constexpr ErrorCode problem_value{"problem.value"};  ///< a value out of its range
inline constexpr ErrorCode problem_unknown_op{"problem.unknown_op"};
inline constexpr ErrorCode problem_set{"problem.set"};  ///< a bad --set AXIS=VALUE
}  // namespace errc

}  // namespace kw
