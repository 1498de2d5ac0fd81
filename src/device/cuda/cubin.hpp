#pragma once
// Reads what a cubin (an ELF file of device code) says about its kernels. The attributes are those of sections
// ".nv.info" that cuobjdump -elf lists by name; instructions are counted by the opcode in the low bits of each 16-byte
// instruction, which has been the same from sm_75 to sm_120 (nvrtc_test.cpp holds the counts to known kernels). Refuses
// what is no such file; every offset is checked.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw::errc {
inline constexpr ErrorCode cubin{"device.cubin", ExitClass::internal};
}  // namespace kw::errc

namespace kw::cuda {

struct CubinKernel {
  std::string name;
  std::int64_t registers = 0;                              ///< per thread
  std::int64_t stack_bytes = 0;                            ///< per thread: arrays and spills
  std::vector<std::int64_t> parameter_bytes;               ///< in the order of the parameters
  std::int64_t max_threads = 0;                            ///< of __launch_bounds__; 0 when there is none
  std::optional<std::array<std::int64_t, 3>> exact_block;  ///< of __block_size__, where the source fixes it
  std::int64_t instructions = 0;                           ///< with padding
  std::int64_t tensor_core_instructions = 0;               ///< mma.sync, wgmma and tcgen05.mma
  std::int64_t local_loads = 0;                            ///< spills read back, and arrays in local memory
  std::int64_t local_stores = 0;
};

/// In the order of the file. errc::cubin says what does not fit.
[[nodiscard]] Result<std::vector<CubinKernel>> read_cubin(std::string_view bytes);

}  // namespace kw::cuda
