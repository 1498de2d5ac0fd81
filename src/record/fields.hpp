#pragma once
// The one list of fields of every record, from which json.cpp both writes and reads, so that the two cannot drift
// apart. A visitor is called as visit("key", field); std::optional fields may be absent from a file, all others must be
// there. Keys are on disk: never rename one. A field added later must be a std::optional, or a list that is written as
// visit.unless_empty("key", list), or come with a new format number.

#include <array>
#include <concepts>
#include <type_traits>

#include "record/attempt.hpp"
#include "record/run_record.hpp"

namespace kw {

/// T is U, const or not: one function describes a record for writing and for reading.
template <typename T, typename U>
concept AnyConst = std::same_as<std::remove_const_t<T>, U>;

/// The values an enum may have on disk. A number outside it comes from a newer program or a damaged file.
template <typename E>
inline constexpr std::array<E, 0> k_known_values{};
template <>
inline constexpr auto k_known_values<DType> = std::to_array({DType::f32, DType::f16, DType::i32, DType::boolean,
                                                             DType::bf16});
template <>
inline constexpr auto k_known_values<DeviceKind> = std::to_array({DeviceKind::cpu, DeviceKind::gpu,
                                                                  DeviceKind::simulator, DeviceKind::null_device});
template <>
inline constexpr auto k_known_values<GateId> = std::to_array({GateId::read, GateId::build, GateId::statics,
                                                              GateId::check, GateId::sanitize, GateId::time,
                                                              GateId::profile});
template <>
inline constexpr auto k_known_values<VerdictStatus> = std::to_array({VerdictStatus::accepted, VerdictStatus::rejected,
                                                                     VerdictStatus::unverified});
template <>
inline constexpr auto k_known_values<Reason> =
    std::to_array({Reason::none,           Reason::bundle_invalid,    Reason::source_forbidden,
                   Reason::build_failed,   Reason::build_timeout,     Reason::build_crashed,
                   Reason::kernel_missing, Reason::resource_limit,    Reason::constraint_violated,
                   Reason::wrong_result,   Reason::not_finite,        Reason::output_unwritten,
                   Reason::input_modified, Reason::guard_overwritten, Reason::nondeterministic,
                   Reason::crashed,        Reason::timeout,           Reason::launch_failed,
                   Reason::memory_limit,   Reason::sanitizer_report,  Reason::wrong_when_timed,
                   Reason::above_roofline, Reason::clock_mismatch});
template <>
inline constexpr auto k_known_values<Comparison> = std::to_array({Comparison::faster, Comparison::slower,
                                                                  Comparison::equivalent, Comparison::undecided,
                                                                  Comparison::unreliable});
template <>
inline constexpr auto k_known_values<RunStatus> = std::to_array({RunStatus::running, RunStatus::finished,
                                                                 RunStatus::exhausted, RunStatus::interrupted,
                                                                 RunStatus::failed});

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
  visit("counters", r.counters);
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

template <typename V, AnyConst<Tunable> T>
void fields(V& visit, T& r) {
  visit("name", r.name);
  visit("values", r.values);
  visit("default", r.default_value);
}

template <typename V, AnyConst<Definition> T>
void fields(V& visit, T& r) {
  visit("name", r.name);
  visit("expression", r.expression);
}

template <typename V, AnyConst<ScratchBuffer> T>
void fields(V& visit, T& r) {
  visit("name", r.name);
  visit("dtype", r.dtype);
  visit("elements", r.elements);
}

template <typename V, AnyConst<Launch> T>
void fields(V& visit, T& r) {
  visit("kernel", r.kernel);
  visit("grid", r.grid);
  visit("block", r.block);
  visit("shared_bytes", r.shared_bytes);
  visit("args", r.args);
}

template <typename V, AnyConst<DispatchRow> T>
void fields(V& visit, T& r) {
  visit("device", r.device);
  visit("when", r.when);
  visit("tunables", r.tunables);
}

// A bundle is stored by its fields and not as its text: a rejected candidate may hold a bundle whose text no parser
// takes, and the archive must give that back as well.
template <typename V, AnyConst<Bundle> T>
void fields(V& visit, T& r) {
  visit("target", r.target);
  visit("problem", r.problem);
  visit("generator", r.generator);
  visit("deterministic", r.deterministic);
  visit("tunables", r.tunables);
  visit("constraints", r.constraints);
  visit("defines", r.defines);
  visit("scratch", r.scratch);
  visit("launches", r.launches);
  visit.unless_empty("dispatch", r.dispatch);
  visit("source", r.source);
}

template <typename V, AnyConst<Candidate> T>
void fields(V& visit, T& r) {
  visit("bundle", r.bundle);
  visit("tunables", r.tunables);
}

template <typename V, AnyConst<Attempt> T>
void fields(V& visit, T& r) {
  visit("ordinal", r.ordinal);
  visit("proposer", r.proposer);
  visit("origin", r.origin);
  visit("turn", r.turn);
  visit("candidate", r.candidate);
  visit("verdict", r.verdict);
  visit("build", r.build);
  visit("measurement", r.measurement);
  visit("device_seconds", r.device_seconds);
  visit("wall_seconds", r.wall_seconds);
  visit("elapsed_seconds", r.elapsed_seconds);
  visit("became_best", r.became_best);
  visit("chain", r.chain);
}

template <typename V, AnyConst<GpuFacts> T>
void fields(V& visit, T& r) {
  visit("arch", r.arch);
  visit("warp_size", r.warp_size);
  visit("registers_per_unit", r.registers_per_unit);
  visit("registers_per_block", r.registers_per_block);
  visit("max_registers_per_thread", r.max_registers_per_thread);
  visit("shared_bytes_per_unit", r.shared_bytes_per_unit);
  visit("static_shared_bytes_per_block", r.static_shared_bytes_per_block);
  visit("reserved_shared_bytes_per_block", r.reserved_shared_bytes_per_block);
  visit("max_threads_per_unit", r.max_threads_per_unit);
  visit("max_blocks_per_unit", r.max_blocks_per_unit);
  visit("clock_hz", r.clock_hz);
  visit("peak_f16_flops", r.peak_f16_flops);
  visit("special_per_clock_per_unit", r.special_per_clock_per_unit);
}

template <typename V, AnyConst<DeviceFacts> T>
void fields(V& visit, T& r) {
  visit("id", r.id);
  visit("target", r.target);
  visit("name", r.name);
  visit("driver", r.driver);
  visit("kind", r.kind);
  visit("compute_units", r.compute_units);
  visit("max_block_items", r.max_block_items);
  visit("shared_bytes_per_block", r.shared_bytes_per_block);
  visit("memory_bytes", r.memory_bytes);
  visit("last_level_cache_bytes", r.last_level_cache_bytes);
  visit("l2_cache_bytes", r.l2_cache_bytes);
  visit("l1_cache_bytes", r.l1_cache_bytes);
  visit("vector_floats", r.vector_floats);
  visit("peak_f32_flops", r.peak_f32_flops);
  visit("peak_bytes", r.peak_bytes);
  visit("gpu", r.gpu);
}

template <typename V, AnyConst<BudgetLimits> T>
void fields(V& visit, T& r) {
  visit("wall_seconds", r.wall_seconds);
  visit("candidates", r.candidates);
  visit("device_seconds", r.device_seconds);
  visit("tokens", r.tokens);
  visit("dollars", r.dollars);
}

template <typename V, AnyConst<BudgetUse> T>
void fields(V& visit, T& r) {
  visit("wall_seconds", r.wall_seconds);
  visit("candidates", r.candidates);
  visit("device_seconds", r.device_seconds);
  visit("tokens", r.tokens);
  visit("dollars", r.dollars);
}

template <typename V, AnyConst<BaselineRecord> T>
void fields(V& visit, T& r) {
  visit("name", r.name);
  visit("median_ns", r.median_ns);
  visit("ci_ns", r.ci_ns);
}

template <typename V, AnyConst<AccuracyRow> T>
void fields(V& visit, T& r) {
  visit("workload", r.workload);
  visit("distribution", r.distribution);
  visit("max_error", r.max_error);
  visit("allowed", r.allowed);
}

template <typename V, AnyConst<ModelUse> T>
void fields(V& visit, T& r) {
  visit("provider", r.provider);
  visit("base_url", r.base_url);
  visit("model", r.model);
  visit("chains", r.chains);
  visit("samples", r.samples);
  visit("exemplars", r.exemplars);
  visit("constraints", r.constraints);
  visit("prices", r.prices);
  visit("turns", r.turns);
  visit("faulty_turns", r.faulty_turns);
  visit("prompt_tokens", r.prompt_tokens);
  visit("completion_tokens", r.completion_tokens);
  visit("dollars", r.dollars);
}

template <typename V, AnyConst<RunRecord> T>
void fields(V& visit, T& r) {
  visit("id", r.id);
  visit("started_utc", r.started_utc);
  visit("version", r.version);
  visit("problem", r.problem);
  visit("problem_text", r.problem_text);
  visit("mod_text", r.mod_text);
  visit("problem_input", r.problem_input);
  visit("op", r.op);
  visit("target", r.target);
  visit("proposer", r.proposer);
  visit("model_use", r.model_use);
  visit("seed", r.seed);
  visit("archive_seeds", r.archive_seeds);
  visit("device", r.device);
  visit("limits", r.limits);
  visit("used", r.used);
  visit("status", r.status);
  visit("failure", r.failure);
  visit("sandbox_tier", r.sandbox_tier);
  visit("workloads", r.workloads);
  visit("distributions", r.distributions);
  visit("cases_left_out", r.cases_left_out);
  visit("sanitizers", r.sanitizers);
  visit("environment", r.environment);
  visit("useful_flops", r.useful_flops);
  visit("useful_bytes", r.useful_bytes);
  visit("baselines", r.baselines);
  visit("best_ordinal", r.best_ordinal);
  visit("best_path", r.best_path);
  visit("best_final", r.best_final);
  visit("best_accuracy", r.best_accuracy);
}

}  // namespace kw
