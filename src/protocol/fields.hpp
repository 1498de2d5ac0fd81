#pragma once
// The fields of every message, once, in wire order: Writer and Reader walk the same list, so the two cannot disagree.
// Only messages.cpp includes this.

#include <concepts>
#include <type_traits>

#include "base/wire_reader.hpp"
#include "protocol/messages.hpp"

namespace kw::wire {

template <>
inline constexpr std::int64_t k_enum_last<Inspection> = static_cast<std::int64_t>(Inspection::left_out);
template <>
inline constexpr std::int64_t k_enum_last<Counting> = static_cast<std::int64_t>(Counting::accesses);
template <>
inline constexpr std::int64_t k_enum_last<BufferFilling> = static_cast<std::int64_t>(BufferFilling::random);
template <>
inline constexpr std::int64_t k_enum_last<DrawRule::Numbers> = static_cast<std::int64_t>(DrawRule::Numbers::uniform);
template <>
inline constexpr std::int64_t k_enum_last<DrawRule::RowScales> =
    static_cast<std::int64_t>(DrawRule::RowScales::growing);
template <>
inline constexpr std::int64_t k_enum_last<BuildStatus> = static_cast<std::int64_t>(BuildStatus::forbidden);
template <>
inline constexpr std::int64_t k_enum_last<BufferRole> = static_cast<std::int64_t>(BufferRole::scratch);
template <>
inline constexpr std::int64_t k_enum_last<DType> = static_cast<std::int64_t>(DType::bf16);
template <>
inline constexpr std::int64_t k_enum_last<DeviceKind> = static_cast<std::int64_t>(DeviceKind::null_device);

/// `Message` or `const Message`: one list serves reading and writing.
template <typename T, typename Message>
concept EitherConst = std::same_as<std::remove_const_t<T>, Message>;

void list_fields(auto& walk, EitherConst<BufferArg> auto& arg) {
  walk(arg.buffer);
}
void list_fields(auto& walk, EitherConst<IntArg> auto& arg) {
  walk(arg.value);
}
void list_fields(auto&, EitherConst<SharedArg> auto&) {}
void list_fields(auto& walk, EitherConst<PlannedBuffer> auto& buffer) {
  walk(buffer.name, buffer.role, buffer.dtype, buffer.bytes);
}
void list_fields(auto& walk, EitherConst<GroupBox> auto& box) {
  walk(box.first, box.count);
}
void list_fields(auto& walk, EitherConst<PlannedLaunch> auto& launch) {
  walk(launch.kernel, launch.grid, launch.block, launch.shared_bytes, launch.args, launch.only);
}
void list_fields(auto& walk, EitherConst<LaunchPlan> auto& plan) {
  walk(plan.buffers, plan.launches);
}
void list_fields(auto& walk, EitherConst<ArenaSlot> auto& slot) {
  walk(slot.offset, slot.bytes);
}
void list_fields(auto& walk, EitherConst<LoadedPlan> auto& loaded) {
  walk(loaded.binary, loaded.plan, loaded.slots);
}
void list_fields(auto& walk, EitherConst<GpuFacts> auto& gpu) {
  walk(gpu.arch, gpu.warp_size, gpu.registers_per_unit, gpu.registers_per_block, gpu.max_registers_per_thread,
       gpu.shared_bytes_per_unit, gpu.static_shared_bytes_per_block, gpu.reserved_shared_bytes_per_block,
       gpu.max_threads_per_unit, gpu.max_blocks_per_unit, gpu.clock_hz, gpu.peak_f16_flops,
       gpu.special_per_clock_per_unit);
}
void list_fields(auto& walk, EitherConst<DeviceFacts> auto& facts) {
  walk(facts.id, facts.target, facts.name, facts.driver, facts.kind, facts.compute_units, facts.max_block_items,
       facts.shared_bytes_per_block, facts.memory_bytes, facts.last_level_cache_bytes, facts.l2_cache_bytes,
       facts.l1_cache_bytes, facts.vector_floats, facts.peak_f32_flops, facts.peak_bytes, facts.gpu);
}

void list_fields(auto& walk, EitherConst<DescribeRequest> auto& request) {
  walk(request.device_id);
}
void list_fields(auto& walk, EitherConst<BuildRequest> auto& request) {
  walk(request.device_id, request.source, request.definitions, request.launches, request.inspection, request.counting);
}
void list_fields(auto& walk, EitherConst<LoadRequest> auto& request) {
  walk(request.device_id, request.arena_bytes, request.binaries, request.plans, request.inspection, request.counting,
       request.number_kernels);
}
void list_fields(auto& walk, EitherConst<DrawRule> auto& rule) {
  walk(rule.numbers, rule.rows, rule.scale, rule.shift, rule.late_shift);
}
void list_fields(auto& walk, EitherConst<RandomTensor> auto& tensor) {
  walk(tensor.rule, tensor.key, tensor.row_length, tensor.sequence);
}
void list_fields(auto& walk, EitherConst<BufferFill> auto& fill) {
  walk(fill.buffer, fill.with, fill.pattern, fill.tensor, fill.has_firsts);
}
void list_fields(auto& walk, EitherConst<BufferPart> auto& part) {
  walk(part.buffer, part.offset, part.bytes);
}
void list_fields(auto& walk, EitherConst<LaunchRequest> auto& request) {
  walk(request.plan, request.cold, request.fills, request.returned, request.counted);
}

void list_fields(auto& walk, EitherConst<DescribeReply> auto& reply) {
  walk(reply.devices, reply.problem);
}
void list_fields(auto& walk, EitherConst<KernelReport> auto& report) {
  walk(report.kernel, report.registers, report.spill_bytes, report.stack_bytes, report.shared_bytes,
       report.instructions, report.tensor_core_instructions, report.local_memory_instructions, report.blocks_per_unit,
       report.occupancy);
}
void list_fields(auto& walk, EitherConst<InstructionMix> auto& mix) {
  walk(mix.kernel, mix.loop, mix.instructions, mix.vector_floats, mix.scalar_floats, mix.vector_bits, mix.loads_stores,
       mix.stack_accesses, mix.calls, mix.called);
}
void list_fields(auto& walk, EitherConst<BuildReply> auto& reply) {
  walk(reply.status, reply.log, reply.binary, reply.build_ns, reply.registers, reply.spill_bytes, reply.stack_bytes,
       reply.shared_bytes, reply.kernels, reply.machine_code);
}
void list_fields(auto&, EitherConst<LoadReply> auto&) {}
void list_fields(auto& walk, EitherConst<AccessCounts> auto& counts) {
  walk(counts.kernel, counts.line, counts.shared, counts.write, counts.requests, counts.partial, counts.lanes,
       counts.transactions, counts.least);
}
void list_fields(auto& walk, EitherConst<UselessElements> auto& useless) {
  walk(useless.buffer, useless.unwritten, useless.nans);
}
void list_fields(auto& walk, EitherConst<LaunchReply> auto& reply) {
  walk(reply.claimed_ns, reply.changed, reply.useless, reply.accesses, reply.uncounted_accesses, reply.queued_ahead);
}
void list_fields(auto& walk, EitherConst<LaunchFailure> auto& failure) {
  walk(failure.what);
}

}  // namespace kw::wire
