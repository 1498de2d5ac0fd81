#pragma once
// The fields of a run: device, budget, result; the rules are those of fields.hpp.

#include "record/attempt_fields.hpp"
#include "record/run_record.hpp"

namespace kw {

template <>
inline constexpr auto k_known_values<DeviceKind> = std::to_array({DeviceKind::cpu, DeviceKind::gpu,
                                                                  DeviceKind::simulator, DeviceKind::null_device});
template <>
inline constexpr auto k_known_values<RunStatus> = std::to_array({RunStatus::running, RunStatus::finished,
                                                                 RunStatus::exhausted, RunStatus::interrupted,
                                                                 RunStatus::failed});

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

template <typename V, AnyConst<SourceFile> T>
void fields(V& visit, T& r) {
  visit("path", r.path);
  visit("size_bytes", r.size_bytes);
  visit("hash", r.hash);
  visit("bytes", r.bytes);
}

template <typename V, AnyConst<SourceModule> T>
void fields(V& visit, T& r) {
  visit("file", r.file);
  visit("text", r.text);
  visit("wanted", r.wanted);
  visit.unless_empty("beside", r.beside);
}

template <typename V, AnyConst<SourceChange> T>
void fields(V& visit, T& r) {
  visit.unless_empty("axes", r.axes);
  visit("module", r.module);
}

template <typename V, AnyConst<ProblemSource> T>
void fields(V& visit, T& r) {
  visit("text", r.text);
  visit.unless_empty("files", r.files);
  visit.unless_empty("changes", r.changes);
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

template <typename V, AnyConst<TimeUse> T>
void fields(V& visit, T& r) {
  visit("stage", r.stage);
  visit("activity", r.activity);
  visit("seconds", r.seconds);
}

template <typename V, AnyConst<BaselineRecord> T>
void fields(V& visit, T& r) {
  visit("name", r.name);
  visit("median_ns", r.median_ns);
  visit("ci_ns", r.ci_ns);
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
  visit("requests", r.requests);
  visit("request_tokens", r.request_tokens);
  visit("answered_tokens", r.answered_tokens);
  visit("budget_share", r.budget_share);
  visit("judge", r.judge);
  visit("effort", r.effort);
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
  visit("problem_source", r.problem_source);
  visit("op", r.op);
  visit("target", r.target);
  visit("proposer", r.proposer);
  visit("style", r.style);
  visit("model_use", r.model_use);
  visit("seed", r.seed);
  visit("candidates_in_flight", r.candidates_in_flight);
  visit("archive_seeds", r.archive_seeds);
  visit("device", r.device);
  visit("limits", r.limits);
  visit("used", r.used);
  visit.unless_empty("time_uses", r.time_uses);
  visit("beside_seconds", r.beside_seconds);
  visit("found_builds", r.found_builds);
  visit("status", r.status);
  visit("failure", r.failure);
  visit("sandbox_tier", r.sandbox_tier);
  visit("workloads", r.workloads);
  visit("distributions", r.distributions);
  visit("cases_left_out", r.cases_left_out);
  visit("sampled_rows", r.sampled_rows);
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
