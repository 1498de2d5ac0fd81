// Gate 3, static: what the compiler reported against what the device has. Absent figures are not judged: PoCL reports
// none of them.

#include "verify/gates/gate.hpp"

namespace kw {

bool run_static_gate(Session& session, Trial& trial) {
  const auto& device = session.options.device;
  const auto shared = trial.build.shared_bytes;
  if (shared && device.shared_bytes_per_block > 0 && *shared > device.shared_bytes_per_block) {
    trial.verdict.reject(GateId::statics, Reason::resource_limit,
                         fmt::format("the kernel needs {} bytes of shared memory, the device has {} per block", *shared,
                                     device.shared_bytes_per_block));
    return false;
  }
  if (trial.build.registers) {
    trial.verdict.note(GateId::statics, fmt::format("{} registers, {} bytes spilled", *trial.build.registers,
                                                    trial.build.spill_bytes.value_or(0)));
  }
  return true;
}

}  // namespace kw
