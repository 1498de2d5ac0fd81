#include "problem/problem.hpp"

#include <charconv>
#include <utility>

#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "problem/axes.hpp"
#include "problem/mod_assertions.hpp"
#include "problem/operator.hpp"

namespace kw {

std::string_view to_string(WorkloadRole role) {
  switch (role) {
    case WorkloadRole::primary:
      return "primary";
    case WorkloadRole::edge:
      return "edge";
    case WorkloadRole::held_out:
      return "held_out";
  }
  return "?";
}

namespace {

const OperatorFormat& format_of(std::string_view op) {
  const Operator* const found = find_operator(op);
  KW_CHECK(found != nullptr, "operator {}", op);
  return found->format;
}

std::string canonical_tensors(const char* label, const std::vector<TensorSpec>& tensors) {
  std::string text;
  for (const auto& tensor : tensors) {
    text += fmt::format("{} {} {} [{}]\n", label, tensor.name, to_string(tensor.dtype), join(tensor.axes));
  }
  return text;
}

}  // namespace

std::string Problem::mod_text() const {
  std::string text;
  for (const auto& [role, function] : format_of(op).functions(*this)) {
    text += fmt::format("{}# {}\n{}\n", text.empty() ? "" : "\n", role, function->source);
  }
  return text;
}

// Names, descriptions and constants say nothing that the rest does not: constants are folded into the mods.
std::string Problem::canonical_text() const {
  const auto* format = &format_of(op);
  auto text = fmt::format("kernelwright problem 1\nop {}\n", op);
  text += canonical_tensors("input", inputs) + canonical_tensors("output", outputs);
  for (const auto& capture : captures) {
    const auto& declared = capture.declared;
    text += fmt::format("capture {}{} {} {}\n{}", declared.name, declared.sorted ? " sorted" : "", declared.low,
                        declared.high, capture.source_text);
  }
  for (const auto& axis : derived_axes) text += fmt::format("derived {} {}\n", axis.name, axis.extent);
  text += format->canonical(*this);
  for (const auto& workload : workloads) {
    text += fmt::format("workload {}", to_string(workload.role));
    for (const auto& axis : all_axes(*format, *this)) text += fmt::format(" {}={}", axis, workload.axes.at(axis));
    text += "\n";
  }
  return text;
}

namespace {

/// Writes one assignment into the primary workload's axes, whose names are all there.
Result<void> assign_axis(const Problem& problem, std::string_view assignment, Axes& axes) {
  const auto equals = assignment.find('=');
  const std::string name(assignment.substr(0, equals));
  const auto value = equals == std::string_view::npos ? "" : assignment.substr(equals + 1);
  std::int64_t extent = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), extent);
  if (value.empty() || status != std::errc() || end != value.data() + value.size()) {
    return fail(Error{errc::problem_set, fmt::format("'{}' does not set an axis", assignment),
                      "write AXIS=NUMBER, as in Sq=4096"});
  }
  const auto axis = axes.find(name);
  if (axis == axes.end()) {
    const auto known = all_axes(format_of(problem.op), problem);
    const auto near = closest_name(name, known);
    return fail(Error{errc::problem_set, fmt::format("the problem has no axis '{}'", name),
                      near ? fmt::format("'{}'?", *near) : fmt::format("its axes are {}", join(known))});
  }
  for (const auto& derived : problem.derived_axes) {
    if (derived.name != name) continue;
    return fail(
        Error{errc::problem_set, fmt::format("{} follows from other axes: {}", name, derived.extent), "set those"});
  }
  axis->second = extent;
  return {};
}

}  // namespace

Result<Problem> with_axes(Problem problem, const std::vector<std::string>& assignments) {
  const auto* format = &format_of(problem.op);
  if (assignments.empty()) return problem;
  auto& axes = problem.workloads.front().axes;
  for (const std::string& assignment : assignments) KW_TRY_VOID(assign_axis(problem, assignment, axes));
  auto checked = derive_axes(problem, axes);
  if (checked) checked = check_axes(*format, problem, axes);
  if (checked && draw_work(problem.captures, axes) <= k_quick_draws) {
    if (auto drawn = draw_captures(problem.captures, axes, k_nominal_seed); !drawn) {
      checked = tl::unexpected(std::move(drawn).error());
    }
  }
  if (!checked) {
    auto error = std::move(checked).error();
    error.code = errc::problem_set;
    return with_context(std::move(error), fmt::format("setting {}", fmt::join(assignments, " ")));
  }
  KW_TRY_VOID(check_assertions(problem));
  if (problem.source) problem.source->changes.push_back({assignments, std::nullopt});
  return problem;
}

WorkloadCost cost(const Problem& problem, const Workload& workload) {
  return operator_of(problem).cost(problem, workload);
}

}  // namespace kw
