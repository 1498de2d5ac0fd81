// The gates of this program; cheap ones first. Sanitizing comes after timing, because it is for candidates that would
// become the best, and only timing tells which. Nor is the whole check for others, where candidates are screened.
#include "verify/gates/gate.hpp"

namespace kw {

const std::vector<Gate>& gates() {
  constexpr GateNeeds k_times{.timed_device = true};
  constexpr GateNeeds k_would_be_best{.would_be_best = true};
  constexpr GateNeeds k_screened{.screens = true};
  constexpr GateNeeds k_unscreened{.screens = false};
  constexpr GateNeeds k_screened_would_be_best{.would_be_best = true, .screens = true};
  static const std::vector<Gate> list = {
      {GateId::read, GatePhase::build, {}, run_read_gate},
      {GateId::build, GatePhase::build, {}, run_build_gate},
      {GateId::static_check, GatePhase::build, {}, run_static_gate},
      {GateId::screen, GatePhase::run, k_screened, run_screen_gate},
      {GateId::check, GatePhase::run, k_unscreened, run_check_gate},
      {GateId::time, GatePhase::measure, k_times, run_time_gate},
      {GateId::check, GatePhase::prove, k_screened_would_be_best, run_check_gate},
      {GateId::sanitize, GatePhase::prove, k_would_be_best, run_sanitize_gate, ask_sanitizers},
      {GateId::profile, GatePhase::count, {}, run_profile_gate},
  };
  return list;
}

}  // namespace kw
