#pragma once
// Error codes of the suite. A problem's own failure is none of them: it is a row.

#include "base/result.hpp"

namespace kw::errc {

inline constexpr ErrorCode suite_empty{"suite.empty"};        ///< no problem in what was given
inline constexpr ErrorCode suite_problem{"suite.problem"};    ///< a path that is no problem, or two of one name
inline constexpr ErrorCode suite_baseline{"suite.baseline"};  ///< a file of times of another form
inline constexpr ErrorCode suite_mismatch{"suite.mismatch"};  ///< the folder holds a suite that was set up otherwise
inline constexpr ErrorCode suite_device{"suite.device"};      ///< a device twice
inline constexpr ErrorCode suite_nothing{"suite.nothing"};    ///< no suite to go on with
/// The state of a suite is not what this program wrote.
inline constexpr ErrorCode suite_state{"suite.state", ExitClass::internal};
inline constexpr ErrorCode suite_in_progress{"suite.in_progress"};  ///< another process carries it out
inline constexpr ErrorCode suite_export{"suite.export"};            ///< a kernel that ModelNew cannot hold

}  // namespace kw::errc
