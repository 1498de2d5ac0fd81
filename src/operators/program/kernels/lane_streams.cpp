#include "operators/program/kernels/lane_streams.hpp"

#include <algorithm>

#include "operators/program/kernels/lane_loops.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// Smaller outputs are likely to be read from a cache by what comes next.
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

}  // namespace

Tunable stream_tunable() {
  return {"STREAM_STORES", {0, 1}, 1};
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
