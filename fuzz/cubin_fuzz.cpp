// A cubin is what a compiler made of hostile source. Whatever the bytes: kernels, or a refusal.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "device/cuda/cubin.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto kernels = kw::cuda::read_cubin(bytes);
  if (!kernels) {
    KW_CHECK(kernels.error().code == kw::errc::cubin && !kernels.error().message.empty());
    return 0;
  }
  for (const auto& kernel : *kernels) KW_CHECK(kernel.tensor_core_instructions <= kernel.instructions);
  return 0;
}
