// An .npy file comes from another program. Whatever the bytes: as many values as the extents say, or a refusal.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "problem/file/number_array.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto array = kw::parse_npy({reinterpret_cast<const char*>(data), size});
  if (!array) {
    KW_CHECK(array.error().code == kw::errc::npy_format && !array.error().message.empty());
    return 0;
  }
  std::size_t count = 1;
  for (const auto extent : array->extents) count *= static_cast<std::size_t>(extent);
  KW_CHECK(array->values.size() == count);
  return 0;
}
