#include "operators/program/kernels/pool_apart.hpp"

#include <algorithm>

#include "operators/program/kernels/pool_products.hpp"
#include "operators/program/kernels/pooled_values.hpp"
#include "operators/program/kernels/sum_algebra.hpp"
#include "program/stages/fuse.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {

bool pool_apart(StageProgram& program, std::size_t values, const std::set<std::size_t>& reductions, double most) {
  if (program.buffers[values].use != BufferUse::scratch) return false;
  Stage* reader = nullptr;
  for (auto& stage : program.stages) {
    if (reductions.count(stage.buffer) > 0 || buffers_read(stage).count(values) == 0) continue;
    if (reader != nullptr) return false;
    reader = &stage;
  }
  if (reader == nullptr || reader->op != ReduceOp::sum) return false;
  // The same values once more, of which the windows' sums are all that is read.
  auto again = *std::ranges::find(program.stages, values, &Stage::buffer);
  const double work = evaluations(again);
  auto buffer = program.buffers[values];
  buffer.name += "_pooled";
  while (std::ranges::count(program.buffers, buffer.name, &StageBuffer::name) > 0) buffer.name += "_";
  again.buffer = program.buffers.size();
  program.buffers.push_back(buffer);
  auto pooled = pooled_values_of(program, *std::ranges::find(program.stages, values, &Stage::buffer), *reader,
                                 program.buffers.size());
  if (!pooled || pooled->windows.size() != 1) return false;
  auto& window = pooled->windows[0];
  window.body = load({again.buffer, window.body->tensor.type}, window.body->operands);
  *reader = pooled->rest;
  program.buffers.push_back(pooled->buffers[0]);
  const auto at = std::ranges::find(program.stages, values, &Stage::buffer) + 1;
  program.stages.insert(at, {again, window});
  (void)pool_products(program);
  const bool is_left = std::ranges::count(program.stages, again.buffer, &Stage::buffer) > 0;
  const double more = evaluations(*std::ranges::find(program.stages, window.buffer, &Stage::buffer));
  if (is_left || more > most * work) return false;
  // What follows from a window's sum is done to it at once.
  program = fused(std::move(program)).program;
  return true;
}

}  // namespace kw
