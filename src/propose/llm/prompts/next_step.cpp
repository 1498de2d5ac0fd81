#include "propose/llm/prompts/next_step.hpp"

#include <algorithm>
#include <limits>

#include "language/language.hpp"
#include "propose/llm/prompts/machine_code_text.hpp"
#include "propose/llm/prompts/memory_text.hpp"
#include "propose/llm/prompts/task_text.hpp"
#include "record/launch_plan.hpp"

namespace kw {
namespace {

/// Everything the rules look at.
struct Seen {
  const PromptContext& context;
  const Attempt& kernel;
  std::optional<LaunchPlan> plan;
  bool gpu = false;
  /// Time at the measured peaks of arithmetic over that of memory; absent without peaks.
  std::optional<double> arithmetic_over_memory;
  [[nodiscard]] std::optional<double> fraction() const {
    return kernel.measurement ? bound_share(context, *kernel.measurement) : std::nullopt;
  }
};

using Detail = std::optional<std::string>;

std::int64_t bytes_of(const LaunchPlan& plan, bool scratch) {
  std::int64_t bytes = 0;
  for (const auto& buffer : plan.buffers) {
    if ((buffer.role == BufferRole::scratch) == scratch) bytes += buffer.bytes;
  }
  return bytes;
}

double megabytes(std::int64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

/// Of a CPU, where machine code was read; null elsewhere.
const InstructionMix* code_of(const Seen& seen) {
  return hottest_code(seen.kernel.build);
}

Detail spills(const Seen& seen) {
  if (const InstructionMix* code = code_of(seen)) return stack_traffic(*code);
  const auto bytes = seen.kernel.build.spill_bytes;
  if (!bytes || *bytes == 0) return std::nullopt;
  return fmt::format("{} bytes per thread", *bytes);
}

Detail calls(const Seen& seen) {
  const InstructionMix* code = code_of(seen);
  return code == nullptr ? std::nullopt : calls_in_loop(*code);
}

/// A buffer for every pair of elements is several times what the problem reads and writes; packed copies of inputs are
/// not.
Detail materialised(const Seen& seen) {
  if (!seen.plan) return std::nullopt;
  const std::int64_t scratch = bytes_of(*seen.plan, true);
  const std::int64_t needed = bytes_of(*seen.plan, false);
  if (scratch <= 2 * needed) return std::nullopt;
  return fmt::format("{:.1f} MB of scratch, {:.1f} MB of inputs and outputs", megabytes(scratch), megabytes(needed));
}

Detail few_groups(const Seen& seen) {
  if (!seen.plan) return std::nullopt;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const auto& launch : seen.plan->launches) {
    fewest = std::min(fewest, launch.grid[0] * launch.grid[1] * launch.grid[2]);
  }
  if (fewest >= seen.context.device.compute_units) return std::nullopt;
  return fmt::format("a launch of {} groups for {} compute units", fewest, seen.context.device.compute_units);
}

Detail few_items(const Seen& seen) {
  constexpr std::int64_t k_two_warps = 64;
  if (!seen.plan || !seen.gpu) return std::nullopt;
  std::int64_t most = 0;
  for (const auto& launch : seen.plan->launches) {
    most = std::max(most, launch.block[0] * launch.block[1] * launch.block[2]);
  }
  if (most >= k_two_warps) return std::nullopt;
  return fmt::format("at most {} in any launch", most);
}

Detail tensor_cores(const Seen& seen) {
  const auto count = seen.kernel.build.tensor_core_instructions;
  const auto& inputs = seen.context.problem->inputs;
  const bool narrow = std::any_of(inputs.begin(), inputs.end(), [](const auto& t) { return is_16_bit_float(t.dtype); });
  if (!narrow || !count || *count > 0) return std::nullopt;
  return "none in the compiled code";
}

Detail occupancy(const Seen& seen) {
  constexpr double k_low = 0.25;
  const auto share = seen.kernel.build.occupancy;
  if (!share || *share >= k_low) return std::nullopt;
  return fmt::format("occupancy {:.0f} %", 100 * *share);
}

Detail scattered(const Seen& seen) {
  return scattered_accesses(seen.kernel);
}

Detail banks(const Seen& seen) {
  return bank_conflicts(seen.kernel);
}

Detail lanes(const Seen& seen) {
  return missing_lanes(seen.kernel);
}

constexpr double k_near = 0.8;

/// What warps wait for, and what they compute beside, is no news of a kernel that does all that the device can.
bool has_room(const Seen& seen) {
  return !seen.fraction() || *seen.fraction() < k_near;
}

Detail overhead(const Seen& seen) {
  return has_room(seen) ? much_overhead(seen.kernel) : std::nullopt;
}

template <Wait wait>
Detail waits(const Seen& seen) {
  return has_room(seen) ? long_wait(seen.kernel, wait) : std::nullopt;
}

Detail vectors(const Seen& seen) {
  const Language* language = find_language(seen.context.target);
  const bool has_vectors = language != nullptr && language->has_vector_types;
  if (seen.gpu || seen.context.device.vector_floats < 2 || !has_vectors) return std::nullopt;
  // What the compiler made counts, not the words of the source: it may have made vectors, or taken them apart.
  if (const InstructionMix* code = code_of(seen)) return narrow_arithmetic(*code, seen.context.device.vector_floats);
  const std::string& source = seen.kernel.candidate.bundle.source;
  for (const char* word : {"float2", "float4", "float8", "float16", "vload"}) {
    if (source.find(word) != std::string::npos) return std::nullopt;
  }
  return "no vector type or vload in the source";
}

Detail tunables(const Seen& seen) {
  if (!seen.kernel.candidate.bundle.tunables.empty()) return std::nullopt;
  return "no [tunables] in the header";
}

Detail near_bound(const Seen& seen) {
  if (!seen.fraction() || *seen.fraction() < k_near || *seen.fraction() > 1) return std::nullopt;
  return fmt::format("{:.0f} % of the roofline bound", 100 * *seen.fraction());
}

constexpr double k_small_share = 0.5;

/// Whether a private array of floats or of float vectors is declared: accumulators that hold several results.
bool holds_block(std::string_view source) {
  for (std::size_t at = 0; (at = source.find("float", at)) != std::string_view::npos;) {
    at += std::string_view("float").size();
    const std::size_t name = source.find_first_not_of("0123456789", at);
    if (name == std::string_view::npos || source[name] != ' ') continue;
    const std::size_t end = source.find_first_of(" ;,=()*[", name + 1);
    if (end != std::string_view::npos && source[end] == '[') return true;
  }
  return false;
}

Detail register_blocking(const Seen& seen) {
  const bool arithmetic_bound = seen.arithmetic_over_memory && *seen.arithmetic_over_memory > 1;
  if (!arithmetic_bound || !seen.fraction() || *seen.fraction() >= k_small_share) return std::nullopt;
  if (const InstructionMix* code = code_of(seen)) {
    const Detail reuse = little_reuse(*code);
    return reuse ? fmt::format("{:.0f} % of the roofline bound; {}", 100 * *seen.fraction(), *reuse) : reuse;
  }
  if (holds_block(seen.kernel.candidate.bundle.source)) return std::nullopt;
  return fmt::format("{:.0f} % of the roofline bound, and no array of accumulators in the source",
                     100 * *seen.fraction());
}

Detail layout(const Seen& seen) {
  const bool memory_bound = seen.arithmetic_over_memory && *seen.arithmetic_over_memory <= 1;
  if (!memory_bound || !seen.fraction() || *seen.fraction() >= k_small_share) return std::nullopt;
  return fmt::format("{:.0f} % of what memory bandwidth allows", 100 * *seen.fraction());
}

Detail bandwidth(const Seen& seen) {
  const bool memory_bound = seen.arithmetic_over_memory && *seen.arithmetic_over_memory <= 1;
  if (!memory_bound || !seen.fraction() || *seen.fraction() < k_small_share || *seen.fraction() > 1)
    return std::nullopt;
  return fmt::format("{:.0f} % of what memory bandwidth allows", 100 * *seen.fraction());
}

Detail inner_loop(const Seen& seen) {
  if (!seen.fraction()) return "no other figure stands out";
  if (*seen.fraction() > 1) return "it is faster than the bound that was computed from the peaks";
  return fmt::format("{:.0f} % of the roofline bound, and no other figure stands out", 100 * *seen.fraction());
}

struct StepRule {
  const char* key;
  Detail (*applies)(const Seen& seen);
};

/// What costs most is asked for first: a kernel that spills or writes intermediates to memory gains nothing from the
/// rest.
constexpr StepRule k_step_rules[] = {
    {"spills", spills},
    {"materialised", materialised},
    {"few_groups", few_groups},
    {"few_items", few_items},
    {"tensor_cores", tensor_cores},
    {"scattered", scattered},
    {"banks", banks},
    {"lanes", lanes},
    {"occupancy", occupancy},
    {"calls", calls},
    {"vectors", vectors},
    {"memory_wait", waits<Wait::global_memory>},
    {"shared_wait", waits<Wait::shared_memory>},
    {"barrier_wait", waits<Wait::barriers>},
    {"overhead", overhead},
    {"tunables", tunables},
    {"near_bound", near_bound},
    {"register_blocking", register_blocking},
    {"layout", layout},
    {"bandwidth", bandwidth},
    {"inner_loop", inner_loop},
};

Seen look_at(const PromptContext& context, const Attempt& kernel) {
  Seen seen{context, kernel, std::nullopt, context.device.kind != DeviceKind::cpu, std::nullopt};
  const auto& device = context.device;
  if (auto plan = plan_launches(kernel.candidate, *context.problem, context.problem->primary().axes, device)) {
    seen.plan = *std::move(plan);
  }
  if (const auto times = peak_times(context)) seen.arithmetic_over_memory = times->arithmetic_ns / times->memory_ns;
  return seen;
}

/// Some steps mean something else for every operator, and nothing for one that keeps silent about them.
bool has_advice(const PromptContext& context, const std::string& key) {
  const auto& advised = advised_steps();
  if (std::find(advised.begin(), advised.end(), key) == advised.end()) return true;
  return !step_advice(context, key).empty();
}

bool was_tried(const PromptContext& context, const std::string& key) {
  return std::any_of(context.tried.begin(), context.tried.end(),
                     [&](const TriedStep& tried) { return tried.step == key; });
}

}  // namespace

std::vector<NextStep> applicable_steps(const PromptContext& context, const Attempt& kernel) {
  const Seen seen = look_at(context, kernel);
  std::vector<NextStep> steps;
  for (const auto& rule : k_step_rules) {
    auto detail = rule.applies(seen);
    if (detail && has_advice(context, rule.key)) steps.push_back({rule.key, *std::move(detail)});
  }
  return steps;
}

NextStep next_step(const PromptContext& context, const Attempt& best) {
  const auto steps = applicable_steps(context, best);
  const auto is_new = [&](const NextStep& step) { return !was_tried(context, step.key); };
  const auto fresh = std::find_if(steps.begin(), steps.end(), is_new);
  return fresh == steps.end() ? steps.back() : *fresh;
}

}  // namespace kw
