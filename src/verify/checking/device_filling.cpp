#include "verify/checking/device_filling.hpp"

#include <algorithm>

#include "base/rng.hpp"

namespace kw {
namespace {

/// Of an input, and where they lie depends on its key, which no kernel knows.
constexpr std::uint64_t k_parts = 4;
constexpr std::int64_t k_part_bytes = std::int64_t{64} << 10;
constexpr std::uint64_t k_place_key = 0xbb67ae8584caa73bULL;

void bring_back_parts(const PlannedBuffer& buffer, std::int64_t index, std::uint64_t key, LaunchFilling& filling) {
  const auto places = static_cast<std::uint64_t>(buffer.bytes / k_part_bytes);
  for (std::uint64_t i = 0; i < k_parts; ++i) {
    const auto place = static_cast<std::int64_t>(random_bits(key ^ k_place_key, i) % places);
    filling.returned.push_back({index, place * k_part_bytes, k_part_bytes});
  }
}

void fill_poison_of(const PlannedBuffer& buffer, std::int64_t index, const CaseMode& mode, LaunchFilling& filling) {
  const bool scratch = buffer.role == BufferRole::scratch;
  filling.fills.push_back(
      {index, BufferFilling::pattern, std::int64_t{scratch ? mode.poison.scratch : mode.poison.outputs}});
  if (!scratch) filling.returned.push_back({index, 0, buffer.bytes});
}

}  // namespace

LaunchFilling device_filling(const LaunchPlan& plan, const KernelProcess& process, const StoredInputs& inputs,
                             const CaseMode& mode) {
  LaunchFilling filling;
  if (!process.fills_buffers()) return filling;
  std::size_t next_input = 0;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlannedBuffer& buffer = plan.buffers[i];
    const auto index = static_cast<std::int64_t>(i);
    const bool is_input = buffer.role == BufferRole::input;
    const auto key = is_input ? inputs.key(next_input++) : std::nullopt;
    if (buffer.bytes < k_least_filled_bytes) continue;
    if (key) {
      filling.fills.push_back({index, BufferFilling::normal, static_cast<std::int64_t>(key->key)});
      bring_back_parts(buffer, index, key->key, filling);
    } else if (!is_input && buffer.bytes % 4 == 0 && (mode.contents == nullptr || (*mode.contents)[i].empty())) {
      fill_poison_of(buffer, index, mode, filling);
    }
  }
  return filling;
}

bool is_filled(const LaunchFilling& filling, std::size_t buffer) {
  return std::ranges::any_of(filling.fills,
                             [&](const BufferFill& fill) { return fill.buffer == static_cast<std::int64_t>(buffer); });
}

bool parts_are_unchanged(const LaunchFilling& filling, std::size_t buffer, KernelProcess& process,
                         const StoredInputs& inputs, std::size_t input) {
  return std::ranges::all_of(filling.returned, [&](const BufferPart& part) {
    if (part.buffer != static_cast<std::int64_t>(buffer)) return true;
    const auto offset = static_cast<std::size_t>(part.offset);
    const auto length = static_cast<std::size_t>(part.bytes);
    return std::ranges::equal(inputs.part(input, offset, length), process.buffer(buffer).subspan(offset, length));
  });
}

}  // namespace kw
