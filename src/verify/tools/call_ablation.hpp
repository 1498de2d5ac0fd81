#pragma once
// What a kernel's calls of built-in functions cost, by ablation: it is built once more with stand-ins of a few
// instructions for them, and both are launched in turn. Arguments alone would not do for stand-ins: the rest of the
// kernel would compute with other numbers, denormal ones or none, which changes its time. For the gate `profile`, where
// no hardware counts; it is for readers, and nothing is decided by it.

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "verify/processes/loaded_candidate.hpp"
#include "verify/processes/step_clock.hpp"
#include "verify/state/run_facts.hpp"

namespace kw {

struct CallAblation {
  std::vector<std::string> functions;  ///< that were replaced
  double with_ns = 0;                  ///< least of some launches with warm caches, by the host's clock
  double without_ns = 0;
};

/// The built-in functions of OpenCL C that the source calls and that there are stand-ins for. Words in comments count
/// as well.
[[nodiscard]] std::vector<std::string> replaceable_calls(std::string_view source);

/// What is put in front of a source so that these functions are replaced, for floats and their vectors.
[[nodiscard]] std::string stand_ins_for(const std::vector<std::string>& functions);

/// Launches that ablate_calls makes.
inline constexpr int k_ablation_launches = 6;

/// How long a process may take to start, and each launch.
struct AblationDeadlines {
  Duration start{};
  Duration launch{};
};

/// On the primary workload. Nothing where no such function is called. Otherwise why not, for people. `request_ns` is
/// what a request to a process takes beyond the launch.
[[nodiscard]] tl::expected<std::optional<CallAblation>, std::string> ablate_calls(const RunFacts& facts,
                                                                                  const LoadedCandidate& loaded,
                                                                                  double request_ns,
                                                                                  const AblationDeadlines& deadlines,
                                                                                  StepClock& clock);

/// "with rough stand-ins of a few instructions for its calls of exp2, a launch takes 7.7 ms, and 10 ms as it is: so
/// much could be saved by writing them out".
[[nodiscard]] std::string ablation_text(const CallAblation& found);

}  // namespace kw
