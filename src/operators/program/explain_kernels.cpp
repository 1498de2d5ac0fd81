#include "operators/program/explain_kernels.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "hardware/device_file.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"
#include "program/explain/cost.hpp"
#include "program/stages/lower.hpp"
#include "record/peak_times.hpp"

namespace kw {
namespace {

/// Facts of the device that a dialect is usually written for; of this machine's CPU where its language names none.
Result<DeviceFacts> usual_device(Dialect dialect) {
  if (!dialect->language.default_device.empty()) return find_device_facts(dialect->language.default_device);
  auto host = host_cpu_facts();
  host.id = "this machine's CPU";
  return host;
}

std::vector<ExplainedBound> bounds_of(const Problem& problem, const WorkloadCost& work) {
  std::vector<ExplainedBound> bounds;
  for (const auto& name : shipped_devices()) {
    const auto device = find_device_facts(name);
    const auto times = device ? peak_times(*device, problem, work) : std::nullopt;
    if (times) bounds.push_back({name, times->arithmetic_ns / 1e9, times->memory_ns / 1e9});
  }
  return bounds;
}

std::string_view limit_of(const ExplainedBound& bound) {
  return bound.arithmetic_seconds > bound.memory_seconds ? "arithmetic" : "memory";
}

double seconds_of(const ExplainedBound& bound) {
  return std::max(bound.arithmetic_seconds, bound.memory_seconds);
}

std::size_t launches_in(const LaunchList& list) {
  std::size_t launches = 0;
  for (const auto& group : list.groups) launches += group.launches;
  return launches;
}

std::string lines_text(std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return fmt::format("{:<10} nothing\n", title);
  return fmt::format("{}\n  {}\n", title, fmt::join(lines, "\n  "));
}

std::string launches_text(const ExplainedLaunches& explained) {
  const auto& list = explained.list;
  std::string text = fmt::format("launches   {} on {}: {} in {} groups\n", explained.target, explained.device,
                                 launches_in(list), list.groups.size());
  for (const auto& group : list.groups) {
    text += fmt::format("  {:<8} {}  {}\n", group.family, group.launches, group.stages.front());
    for (std::size_t i = 1; i < group.stages.size(); ++i) text += fmt::format("{:14}{}\n", "", group.stages[i]);
  }
  return text;
}

ExplainedValue texts(const std::vector<std::string>& lines) {
  ExplainedValue::List list;
  for (const auto& line : lines) list.push_back({line});
  return {std::move(list)};
}

ExplainedValue launches_value(const ExplainedLaunches& explained) {
  ExplainedValue::List groups;
  for (const auto& group : explained.list.groups) {
    groups.push_back({ExplainedValue::Table{{"family", {std::string(group.family)}},
                                            {"launches", {static_cast<std::int64_t>(group.launches)}},
                                            {"stages", texts(group.stages)}}});
  }
  return {ExplainedValue::Table{{"target", {explained.target}},
                                {"device", {explained.device}},
                                {"simplifications", texts(explained.list.simplifications)},
                                {"fusions", texts(explained.list.fusions)},
                                {"groups", {std::move(groups)}}}};
}

}  // namespace

Result<ExplainedKernels> explain_kernels(const Problem& problem) {
  const auto& detail = program_detail(problem);
  KW_TRY(const auto lowered, lower(detail.program.graph, detail.outputs));
  ExplainedKernels kernels;
  kernels.stages = stages_text(lowered, detail.program.graph);
  for (const Dialect dialect : {opencl_dialect(), cuda_dialect()}) {
    KW_TRY(const auto device, usual_device(dialect));
    KW_TRY(auto list, launch_list(dialect, problem, device));
    kernels.launches.push_back({target_of(dialect), device.id, std::move(list)});
  }
  kernels.product_flops = cost_of(detail.program).product_flops;
  kernels.bytes = program_cost(problem, problem.primary()).bytes;
  kernels.bounds = bounds_of(problem, {kernels.product_flops, kernels.bytes, 0});
  return kernels;
}

std::string kernels_text(const ExplainedKernels& kernels) {
  std::string text = "stages\n";
  for (const char c : kernels.stages) {
    if (text.back() == '\n') text += "  ";
    text += c;
  }
  // The graph is simplified and stages are fused before anything is asked about the device.
  const auto& list = kernels.launches.front().list;
  text += lines_text("simplified", list.simplifications) + lines_text("fused", list.fusions);
  for (const auto& explained : kernels.launches) text += launches_text(explained);
  text += fmt::format("bound      {:.4g} GFLOP of products as written, {:.4g} MB once in and out\n",
                      kernels.product_flops / 1e9, kernels.bytes / 1e6);
  for (const auto& bound : kernels.bounds) {
    text += fmt::format("  {:<10} {:.4g} us by {} (arithmetic {:.4g} us, memory {:.4g} us)\n", bound.device,
                        seconds_of(bound) * 1e6, limit_of(bound), bound.arithmetic_seconds * 1e6,
                        bound.memory_seconds * 1e6);
  }
  return text;
}

ExplainedValue::Table kernels_table(const ExplainedKernels& kernels) {
  ExplainedValue::List launches;
  for (const auto& explained : kernels.launches) launches.push_back(launches_value(explained));
  ExplainedValue::List bounds;
  for (const auto& bound : kernels.bounds) {
    bounds.push_back({ExplainedValue::Table{{"device", {bound.device}},
                                            {"seconds", {seconds_of(bound)}},
                                            {"limit", {std::string(limit_of(bound))}},
                                            {"arithmetic_seconds", {bound.arithmetic_seconds}},
                                            {"memory_seconds", {bound.memory_seconds}}}});
  }
  return {{"stages", {kernels.stages}},
          {"launches", {std::move(launches)}},
          {"product_flops", {kernels.product_flops}},
          {"bytes", {kernels.bytes}},
          {"bounds", {std::move(bounds)}}};
}

}  // namespace kw
