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

/// The elements, as the fewest parts: those of a row lie side by side.
void bring_back_elements(const PlannedBuffer& buffer, std::int64_t index, std::span<const std::int64_t> elements,
                         LaunchFilling& filling) {
  const std::int64_t width = bytes_per_element(buffer.dtype);
  for (std::size_t begin = 0; begin < elements.size();) {
    std::size_t end = begin + 1;
    while (end < elements.size() && elements[end] == elements[end - 1] + 1) ++end;
    filling.returned.push_back({index, elements[begin] * width, static_cast<std::int64_t>(end - begin) * width});
    begin = end;
  }
}

void fill_input(const PlannedBuffer& buffer, std::int64_t index, const StoredInputs& inputs, std::size_t input,
                LaunchFilling& filling) {
  const auto tensor = inputs.random(input);
  if (!tensor) return;
  filling.fills.push_back({index, BufferFilling::random, 0, *tensor, inputs.has_firsts(input)});
  bring_back_parts(buffer, index, tensor->key, filling);
}

/// An output or scratch, which does not come back.
void fill_with_poison(const PlannedBuffer& buffer, std::int64_t index, std::size_t output, const CaseMode& mode,
                      LaunchFilling& filling) {
  const bool is_output = buffer.role == BufferRole::output;
  const std::uint32_t poison = is_output ? mode.poison.outputs : mode.poison.scratch;
  filling.fills.push_back({index, BufferFilling::pattern, std::int64_t{poison}});
  if (!is_output) return;
  if (mode.looked_at.empty() || !is_float(buffer.dtype)) {
    filling.returned.push_back({index, 0, buffer.bytes});
  } else {
    bring_back_elements(buffer, index, mode.looked_at[output].elements, filling);
    filling.counted.push_back(index);
  }
}

}  // namespace

LaunchFilling device_filling(const LaunchPlan& plan, const KernelProcess& process, const StoredInputs& inputs,
                             const CaseMode& mode) {
  LaunchFilling filling;
  if (!process.fills_buffers()) return filling;
  std::size_t next_input = 0;
  std::size_t next_output = 0;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlannedBuffer& buffer = plan.buffers[i];
    const auto index = static_cast<std::int64_t>(i);
    const std::size_t input = buffer.role == BufferRole::input ? next_input++ : 0;
    const std::size_t output = buffer.role == BufferRole::output ? next_output++ : 0;
    if (buffer.bytes < k_least_filled_bytes) continue;
    if (buffer.role == BufferRole::input) {
      fill_input(buffer, index, inputs, input, filling);
    } else if (buffer.bytes % 4 == 0 && (mode.contents == nullptr || (*mode.contents)[i].empty())) {
      fill_with_poison(buffer, index, output, mode, filling);
    }
  }
  return filling;
}

bool is_filled(const LaunchFilling& filling, std::size_t buffer) {
  return std::ranges::any_of(filling.fills,
                             [&](const BufferFill& fill) { return fill.buffer == static_cast<std::int64_t>(buffer); });
}

bool is_counted(const LaunchFilling& filling, std::size_t buffer) {
  return std::ranges::find(filling.counted, static_cast<std::int64_t>(buffer)) != filling.counted.end();
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
