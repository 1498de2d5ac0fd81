#include "verify/gates/gate.hpp"

namespace kw {

const std::vector<Gate>& gates() {
  static const std::vector<Gate> list = {
      {GateId::read, run_read_gate},       {GateId::build, run_build_gate}, {GateId::statics, run_static_gate},
      {GateId::check, run_check_gate},     {GateId::time, run_time_gate},   {GateId::sanitize, run_sanitize_gate},
      {GateId::profile, run_profile_gate},
  };
  return list;
}

}  // namespace kw
