#include "operators/program/kernels/scratch_memory.hpp"

#include <algorithm>
#include <set>

#include "operators/program/kernels/stage_kernel.hpp"

namespace kw {
namespace {

void note_loads(const StageExpr& node, std::set<std::size_t>& loaded) {
  if (!node) return;
  if (node->op == StageOp::load) loaded.insert(node->tensor.buffer);
  for (const auto& operand : node->operands) note_loads(operand, loaded);
}

std::set<std::size_t> loads_of(const Stage& stage) {
  std::set<std::size_t> loaded;
  for (const auto& guard : stage.guards) note_loads(guard, loaded);
  for (const auto* expression : {&stage.body, &stage.position, &stage.epilogue}) note_loads(*expression, loaded);
  return loaded;
}

/// Of each buffer the last group that reads it.
std::vector<std::size_t> last_reads(const GroupedProgram& grouped) {
  const auto& program = grouped.program;
  std::vector<std::size_t> last(program.buffers.size(), 0);
  for (std::size_t i = 0; i < grouped.groups.size(); ++i) {
    for (const auto stage : grouped.groups[i].stages) {
      last[program.stages[stage].buffer] = i;
      for (const auto buffer : loads_of(program.stages[stage])) last[buffer] = i;
    }
  }
  return last;
}

/// Buffers that group `i` writes to memory of ours.
std::vector<std::size_t> scratch_written(const GroupedProgram& grouped, std::size_t i) {
  const auto& group = grouped.groups[i];
  std::vector<std::size_t> written;
  for (const auto stage : group.stages) {
    const auto buffer = grouped.program.stages[stage].buffer;
    const bool local = std::find(group.local.begin(), group.local.end(), buffer) != group.local.end();
    if (!local && grouped.program.buffers[buffer].use == BufferUse::scratch) written.push_back(buffer);
  }
  return written;
}

struct Slot {
  DType dtype = DType::f32;
  std::vector<std::string> sizes;  ///< different ones
  std::int64_t elements = 0;       ///< for the axes as they were read
  std::vector<std::size_t> buffers;
  std::size_t free_after = 0;
};

std::string size_text(const Slot& slot) {
  if (slot.sizes.size() == 1) return slot.sizes[0];
  return fmt::format("max({})", fmt::join(slot.sizes, ", "));
}

/// The free slot that fits best; null where a new one is better. The text of its size stays readable.
Slot* fitting_slot(std::vector<Slot>& slots, const Slot& wanted, std::size_t group) {
  constexpr std::size_t k_longest_text = 400;
  constexpr std::size_t k_most_sizes = 16;  // arguments that max() takes
  Slot* best = nullptr;
  for (auto& slot : slots) {
    if (slot.dtype != wanted.dtype || slot.free_after >= group) continue;
    const bool same = std::find(slot.sizes.begin(), slot.sizes.end(), wanted.sizes[0]) != slot.sizes.end();
    if (same) return &slot;
    const bool readable =
        size_text(slot).size() + wanted.sizes[0].size() < k_longest_text && slot.sizes.size() < k_most_sizes;
    if (readable && (best == nullptr || slot.elements > best->elements)) best = &slot;
  }
  return best;
}

}  // namespace

DType scratch_type(ElementType type) {
  if (type == ElementType::boolean) return DType::boolean;
  return is_floating(type) ? DType::f32 : DType::i32;
}

ScratchMemory scratch_memory(const GroupedProgram& grouped, const std::vector<std::string>& taken) {
  const auto& program = grouped.program;
  const auto last = last_reads(grouped);
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < grouped.groups.size(); ++i) {
    for (const auto index : scratch_written(grouped, i)) {
      const auto& type = program.buffers[index].type;
      Slot wanted{scratch_type(type.dtype), {count_expression(type.shape)}, 1, {}, 0};
      for (const auto& extent : type.shape) wanted.elements *= extent.value();
      auto* slot = fitting_slot(slots, wanted, i);
      if (slot == nullptr) slot = &slots.emplace_back(wanted);
      if (std::find(slot->sizes.begin(), slot->sizes.end(), wanted.sizes[0]) == slot->sizes.end()) {
        slot->sizes.push_back(wanted.sizes[0]);
      }
      slot->elements = std::max(slot->elements, wanted.elements);
      slot->buffers.push_back(index);
      slot->free_after = last[index];
    }
  }
  ScratchMemory memory;
  memory.of_buffer.resize(program.buffers.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    auto name = slots[i].buffers.size() == 1 ? program.buffers[slots[i].buffers[0]].name : fmt::format("memory_{}", i);
    while (std::find(taken.begin(), taken.end(), name) != taken.end()) name += "_";
    for (const auto buffer : slots[i].buffers) memory.of_buffer[buffer] = i;
    memory.buffers.push_back({name, slots[i].dtype, size_text(slots[i])});
  }
  return memory;
}

}  // namespace kw
