#pragma once
// The fields of an attempt and of all that was found out about it; the rules are those of fields.hpp.

#include "record/attempt.hpp"
#include "record/bundle_fields.hpp"

namespace kw {

/// The values of a table of names.
template <typename E, std::size_t N>
constexpr std::array<E, N> values_of(const std::array<EnumName<E>, N>& names) {
  std::array<E, N> values{};
  for (std::size_t i = 0; i < N; ++i) values[i] = names[i].value;
  return values;
}

template <>
inline constexpr auto k_known_values<GateId> = values_of(k_gate_names);
template <>
inline constexpr auto k_known_values<VerdictStatus> = std::to_array({VerdictStatus::accepted, VerdictStatus::rejected,
                                                                     VerdictStatus::unverified,
                                                                     VerdictStatus::screened});
template <>
inline constexpr auto k_known_values<Reason> = values_of(k_reason_names);
template <>
inline constexpr auto k_known_values<Comparison> = std::to_array({Comparison::faster, Comparison::slower,
                                                                  Comparison::equivalent, Comparison::undecided,
                                                                  Comparison::unreliable});

template <typename V, AnyConst<Interval> T>
void fields(V& visit, T& r) {
  visit("low", r.low);
  visit("high", r.high);
  visit("confidence", r.confidence);
}

template <typename V, AnyConst<Versus> T>
void fields(V& visit, T& r) {
  visit("name", r.name);
  visit("decision", r.decision);
  visit("speedup", r.speedup);
  visit("speedup_ci", r.speedup_ci);
  visit("pairs", r.pairs);
  visit("discarded_pairs", r.discarded_pairs);
}

template <typename V, AnyConst<StallReason> T>
void fields(V& visit, T& r) {
  visit("name", r.name);
  visit("share", r.share);
}

template <typename V, AnyConst<InstructionShare> T>
void fields(V& visit, T& r) {
  visit("name", r.name);
  visit("share", r.share);
}

template <typename V, AnyConst<HardwareCounters> T>
void fields(V& visit, T& r) {
  visit("tool", r.tool);
  visit("kernel", r.kernel);
  visit("duration_ns", r.duration_ns);
  visit("dram_read_bytes", r.dram_read_bytes);
  visit("dram_write_bytes", r.dram_write_bytes);
  visit("dram_peak_share", r.dram_peak_share);
  visit("l2_hit_share", r.l2_hit_share);
  visit("tensor_pipe_share", r.tensor_pipe_share);
  visit("achieved_occupancy", r.achieved_occupancy);
  visit("issue_share", r.issue_share);
  visit("registers_per_thread", r.registers_per_thread);
  visit("stalls", r.stalls);
  visit.unless_empty("instructions", r.instructions);
  visit("sectors_per_load", r.sectors_per_load);
  visit("bank_conflict_share", r.bank_conflict_share);
  visit("divergent_branch_share", r.divergent_branch_share);
}

template <typename V, AnyConst<BesideCopy> T>
void fields(V& visit, T& r) {
  visit("share", r.share);
  visit("ci", r.ci);
  visit("pairs", r.pairs);
}

template <typename V, AnyConst<Measurement> T>
void fields(V& visit, T& r) {
  visit("median_ns", r.median_ns);
  visit("ci_ns", r.ci_ns);
  visit("samples", r.samples);
  visit("stopped_early", r.stopped_early);
  visit("versus", r.versus);
  visit("gflops", r.gflops);
  visit("roofline_fraction", r.roofline_fraction);
  visit("beside_copy", r.beside_copy);
  visit("counters", r.counters);
}

template <typename V, AnyConst<InstructionMix> T>
void fields(V& visit, T& r) {
  visit("kernel", r.kernel);
  visit("loop", r.loop);
  visit("instructions", r.instructions);
  visit("vector_floats", r.vector_floats);
  visit("scalar_floats", r.scalar_floats);
  visit("vector_bits", r.vector_bits);
  visit("loads_stores", r.loads_stores);
  visit("stack_accesses", r.stack_accesses);
  visit("calls", r.calls);
  visit.unless_empty("called", r.called);
}

template <typename V, AnyConst<BuildReport> T>
void fields(V& visit, T& r) {
  visit("log", r.log);
  visit("build_ms", r.build_ms);
  visit("binary_bytes", r.binary_bytes);
  visit("binary_hash", r.binary_hash);
  visit("registers", r.registers);
  visit("spill_bytes", r.spill_bytes);
  visit("stack_bytes", r.stack_bytes);
  visit("shared_bytes", r.shared_bytes);
  visit("tensor_core_instructions", r.tensor_core_instructions);
  visit("local_memory_instructions", r.local_memory_instructions);
  visit("occupancy", r.occupancy);
  visit.unless_empty("machine_code", r.machine_code);
}

template <typename V, AnyConst<Evidence> T>
void fields(V& visit, T& r) {
  visit("gate", r.gate);
  visit("text", r.text);
  visit("hidden", r.hidden);
}

template <typename V, AnyConst<Verdict> T>
void fields(V& visit, T& r) {
  visit("status", r.status);
  visit("reason", r.reason);
  visit("failed_gate", r.failed_gate);
  visit("message", r.message);
  visit("gates_passed", r.gates_passed);
  visit("evidence", r.evidence);
}

template <typename V, AnyConst<AccuracyRow> T>
void fields(V& visit, T& r) {
  visit("workload", r.workload);
  visit("distribution", r.distribution);
  visit("max_error", r.max_error);
  visit("allowed", r.allowed);
}

template <typename V, AnyConst<AccessCounts> T>
void fields(V& visit, T& r) {
  visit("kernel", r.kernel);
  visit("line", r.line);
  visit("shared", r.shared);
  visit("write", r.write);
  visit("requests", r.requests);
  visit("partial", r.partial);
  visit("lanes", r.lanes);
  visit("transactions", r.transactions);
  visit("least", r.least);
}

template <typename V, AnyConst<SimulatedAccesses> T>
void fields(V& visit, T& r) {
  visit("device", r.device);
  visit("groups", r.groups);
  visit("of", r.of);
  visit("uncounted", r.uncounted);
  visit("lines", r.lines);
}

template <typename V, AnyConst<Attempt> T>
void fields(V& visit, T& r) {
  visit("ordinal", r.ordinal);
  visit("proposer", r.proposer);
  visit("origin", r.origin);
  visit("turn", r.provenance.turn);
  visit("candidate", r.candidate);
  visit("verdict", r.verdict);
  visit("build", r.build);
  visit("accuracy", r.accuracy);
  visit("measurement", r.measurement);
  visit("device_seconds", r.device_seconds);
  visit("wall_seconds", r.wall_seconds);
  visit("elapsed_seconds", r.elapsed_seconds);
  visit("became_best", r.became_best);
  visit("chain", r.provenance.chain);
  visit("accesses", r.accesses);
}

}  // namespace kw
