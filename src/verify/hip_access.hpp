#pragma once
// What the sandbox has to let through for hipcc, to processes that compile and to no others: ROCm's folders, where
// programs may be executed as they may in /usr.

#include "sandbox/sandbox.hpp"

namespace kw {

/// Of this process's environment HIP_PATH, ROCM_PATH and KERNELWRIGHT_HIPCC, the folders they name, and /opt/rocm.
/// KERNELWRIGHT_HIPCC is a program; in a folder bin it brings the folder above.
void grant_hip_compiler(SandboxSpec& spec);

}  // namespace kw
