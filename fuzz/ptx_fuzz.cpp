// PTX is what a compiler made of hostile source, inline assembly word for word. Whatever the text: allowed, or a
// reason.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "device/cuda/ptx_policy.hpp"
#include "device/cuda/ptx_statements.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto refused = kw::cuda::forbidden_in_ptx(text);
  KW_CHECK(!refused || !refused->empty());
  const auto read = kw::cuda::read_ptx(text);
  KW_CHECK(!read.unclear || refused);
  for (const auto& statement : read.statements) KW_CHECK(!statement.empty());
  return 0;
}
