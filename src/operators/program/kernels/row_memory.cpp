#include "operators/program/kernels/row_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/stages/work.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_bytes = 4;
/// Of shared memory, for numbers that 1024 work-items gather: three each, and a rest.
constexpr std::int64_t k_gathering_bytes = 14336;
/// Shorter rows are found in the nearest cache.
constexpr double k_shortest_kept = 12288;

}  // namespace

std::optional<RowMemory> RowMemory::of(const std::vector<const Stage*>& readings, std::size_t rows,
                                       const std::vector<KernelBuffer>& buffers, const DeviceFacts& device) {
  const auto element = common_row_element(readings, rows, buffers, [&](const RowElement& one) {
    return one.column + 1 == one.load->operands.size() && is_worth_keeping(count_of({{"", one.length}}), device);
  });
  if (!element) return std::nullopt;
  return RowMemory(*element, rows);
}

std::vector<const StageNode*> RowMemory::elements(const Stage& stage) const {
  if (!filled_ && &stage != element_.first) return {};
  return loads_of_row_element(stage, rows_, element_);
}

std::vector<std::string> RowMemory::read(const StageNode& load, const std::string& type, const std::string& name,
                                         const std::string& place, KernelScope& scope) const {
  const bool four = type != "float";
  const auto at = [&](const std::string& memory, const std::string& index) {
    return four ? fmt::format("*({}*)({} + {})", memory == "kept_row" ? type : "const " + type, memory, index)
                : fmt::format("{}[{}]", memory, index);
  };
  const auto from_memory = at(scope.buffer(load.tensor.buffer).name, scope.place_text(load));
  if (!filled_) {
    return {fmt::format("const {} {} = {};", type, name, from_memory),
            fmt::format("if ({0} < kept) {1} = {2};", place, at("kept_row", place), name)};
  }
  const auto index = scope.text(load.operands.back());
  return {fmt::format("const {} {} = {} < kept ? {} : {};", type, name, index, at("kept_row", index), from_memory)};
}

std::string RowMemory::declarations(KernelScope& scope) const {
  return fmt::format(
      "  extern __shared__ __align__(16) unsigned char shared_memory[];\n"
      "  float* const kept_row = (float*)shared_memory;\n"
      "  const int kept = min({}, ROW_KEPT);\n",
      scope.extent(element_.length));
}

std::string RowMemory::shared_bytes() const {
  return fmt::format("{} * min({}, ROW_KEPT)", k_bytes, element_.length.text());
}

std::int64_t row_memory_elements(const DeviceFacts& device) {
  return std::max<std::int64_t>(device.shared_bytes_per_block - k_gathering_bytes, 0) / k_bytes;
}

double longest_kept(const DeviceFacts& device) {
  constexpr double k_most_of_room = 1.25;
  return k_most_of_room * static_cast<double>(row_memory_elements(device));
}

bool is_worth_keeping(double elements, const DeviceFacts& device) {
  constexpr double k_threads = 512.0;   // of a work-group with such a row
  constexpr double k_part_of_l2 = 0.5;  // that has the rows still; the rest is results, and rows of another part of it
  if (elements < k_shortest_kept || elements > longest_kept(device)) return false;
  const auto threads = device.gpu ? static_cast<double>(device.gpu->max_threads_per_unit) : 0.0;
  const double under_way = static_cast<double>(device.compute_units) * threads / k_threads;
  return under_way * static_cast<double>(k_bytes) * elements >
         k_part_of_l2 * static_cast<double>(device.l2_cache_bytes);
}

Tunable RowMemory::kept(const DeviceFacts& device) const {
  const double elements = static_cast<double>(element_.length.value());
  // All multiples of four; the largest of each generation's shared memory are among them.
  Tunable kept{"ROW_KEPT", {0, 12288, 16384, 21760, 32768, 38144, 45056, 54528}, 0};
  for (const auto value : kept.values) {
    if (value > row_memory_elements(device)) break;
    kept.default_value = value;
    if (static_cast<double>(value) >= elements) break;
  }
  return kept;
}

Tunable RowMemory::batch() const {
  return {"KEPT_ROW_ELEMENTS", {1, 2, 4, 8, 16}, 8};
}

Tunable RowMemory::threads() const {
  constexpr std::int64_t k_two_fit = 27000;
  return {"KEPT_ROW_THREADS", {256, 512, 1024}, element_.length.value() > k_two_fit ? 1024 : 512};
}

}  // namespace kw
