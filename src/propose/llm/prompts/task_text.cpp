#include "propose/llm/prompts/task_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/byte_text.hpp"
#include "base/fenced_text.hpp"
#include "base/text.hpp"
#include "language/language.hpp"
#include "problem/operator.hpp"
#include "propose/llm/replies/code_blocks.hpp"
#include "record/dispatch.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_fact_bytes = 400;
constexpr std::size_t k_max_tried = 12;
constexpr std::size_t k_max_lesson_bytes = 800;

std::string sizes_text(const Axes& axes) {
  std::string text;
  for (const auto& [name, extent] : axes) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, extent);
  return text;
}

/// "* `Q` (input): f32, [B, Hq, Sq, D] = [1, 8, 1024, 64]".
std::string tensor_line(const TensorSpec& tensor, std::string_view role, const Axes& axes) {
  std::vector<std::int64_t> extents;
  for (const auto& axis : tensor.axes) {
    const auto found = axes.find(axis);
    extents.push_back(found == axes.end() ? 0 : found->second);
  }
  return fmt::format("* `{}` ({}): {}, [{}] = [{}]\n", tensor.name, role, to_string(tensor.dtype),
                     fmt::join(tensor.axes, ", "), fmt::join(extents, ", "));
}

std::string tensors_text(const Problem& problem) {
  const Axes& axes = problem.primary().axes;
  std::string text;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const bool captured = i >= problem.operand_count();
    text += tensor_line(problem.inputs[i], captured ? "input that the functions read" : "input", axes);
  }
  for (const auto& output : problem.outputs) text += tensor_line(output, "output", axes);
  text.pop_back();
  return text;
}

std::string constants_text(const Problem& problem) {
  std::string text;
  for (const auto& [name, value] : problem.constants) {
    text += (text.empty() ? "" : ", ") + name + " = ";
    std::visit([&](auto number) { text += fmt::format("{}", number); }, value);
  }
  return text;
}

/// Workloads that may be named, with the axes in which they differ from the primary one.
std::string edge_sizes_text(const Problem& problem) {
  std::string text;
  for (const auto& workload : problem.workloads) {
    if (workload.role != WorkloadRole::edge) continue;
    Axes changed;
    for (const auto& [axis, extent] : workload.axes) {
      const auto primary = problem.primary().axes.find(axis);
      if (primary == problem.primary().axes.end() || primary->second != extent) changed.emplace(axis, extent);
    }
    text += fmt::format("{}*{}* ({})", text.empty() ? "" : "; ", workload.name,
                        changed.empty() ? "the same sizes" : sizes_text(changed));
  }
  return text;
}

/// What the operator's own distributions are: findings name them.
std::string own_distributions_text(const PromptContext& context) {
  return join(operator_of(*context.problem).checks.distributions(), ";\n", [&](const OwnDistribution& one) {
    return operator_text(context, "distributions", {{std::string(one.name), "yes"}});
  });
}

/// What the operator computes.
std::string operation_text(const PromptContext& context) {
  return operator_text(context, "operation", operator_of(*context.problem).prompts.values(*context.problem));
}

/// The least the work can take at the device's peaks; empty where they are not known.
std::string work_text(const PromptContext& context) {
  const auto bound = peak_times(context);
  if (!bound) return "";
  const WorkloadCost work = timed_work(context);
  const auto [arithmetic_ns, memory_ns] = *bound;
  const std::string least = time_text(bound->bound_ns());
  std::string text = fmt::format(
      "The timed workload needs at least {:.3g} GFLOP and {:.3g} MB of traffic: at the device's peaks no kernel takes "
      "less than {}, and {} is the limit.",
      work.flops / 1e9, work.bytes / 1e6, least, arithmetic_ns > memory_ns ? "arithmetic" : "memory");
  if (context.first_bound_ns && time_text(*context.first_bound_ns) != least) {
    text += fmt::format(
        " Earlier prompts said {}: then a kernel was faster than the peaks of that time allow, and they were measured "
        "again.",
        time_text(*context.first_bound_ns));
  }
  return text;
}

std::string_view kind_text(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu:
      return "CPU";
    case DeviceKind::gpu:
      return "GPU";
    case DeviceKind::simulator:
      return "simulator";
    case DeviceKind::null_device:
      return "null device";
  }
  return "unknown";
}

