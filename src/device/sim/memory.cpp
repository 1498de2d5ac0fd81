#include "device/sim/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kw::sim {
namespace {

/// Elements are what neighbouring threads write; scratch may be used as something narrower than it was declared.
std::size_t granule_of(const PlannedBuffer& buffer) {
  const auto element = static_cast<std::size_t>(bytes_per_element(buffer.dtype));
  return buffer.role == BufferRole::scratch ? std::min<std::size_t>(element, 2) : element;
}

}  // namespace

GlobalMemory::GlobalMemory(const LoadedPlan& plan, std::span<std::byte> arena) {
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    const PlannedBuffer& planned = plan.plan.buffers[i];
    GlobalBuffer buffer;
    buffer.name = planned.name;
    buffer.begin = arena.data() + plan.slots[i].offset;
    buffer.bytes = static_cast<std::size_t>(plan.slots[i].bytes);
    buffer.granule = granule_of(planned);
    if (planned.role != BufferRole::input) {
      buffer.cells = std::make_unique<Cell[]>((buffer.bytes + buffer.granule - 1) / buffer.granule);
    }
    buffers_.push_back(std::move(buffer));
  }
  std::sort(buffers_.begin(), buffers_.end(),
            [](const GlobalBuffer& a, const GlobalBuffer& b) { return a.begin < b.begin; });
}

const GlobalBuffer* GlobalMemory::find(const std::byte* address) const {
  const auto behind = std::upper_bound(buffers_.begin(), buffers_.end(), address,
                                       [](const std::byte* a, const GlobalBuffer& buffer) { return a < buffer.begin; });
  if (behind == buffers_.begin()) return nullptr;
  const GlobalBuffer& buffer = *std::prev(behind);
  return buffer.holds(address) ? &buffer : nullptr;
}

std::string GlobalMemory::describe(const std::byte* address) const {
  constexpr std::ptrdiff_t k_near = std::ptrdiff_t{1} << 20;
  const GlobalBuffer* nearest = nullptr;
  std::ptrdiff_t least = k_near;
  std::string text = "at an address that belongs to no buffer";
  for (const GlobalBuffer& buffer : buffers_) {
    const std::ptrdiff_t behind = address - (buffer.begin + buffer.bytes);
    const std::ptrdiff_t before = buffer.begin - address;
    const std::ptrdiff_t distance = behind >= 0 ? behind : before;
    if (distance < 0 || distance >= least) continue;
    least = distance;
    nearest = &buffer;
    text = behind >= 0 ? fmt::format("{} bytes behind the end of {} ({} bytes)", behind, nearest->name, nearest->bytes)
                       : fmt::format("{} bytes in front of {}", before, nearest->name);
  }
  return text;
}

bool SharedRegion::grants(const std::byte* address, std::size_t size) const {
  if (address + size > begin + bytes) return false;
  const bool in_dynamic = address >= dynamic && address < dynamic + dynamic_bytes;
  if (in_dynamic) return address + size <= dynamic + granted_bytes;
  return address + size <= dynamic || address >= dynamic + dynamic_bytes;
}

}  // namespace kw::sim
