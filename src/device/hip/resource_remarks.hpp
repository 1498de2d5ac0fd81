#pragma once
// What clang says about the resources of AMDGPU kernels with -Rpass-analysis=kernel-resource-usage: one remark with a
// kernel's name and one for each figure after it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw::hip {

/// Of one kernel; 0 where the compiler says nothing.
struct ResourceRemarks {
  std::string kernel;
  std::int64_t vector_registers = 0;       ///< per thread
  std::int64_t accumulator_registers = 0;  ///< per thread, of the same file on CDNA
  std::int64_t scratch_bytes = 0;          ///< per thread: stack and spills
  std::int64_t spilled_registers = 0;      ///< vector registers
  std::int64_t static_shared_bytes = 0;    ///< per block
};

[[nodiscard]] std::vector<ResourceRemarks> read_remarks(std::string_view log);
/// The log without them.
[[nodiscard]] std::string without_remarks(std::string_view log);

}  // namespace kw::hip