/// The facts that are known, with units where the name has none. Keys in the order they are written here.
std::string device_json(const DeviceFacts& device) {
  nlohmann::ordered_json json = {{"name", to_displayable_text(device.name)}, {"kind", kind_text(device.kind)}};
  const auto add = [&](const char* key, auto value) {
    if (value > 0) json[key] = value;
  };
  if (device.gpu) json["arch"] = to_displayable_text(device.gpu->arch);
  add("compute_units", device.compute_units);
  add("max_block_items", device.max_block_items);
  add("vector_floats", device.vector_floats);
  add("shared_bytes_per_block", device.shared_bytes_per_block);
  add("l1_cache_bytes", device.l1_cache_bytes);
  add("l2_cache_bytes", device.l2_cache_bytes);
  add("last_level_cache_bytes", device.last_level_cache_bytes);
  add("memory_bytes", device.memory_bytes);
  if (device.gpu) {
    add("warp_size", device.gpu->warp_size);
    add("registers_per_unit", device.gpu->registers_per_unit);
    add("max_registers_per_thread", device.gpu->max_registers_per_thread);
    add("shared_bytes_per_unit", device.gpu->shared_bytes_per_unit);
    add("static_shared_bytes_per_block", device.gpu->static_shared_bytes_per_block);
    add("max_threads_per_unit", device.gpu->max_threads_per_unit);
    add("max_blocks_per_unit", device.gpu->max_blocks_per_unit);
    add("peak_tensor_core_gflops", std::round(device.gpu->peak_f16_flops / 1e9));
  }
  add("peak_f32_gflops", std::round(device.peak_f32_flops / 1e9));
  add("peak_gigabytes_per_second", std::round(device.peak_bytes / 1e8) / 10);
  return json.dump(2);
}

std::string constraints_text(const PromptContext& context) {
  std::string text;
  for (const auto& line : context.constraints) text += "* " + one_line(line, 4 * k_max_fact_bytes) + "\n";
  for (const auto& requirement : context.requirements) {
    text += fmt::format("* {} (`{}`): checked, and a kernel that breaks it is rejected\n", in_words(requirement),
                        to_string(requirement));
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::string mods_text(const Problem& problem) {
  std::string mods = problem.mod_text();
  mods.erase(std::min(mods.find_last_not_of(" \n") + 1, mods.size()));
  if (mods.empty()) return "";
  std::string text = fenced("python", mods);
  text.pop_back();
  return text;
}

}  // namespace

const PromptTemplates& templates_of(const PromptContext& context) {
  return context.templates != nullptr ? *context.templates : shipped_prompt_templates();
}

std::string operator_text(const PromptContext& context, std::string_view name, const PromptValues& values) {
  return templates_of(context).render(operator_template(context.problem->op, name), values);
}

std::string step_advice(const PromptContext& context, const std::string& key) {
  PromptValues values = operator_of(*context.problem).prompts.values(*context.problem);
  values[key] = "yes";
  return operator_text(context, "steps", values);
}

std::string language_text(const PromptContext& context) {
  const Language* language = find_language(context.target);
  return language == nullptr ? context.target : std::string(language->title);
}

ChatMessage system_message(const PromptContext& context) {
  const PromptValues values = {{"language", language_text(context)},
                               {"target", context.target},
                               {"device_name", one_line(context.device.name, k_max_fact_bytes)}};
  return {ChatRole::system, templates_of(context).render("system.md", values)};
}

WorkloadCost timed_work(const PromptContext& context) {
  return context.costs != nullptr ? context.costs->primary() : cost(*context.problem, context.problem->primary());
}

std::optional<PeakTimes> peak_times(const PromptContext& context) {
  const auto& inputs = context.problem->inputs;
  const bool narrow = std::any_of(inputs.begin(), inputs.end(), [](const auto& t) { return is_16_bit_float(t.dtype); });
  DeviceFacts device = context.device;
  if (device.gpu && !narrow) device.gpu->peak_f16_flops = 0;
  return peak_times(device, *context.problem, timed_work(context));
}

std::optional<double> bound_share(const PromptContext& context, const Measurement& measured) {
  if (!measured.roofline_fraction) return std::nullopt;
  const auto granted = peak_times(context.device, *context.problem, timed_work(context));
  const auto said = peak_times(context);
  if (!granted || !said) return measured.roofline_fraction;
  return *measured.roofline_fraction * said->bound_ns() / granted->bound_ns();
}

std::string task_text(const PromptContext& context) {
  const Problem& problem = *context.problem;
  std::string device = fenced("json", device_json(context.device));
  device.pop_back();
  const PromptValues values = {
      {"user_prompt", context.user_prompt.value_or("")},
      {"problem", problem.name},
      {"description", problem.description},
      {"operation", operation_text(context)},
      {"tensors", tensors_text(problem)},
      {"constants", constants_text(problem)},
      {"mods", mods_text(problem)},
      {"primary", problem.primary().name},
      {"primary_sizes", sizes_text(problem.primary().axes)},
      {"edge_sizes", edge_sizes_text(problem)},
      {"distributions", own_distributions_text(context)},
      {"sizes", operator_text(context, "sizes", {})},
      {"precision", operator_text(context, "precision", {})},
      {"device", device},
      {"work", work_text(context)},
      {"untimed", context.device.kind == DeviceKind::simulator ? "yes" : ""},
      {"plain_time", context.plain.median_ns > 0 ? time_text(context.plain.median_ns) : ""},
      {"constraints", constraints_text(context)},
      {"language", language_text(context)},
      {"target", context.target},
  };
  return templates_of(context).render("task.md", values);
}

std::string contract_text(const PromptContext& context) {
  const PromptTemplates& templates = templates_of(context);
  std::vector<std::string> axes;
  for (const auto& [name, extent] : context.problem->primary().axes) axes.push_back("`" + name + "`");
  PromptValues values = {{"language", language_text(context)},
                         {"target", context.target},
                         {"axes", fmt::format("{}", fmt::join(axes, ", "))}};
  if (const Language* language = find_language(context.target)) {
    values["example"] = templates.render(example_template(*language), {});
    values[std::string(language->prompt)] = context.target;
    const bool cpu = context.device.kind == DeviceKind::cpu;
    values["vector_calls"] = cpu && language->has_vector_types ? "yes" : "";
  }
  return templates.render("contract.md", values);
}

std::string answer_text(const PromptContext& context, const AnswerForm& form) {
  const PromptValues values = {{"plan", form.plan ? "yes" : ""},
                               {"contrast", form.contrast ? "yes" : ""},
                               {"reflection", form.reflection ? "yes" : ""},
                               {"language", language_text(context)},
                               {"target", context.target}};
  return templates_of(context).render("answer.md", values);
}

std::string time_text(double ns) {
  struct Unit {
    double ns;
    const char* name;
  };
  constexpr std::array<Unit, 3> k_units = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}};
  for (const auto& unit : k_units) {
    if (ns >= unit.ns) return fmt::format("{:.3g} {}", ns / unit.ns, unit.name);
  }
  return fmt::format("{:.3g} ns", ns);
}

