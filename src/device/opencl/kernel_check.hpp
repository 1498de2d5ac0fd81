#pragma once
// Compares a built program with the launches that are planned for it, so that a mistake in either is explained at build
// time in words rather than at launch time as a status.

#include <span>
#include <string>

#include "device/build_steps.hpp"
#include "device/opencl/session.hpp"
#include "protocol/messages.hpp"

namespace kw::opencl {

struct KernelCheck {
  KernelMismatch mismatch;         ///< of the first launch that does not fit
  std::int64_t stack_bytes = -1;   ///< the most any launched kernel uses; -1 when the driver does not say
  std::int64_t shared_bytes = -1;  ///< likewise
};

[[nodiscard]] KernelCheck check_kernels(const Session& session, cl_program program,
                                        std::span<const PlannedLaunch> launches);

}  // namespace kw::opencl
