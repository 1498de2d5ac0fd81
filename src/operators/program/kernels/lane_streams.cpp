#include "operators/program/kernels/lane_streams.hpp"

#include <algorithm>

#include "operators/program/kernels/lane_loops.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// Smaller tensors are likely to be in a cache, or to be read from one by what comes next.
constexpr double k_least_bytes = 4 << 20;
constexpr double k_bytes_of_f32 = 4;

bool reads(const Stage& stage, std::size_t buffer) {
  bool found = false;
  for_each_load(stage, [&](const StageNode& load) { found = found || load.tensor.buffer == buffer; });
  return found;
}

double bytes_of(const Shape& shape) {
  double bytes = k_bytes_of_f32;
  for (const auto& extent : shape) bytes *= static_cast<double>(extent.value());
  return bytes;
}

/// Whether the load's indices are the axes, over all that they go over.
bool goes_along(const StageNode& load, const StageAxes& axes) {
  const Shape& shape = load.tensor.type.shape;
  return std::equal(axes.begin(), axes.end(), load.operands.begin(), load.operands.end(),
                    [](const StageAxis& axis, const StageExpr& index) {
                      return index->op == StageOp::axis && index->axis == axis.name;
                    }) &&
         std::equal(axes.begin(), axes.end(), shape.begin(), shape.end(),
                    [](const StageAxis& axis, const Extent& size) { return axis.extent.text() == size.text(); });
}

}  // namespace

Tunable stream_tunable() {
  return {"STREAM_STORES", {0, 1}, 1};
}

Tunable prefetch_tunable(int bytes_ahead) {
  return {"PREFETCH_BYTES", {0, k_bytes_ahead, k_bytes_ahead_in_turns}, bytes_ahead};
}

// Parts of a row often lie a multiple of 4 KiB apart, and a first cache has as many places for such lines as it is
// times 4 KiB large. With 12 of them four parts gained a tenth; with 8 a layer norm of 4096 columns took 20 ms in the
// place of 6, and of 4160 columns four parts gained nothing (Zen 3, 2026-11-29).
bool has_room_for_turns(const DeviceFacts& device) {
  constexpr std::int64_t k_enough_for_turns = 48 << 10;
  return device.l1_cache_bytes >= k_enough_for_turns;
}

Tunable turns_tunable(const DeviceFacts& device) {
  return {"ROW_STREAMS", {1, 2, 4}, has_room_for_turns(device) ? 4 : 1};
}

std::vector<StageNode> loads_in_order(const GroupContext& context, const Stage& stage, std::size_t row_count) {
  StageAxes axes(stage.axes.begin(), stage.axes.begin() + static_cast<std::ptrdiff_t>(row_count));
  const auto columns = columns_of(stage, row_count);
  axes.insert(axes.end(), columns.begin(), columns.end());
  std::vector<StageNode> found;
  for_each_load(stage, [&](const StageNode& load) {
    const auto buffer = load.tensor.buffer;
    const auto same = [&](const StageNode& other) { return other.tensor.buffer == buffer; };
    if (std::any_of(found.begin(), found.end(), same) || context.buffers[buffer].dtype != DType::f32) return;
    if (goes_along(load, axes) && bytes_of(load.tensor.type.shape) >= k_least_bytes) found.push_back(load);
  });
  return found;
}

std::optional<std::string> streams_if(const GroupContext& context, const Stage& stage, KernelScope& scope) {
  const auto& buffer = context.program.buffers[stage.buffer];
  const StageNode place = place_of(stage);
  const Shape& shape = place.tensor.type.shape;
  if (buffer.use != BufferUse::output || context.buffers[stage.buffer].dtype != DType::f32) return std::nullopt;
  if (bytes_of(shape) < k_least_bytes || place.operands.back()->op != StageOp::axis) return std::nullopt;
  const auto& stages = context.program.stages;
  const auto reads_it = [&](const Stage& other) { return reads(other, stage.buffer); };
  if (reads_it(stage) || std::any_of(stages.begin(), stages.end(), reads_it)) return std::nullopt;
  const Extent& columns = shape.back();
  if (shape.size() == 1) return "1";
  if (!columns.is_constant()) return fmt::format("{} % {} == 0", scope.extent(columns), k_lane_count);
  if (columns.value() % k_lane_count != 0) return std::nullopt;
  return "1";
}

}  // namespace kw
