#include "operators/program/kernels/row_keeping.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "operators/program/kernels/row_batches.hpp"
#include "operators/program/kernels/row_pairs.hpp"

namespace kw {

RowKeeping::RowKeeping(const GroupContext& context, const std::vector<const Stage*>& stages, std::size_t rows,
                       RowSharing& sharing) {
  std::vector<const Stage*> readings;  // two reductions in one loop read once
  for (std::size_t i = 0; i < stages.size(); ++i) {
    readings.push_back(stages[i]);
    if (i + 1 < stages.size() && row_pair(*stages[i], *stages[i + 1])) ++i;
  }
  if (sharing.share == RowShare::lanes) registers_ = RowRegisters::of(readings, rows, context.buffers, sharing);
  if (sharing.share != RowShare::group) return;
  memory_ = RowMemory::of(readings, rows, context.buffers, context.device);
  if (!memory_) return;
  sharing.threads = memory_->threads();
  sharing.elements = memory_->batch();
  sharing.slices = sharing.threads.name;
  sharing.usual_slices = sharing.threads.default_value;
}

bool RowKeeping::has_first_batch(const Stage& stage) const {
  return registers_ && !registers_->elements(stage).empty();
}

std::vector<std::string> RowKeeping::reads(const Stage& stage, PrintedBatch batch, const RowSharing& sharing,
                                           KernelScope& scope) const {
  const bool from_memory = memory_ && batch != PrintedBatch::fours;
  const bool from_registers = registers_ && batch == PrintedBatch::first;
  if (!from_memory && !from_registers) return {};
  const auto loads = from_memory ? memory_->elements(stage) : registers_->elements(stage);
  if (loads.empty()) return {};
  const auto name = scope.new_name("element");
  auto statements = from_memory ? memory_->read(*loads[0], "float", name, place_in_batch(sharing), scope)
                                : registers_->read(*loads[0], name, scope);
  for (const auto* load : loads) scope.call_value(load, name);
  return statements;
}

ReadFour RowKeeping::read_fours(const Stage& stage, const RowSharing& sharing, KernelScope& scope) const {
  if (!memory_) return nullptr;
  return [&, kept = memory_->elements(stage)](const StageNode& load, const std::string& name) {
    return std::ranges::find(kept, &load) != kept.end()
               ? memory_->read(load, "float4", name, "(" + place_in_fours(sharing) + ") * 4", scope)
               : std::vector<std::string>();
  };
}

void RowKeeping::was_written(const Stage& stage) {
  if (memory_) memory_->was_written(stage);
  if (registers_) registers_->was_written(stage);
}

std::string RowKeeping::declarations(KernelScope& scope) const {
  if (memory_) return memory_->declarations(scope);
  return registers_ ? registers_->declarations() : "";
}

void RowKeeping::add_to(GroupKernels& kernels, const RowSharing& sharing, std::size_t gathered,
                        const DeviceFacts& device) const {
  if (!memory_) return;
  kernels.launches[0].shared_bytes = memory_->shared_bytes();
  kernels.tunables.push_back(memory_->kept(device));
  kernels.constraints.push_back(
      fmt::format("4 * ROW_KEPT + {} * {} <= shared_bytes_per_block", 4 * gathered, sharing.threads.name));
}

}  // namespace kw
