#pragma once
// What a run's wall clock went to, as it is recorded: seconds by stage and activity. The gates are stages too, under
// their own names (record/verdict.hpp). Names are on disk and in `--json`: never rename one.

#include <string>
#include <string_view>

namespace kw {

struct TimeUse {
  std::string stage;
  std::string activity;
  double seconds = 0;
};

namespace time_stage {
inline constexpr std::string_view opening = "opening";      ///< until the first candidate may be judged
inline constexpr std::string_view proposing = "proposing";  ///< the search, or waiting for a model
inline constexpr std::string_view keeping = "keeping";      ///< archive and files
inline constexpr std::string_view final = "final";          ///< the best against the plain kernel
}  // namespace time_stage

namespace time_activity {
inline constexpr std::string_view device = "device";          ///< sandbox probes, drivers
inline constexpr std::string_view peaks = "peaks";            ///< measuring what the device can do
inline constexpr std::string_view inputs = "inputs";          ///< drawing data
inline constexpr std::string_view oracle = "oracle";          ///< its answers
inline constexpr std::string_view probes = "probes";          ///< whether the problem can be scored
inline constexpr std::string_view compiling = "compiling";    ///< and waiting for the compiler
inline constexpr std::string_view starting = "starting";      ///< processes that run kernels
inline constexpr std::string_view copies = "copies";          ///< inputs and poison in, outputs out
inline constexpr std::string_view launches = "launches";      ///< requests to the process that runs the kernel
inline constexpr std::string_view flush = "flush";            ///< emptying caches before a cold launch
inline constexpr std::string_view judging = "judging";        ///< outputs, inputs and guard zones afterwards
inline constexpr std::string_view statistics = "statistics";  ///< intervals of medians
inline constexpr std::string_view tool = "tool";              ///< sanitizer or profiler
inline constexpr std::string_view doubt = "doubt";            ///< a time that seems impossible is looked at again
inline constexpr std::string_view model = "model";            ///< waiting for a model's reply
}  // namespace time_activity

}  // namespace kw
