// Both decoders on arbitrary bytes. What they accept must encode to the same bytes: a second spelling of one message
// would mean that some byte is not looked at.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "protocol/messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view payload(reinterpret_cast<const char*>(data), size);
  if (const auto message = kw::decode_host_message(payload); message && kw::encode(*message) != payload) std::abort();
  if (const auto message = kw::decode_worker_message(payload); message && kw::encode(*message) != payload) std::abort();
  return 0;
}
