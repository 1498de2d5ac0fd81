#pragma once
// How the buffers of a program are called in its kernels and in the bundle.

#include <string>
#include <vector>

#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/scratch_memory.hpp"
#include "problem/problem.hpp"

namespace kw {

/// Names that scratch buffers may not have: tensors and axes of the problem.
[[nodiscard]] std::vector<std::string> taken_names(const Problem& problem);

/// Where each buffer of the program is. The program's own buffers get the names that the kernels have for them.
[[nodiscard]] std::vector<KernelBuffer> named_buffers(const Problem& problem, StageProgram& program,
                                                      const ScratchMemory& scratch);

}  // namespace kw
