// A device file is written by a user. Whatever the bytes: facts that code can be generated for, or a refusal.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hardware/device_file.hpp"
#include "hardware/occupancy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto facts = kw::parse_device_file({reinterpret_cast<const char*>(data), size}, "fuzz.json");
  if (!facts) {
    KW_CHECK(facts.error().code == kw::errc::device_file && !facts.error().message.empty());
    return 0;
  }
  KW_CHECK(facts->gpu.has_value() && facts->compute_units >= 1);
  const double share = kw::occupancy(*facts->gpu, {256, 64, 1024});
  KW_CHECK(share >= 0);
  return 0;
}