std::string kernel_text(const Candidate& candidate) {
  std::string text = fenced("c", with_defaults(candidate).to_text());
  text.pop_back();
  return text;
}

/// One line for each form of a source, the fastest first; empty where it has no tunables.
std::string forms_table(const std::vector<const Attempt*>& forms) {
  constexpr std::size_t k_most_rows = 6;
  if (forms.empty() || forms.front()->candidate.tunables.empty()) return "";
  std::string head = "|";
  std::string line = "|";
  for (const auto& [name, value] : forms.front()->candidate.tunables) {
    head += fmt::format(" {} |", name);
    line += " --- |";
  }
  std::string rows;
  for (std::size_t i = 0; i < std::min(forms.size(), k_most_rows); ++i) {
    rows += "|";
    for (const auto& [name, value] : forms[i]->candidate.tunables) rows += fmt::format(" {} |", value);
    rows += fmt::format(" {} |\n", time_text(forms[i]->measurement->median_ns));
  }
  return fmt::format("\n{} time |\n{} --- |\n{}", head, line, rows);
}

std::string exemplars_text(const std::vector<Exemplar>& exemplars) {
  std::string text;
  int number = 0;
  for (const auto& one : exemplars) {
    if (one.attempt == nullptr || !one.attempt->measurement) continue;
    text += fmt::format("{}## Kernel {}: {:.3g} times as fast as the plain kernel ({})\n\n{}\n{}",
                        number > 0 ? "\n" : "", number + 1, one.speedup, time_text(one.attempt->measurement->median_ns),
                        kernel_text(one.attempt->candidate), forms_table(one.forms));
    ++number;
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::string tried_text(const PromptContext& context) {
  const std::size_t first = context.tried.size() - std::min(context.tried.size(), k_max_tried);
  std::string text;
  for (std::size_t i = first; i < context.tried.size(); ++i) {
    text += (i > first ? "\n* " : "* ") + one_line(context.tried[i].text, k_max_fact_bytes);
  }
  return text;
}

std::string lessons_text(const PromptContext& context) {
  return join(context.lessons, "\n",
              [](const std::string& lesson) { return "* " + one_line(lesson, k_max_lesson_bytes); });
}

}  // namespace kw
