#include "propose/llm/prompts/seen_signs.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <initializer_list>

#include "problem/operator.hpp"
#include "propose/llm/knowledge/knowledge.hpp"
#include "propose/llm/prompts/machine_code_text.hpp"
#include "propose/llm/prompts/memory_text.hpp"
#include "propose/llm/prompts/task_text.hpp"
#include "record/access_text.hpp"
#include "record/launch_plan.hpp"

namespace kw {
namespace {

constexpr std::size_t k_notes_shown = 2;

bool is_in_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// How often one of the words stands in the source, as a whole identifier.
double count_words(std::string_view source, std::initializer_list<std::string_view> words) {
  double count = 0;
  for (const auto word : words) {
    for (std::size_t at = source.find(word); at != std::string_view::npos; at = source.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      const bool begins = at == 0 || !is_in_word(source[at - 1]);
      if (begins && (end == source.size() || !is_in_word(source[end]))) ++count;
    }
  }
  return count;
}

void add_source_signs(std::string_view source, Signs& signs) {
  signs["calls_exp"] = count_words(
      source, {"exp", "exp2", "native_exp", "native_exp2", "half_exp", "half_exp2", "expf", "exp2f", "__expf"});
  signs["calls_tanh"] = count_words(source, {"tanh", "tanhf"});
  signs["calls_round"] =
      count_words(source, {"rint", "round", "floor", "rintf", "roundf", "floorf", "convert_int", "convert_int2",
                           "convert_int4", "convert_int8", "convert_int16", "convert_int_rte", "convert_int4_rte",
                           "convert_int8_rte", "convert_int16_rte"});
  signs["vector_types"] =
      count_words(source, {"float2", "float4", "float8", "float16", "vload2", "vload4", "vload8", "vload16"});
}

void add_plan_signs(const PromptContext& context, const Attempt& kernel, Signs& signs) {
  const auto plan = plan_launches(kernel.candidate, *context.problem, context.problem->primary().axes, context.device);
  if (!plan || plan->launches.empty()) return;
  double scratch = 0, needed = 0;
  for (const auto& buffer : plan->buffers) {
    (buffer.role == BufferRole::scratch ? scratch : needed) += static_cast<double>(buffer.bytes);
  }
  double most_items = 0, fewest_groups = 0;
  for (const auto& launch : plan->launches) {
    const auto groups = static_cast<double>(launch.grid[0] * launch.grid[1] * launch.grid[2]);
    fewest_groups = fewest_groups > 0 ? std::min(fewest_groups, groups) : groups;
    most_items = std::max(most_items, static_cast<double>(launch.block[0] * launch.block[1] * launch.block[2]));
  }
  if (needed > 0) signs["scratch_share"] = scratch / needed;
  signs["launches"] = static_cast<double>(plan->launches.size());
  signs["block_items"] = most_items;
  signs["groups_per_unit"] =
      fewest_groups / static_cast<double>(std::max<std::int64_t>(context.device.compute_units, 1));
}

template <typename T>
void add_known(Signs& signs, const char* name, const std::optional<T>& value) {
  if (value) signs[name] = static_cast<double>(*value);
}

void add_build_signs(const BuildReport& build, Signs& signs) {
  add_known(signs, "registers", build.registers);
  add_known(signs, "spill_bytes", build.spill_bytes);
  add_known(signs, "shared_bytes", build.shared_bytes);
  add_known(signs, "occupancy", build.occupancy);
  add_known(signs, "tensor_cores", build.tensor_core_instructions);
}

void add_loop_signs(const BuildReport& build, Signs& signs) {
  const InstructionMix* code = hottest_code(build);
  if (code == nullptr || !code->loop) return;
  const auto arithmetic = static_cast<double>(code->vector_floats + code->scalar_floats);
  signs["loop_calls"] = static_cast<double>(code->calls);
  signs["loop_loads"] = static_cast<double>(code->loads_stores) / arithmetic;
  signs["loop_stack"] = static_cast<double>(code->stack_accesses) / arithmetic;
  signs["loop_vector_bits"] = static_cast<double>(code->vector_bits);
}

void add_access_signs(const SimulatedAccesses& accesses, Signs& signs) {
  const auto add_excess = [&](const char* name, const AccessCounts& sum) {
    if (sum.least > 0) signs[name] = static_cast<double>(sum.transactions) / static_cast<double>(sum.least);
  };
  AccessCounts global = sum_of(accesses, MemorySpace::global);
  const AccessCounts shared = sum_of(accesses, MemorySpace::shared);
  add_excess("sector_excess", global);
  add_excess("bank_excess", shared);
  global.requests += shared.requests;
  global.lanes += shared.lanes;
  if (global.requests > 0) signs["lane_share"] = lane_share(global);
  const AccessCounts branches = branches_of(accesses);
  if (branches.requests > 0) {
    signs["divergent_share"] = static_cast<double>(branches.partial) / static_cast<double>(branches.requests);
  }
}

void add_counter_signs(const HardwareCounters& counters, Signs& signs) {
  add_known(signs, "bank_conflict_share", counters.bank_conflict_share);
  add_known(signs, "divergent_share", counters.divergent_branch_share);
  add_known(signs, "dram_peak_share", counters.dram_peak_share);
  add_known(signs, "issue_share", counters.issue_share);
  add_known(signs, "l2_hit_share", counters.l2_hit_share);
  add_known(signs, "tensor_pipe_share", counters.tensor_pipe_share);
  add_known(signs, "wait_barrier", wait_share(counters, Wait::barriers));
  add_known(signs, "wait_global", wait_share(counters, Wait::global_memory));
  add_known(signs, "wait_shared", wait_share(counters, Wait::shared_memory));
}

void add_problem_signs(const PromptContext& context, Signs& signs) {
  const Problem& problem = *context.problem;
  for (const auto& [axis, extent] : problem.primary().axes) signs["axis_" + axis] = static_cast<double>(extent);
  const auto& inputs = problem.inputs;
  const bool narrow = std::any_of(inputs.begin(), inputs.end(), [](const auto& t) { return is_16_bit_float(t.dtype); });
  signs["narrow_inputs"] = narrow ? 1 : 0;
  const auto values = operator_of(problem).prompts.values(problem);
  const auto mask = values.find("mask");
  signs["masked"] = mask != values.end() && !mask->second.empty() ? 1 : 0;
  if (const auto times = peak_times(context); times && times->memory_ns > 0) {
    signs["arithmetic_over_memory"] = times->arithmetic_ns / times->memory_ns;
  }
  constexpr std::string_view k_sm = "sm_";
  if (context.device.gpu && context.device.gpu->arch.starts_with(k_sm)) {
    signs["cuda_arch"] = std::atoi(context.device.gpu->arch.c_str() + k_sm.size());
  }
}

std::string_view device_name(DeviceKind kind) {
  if (kind == DeviceKind::cpu) return "cpu";
  return kind == DeviceKind::gpu ? "gpu" : "simulator";
}

/// "share of the roofline bound: 0.42": what a note's conditions saw.
std::string seen_because(const KnowledgeNote& note, const Signs& signs) {
  std::string text;
  for (const auto& condition : note.when) {
    text += fmt::format("{}{}: {:.3g}", text.empty() ? "" : "; ", sign_meaning(condition.sign),
                        signs.find(condition.sign)->second);
  }
  return text;
}

}  // namespace

Signs signs_of(const PromptContext& context, const Attempt* kernel) {
  Signs signs;
  add_problem_signs(context, signs);
  if (kernel == nullptr) return signs;
  add_source_signs(kernel->candidate.bundle.source, signs);
  add_plan_signs(context, *kernel, signs);
  add_build_signs(kernel->build, signs);
  add_loop_signs(kernel->build, signs);
  if (kernel->accesses) add_access_signs(*kernel->accesses, signs);
  if (!kernel->measurement) return signs;
  if (const auto share = bound_share(context, *kernel->measurement)) signs["bound_share"] = *share;
  if (kernel->measurement->counters) add_counter_signs(*kernel->measurement->counters, signs);
  return signs;
}

std::string notes_text(const PromptContext& context, const Attempt* kernel) {
  if (!context.parts.notes) return "";
  const NoteSituation situation{context.target, std::string(device_name(context.device.kind)), context.problem->op,
                                signs_of(context, kernel)};
  std::string text;
  for (const KnowledgeNote* note : fitting_notes(shipped_knowledge(), situation, k_notes_shown)) {
    text += fmt::format("{}## {}: {:.3g} times as fast where it was measured\n\nSeen here: {}.\n\n{}",
                        text.empty() ? "" : "\n\n", note->title, note->gain, seen_because(*note, situation.signs),
                        note->text);
  }
  return text;
}

}  // namespace kw
