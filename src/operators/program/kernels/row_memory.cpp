#include "operators/program/kernels/row_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/stages/access.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_bytes = 4;
/// Of shared memory, for numbers that 1024 work-items gather: three each, and a rest.
constexpr std::int64_t k_gathering_bytes = 14336;
/// Shorter rows are found in the nearest cache.
constexpr double k_shortest_kept = 12288;

/// The one axis of the row's columns, if it has one.
const StageAxis* column_of(const Stage& stage, std::size_t rows) {
  if (stage.kind == StageKind::reduce) return stage.inner.size() == 1 ? &stage.inner[0] : nullptr;
  return stage.kind == StageKind::map && stage.axes.size() == rows + 1 ? &stage.axes.back() : nullptr;
}

bool is_axis(const StageExpr& index, const std::string& name) {
  return index->op == StageOp::axis && index->axis == name;
}

/// Whether the element lies in the row at the column's own index.
bool is_of_row(const StageNode& load, const std::string& column) {
  const auto& indices = load.operands;
  return !indices.empty() && is_axis(indices.back(), column) &&
         std::none_of(indices.begin(), indices.end() - 1,
                      [&](const StageExpr& index) { return depends_on(index, column); });
}

/// Whether both are elements of the same row of the same tensor.
bool are_of_one_row(const StageNode& a, const StageNode& b) {
  const auto same = [](const StageExpr& x, const StageExpr& y) { return same_expression(x, y); };
  return a.tensor.buffer == b.tensor.buffer && a.operands.size() == b.operands.size() &&
         std::equal(a.operands.begin(), a.operands.end() - 1, b.operands.begin(), same);
}

}  // namespace

std::optional<RowMemory> RowMemory::of(const std::vector<const Stage*>& readings, std::size_t rows,
                                       const std::vector<KernelBuffer>& buffers, const DeviceFacts& device) {
  const auto reads_row = [&](const Stage& stage, const StageNode& element, const Extent& length) {
    const auto* column = column_of(stage, rows);
    if (column == nullptr || column->extent.text() != length.text()) return false;
    bool found = false;
    for_each_load(stage.body, [&](const StageNode& load) {
      found = found || (is_of_row(load, column->name) && are_of_one_row(load, element));
    });
    return found;
  };
  for (std::size_t i = 0; i + 1 < readings.size(); ++i) {
    const Stage& first = *readings[i];
    const auto* column = column_of(first, rows);
    if (column == nullptr || first.kind != StageKind::reduce || !first.guards.empty()) continue;
    if (!is_worth_keeping(count_of({*column}), device)) continue;
    for (const auto* load : certain_loads(first.body)) {
      if (buffers[load->tensor.buffer].dtype != DType::f32 || !is_of_row(*load, column->name)) continue;
      const auto again = std::any_of(readings.begin() + static_cast<std::ptrdiff_t>(i) + 1, readings.end(),
                                     [&](const Stage* later) { return reads_row(*later, *load, column->extent); });
      if (again) return RowMemory(first, *load);
    }
  }
  return std::nullopt;
}

std::vector<const StageNode*> RowMemory::elements(const Stage& stage) const {
  const auto& axes = stage.kind == StageKind::reduce ? stage.inner : stage.axes;
  std::vector<const StageNode*> found;
  if (!filled_ && &stage != first_) return found;
  if (axes.empty() || axes.back().extent.text() != length_.text()) return found;
  for_each_load(stage.body, [&](const StageNode& load) {
    if (is_of_row(load, axes.back().name) && are_of_one_row(load, *element_)) found.push_back(&load);
  });
  return found;
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
      scope.extent(length_));
}

std::string RowMemory::shared_bytes() const {
  return fmt::format("{} * min({}, ROW_KEPT)", k_bytes, length_.text());
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
  const double elements = static_cast<double>(length_.value());
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
  return {"KEPT_ROW_THREADS", {256, 512, 1024}, length_.value() > k_two_fit ? 1024 : 512};
}

}  // namespace kw
