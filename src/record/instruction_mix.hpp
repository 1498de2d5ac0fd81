#pragma once
// What the machine code of a kernel for a CPU consists of where most of its arithmetic stands. The compiler's worker
// counts it (device/opencl/machine_code.hpp), attempts keep it, prompts and reports show it. Counts of instructions as
// they stand in the code: how often each ran is not known.

#include <cstdint>
#include <string>
#include <vector>

namespace kw {

struct InstructionMix {
  std::string kernel;
  bool loop = false;                ///< of its innermost loop with the most arithmetic on floats; else of all its code
  std::int64_t instructions = 0;    ///< together
  std::int64_t vector_floats = 0;   ///< arithmetic on several floats at a time
  std::int64_t scalar_floats = 0;   ///< arithmetic on one float
  std::int64_t vector_bits = 0;     ///< of the widest register that is computed with; 0: no vectors
  std::int64_t loads_stores = 0;    ///< accesses of memory, those of the stack left out
  std::int64_t stack_accesses = 0;  ///< spilled registers, and private arrays that fit no registers
  std::int64_t calls = 0;
  std::vector<std::string> called;  ///< names of functions, each once, as far as they are known
};

}  // namespace kw
