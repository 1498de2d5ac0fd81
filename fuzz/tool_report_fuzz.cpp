// The readers of what NVIDIA's tools write, on arbitrary bytes. What they give is bounded and printable.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <variant>

#include "verify/tools/compute_sanitizer.hpp"
#include "verify/tools/gpu_tool_probe.hpp"
#include "verify/tools/ncu_report.hpp"

namespace {

void require_shown(const std::string& text) {
  constexpr std::size_t k_most_chars = 1000;
  if (text.size() > k_most_chars) std::abort();
  for (const char c : text) {
    if (c < ' ' || c > '~') std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string report(reinterpret_cast<const char*>(data), size);
  require_shown(kw::first_tool_finding(report).value_or(""));
  require_shown(kw::version_in(report));
  const auto counters = kw::read_counters(report);
  if (const auto* why = std::get_if<std::string>(&counters)) {
    require_shown(*why);
    return 0;
  }
  const auto& counted = std::get<kw::HardwareCounters>(counters);
  require_shown(counted.kernel);
  if (!counted.duration_ns || counted.stalls.size() > kw::k_most_stall_reasons) std::abort();
  for (const auto& stall : counted.stalls) {
    require_shown(stall.name);
    if (!(stall.share > 0 && stall.share <= 1)) std::abort();
  }
  return 0;
}
