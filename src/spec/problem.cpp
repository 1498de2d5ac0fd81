#include "spec/problem.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

#include "spec/closest_name.hpp"
#include "spec/problem_reader.hpp"

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

std::string canonical_node(const ModExpr& node) {
  auto text = fmt::format("{}:{}", static_cast<int>(node.op), static_cast<int>(node.type));
  if (node.op == ExprOp::constant) {
    text += node.type == ScalarType::real ? fmt::format(" {:#x}", std::bit_cast<std::uint64_t>(node.real))
                                          : fmt::format(" {}", node.integer);
  }
  if (!node.name.empty()) text += " " + node.name;
  for (const auto arg : node.args) text += fmt::format(" %{}", arg);
  return text;
}

std::string canonical_tensors(const char* label, const std::vector<TensorSpec>& tensors) {
  std::string text;
  for (const auto& tensor : tensors) {
    text += fmt::format("{} {} {} [{}]\n", label, tensor.name, to_string(tensor.dtype), comma_list(tensor.axes));
  }
  return text;
}

}  // namespace

std::string canonical_mod(const ModFunction& mod) {
  std::string text;
  for (std::size_t i = 0; i < mod.nodes.size(); ++i)
    text += fmt::format("  %{} = {}\n", i, canonical_node(mod.nodes[i]));
  return text + fmt::format("  return %{}\n", mod.root);
}

std::string Problem::mod_text() const {
  std::string text;
  const auto add = [&text](std::string_view role, const std::optional<ModFunction>& mod) {
    if (mod) text += fmt::format("{}# {}\n{}\n", text.empty() ? "" : "\n", role, mod->source);
  };
  if (const auto* spec = attention()) {
    add("score_mod", spec->score_mod);
    add("mask_mod", spec->mask_mod);
  }
  return text;
}

// Names, descriptions and constants say nothing that the rest does not: constants are folded into the mods.
std::string Problem::canonical_text() const {
  const auto* format = find_operator(op);
  KW_CHECK(format != nullptr, "operator {}", op);
  auto text = fmt::format("kernelwright problem 1\nop {}\n", op);
  text += canonical_tensors("input", inputs) + canonical_tensors("output", outputs);
  for (const auto& capture : captures) {
    const auto& declared = capture.declared;
    text += fmt::format("capture {}{} {} {}\n{}", declared.name, declared.sorted ? " sorted" : "", declared.low,
                        declared.high, capture.source_text);
  }
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
    const auto known = all_axes(*find_operator(problem.op), problem);
    const auto near = closest_name(name, known);
    return fail(Error{errc::problem_set, fmt::format("the problem has no axis '{}'", name),
                      near ? fmt::format("'{}'?", *near) : fmt::format("its axes are {}", comma_list(known))});
  }
  axis->second = extent;
  return {};
}

}  // namespace

Result<Problem> with_axes(Problem problem, const std::vector<std::string>& assignments) {
  const auto* format = find_operator(problem.op);
  KW_CHECK(format != nullptr, "operator {}", problem.op);
  if (assignments.empty()) return problem;
  auto& axes = problem.workloads.front().axes;
  for (const std::string& assignment : assignments) KW_TRY_VOID(assign_axis(problem, assignment, axes));
  auto checked = check_axes(*format, problem, axes);
  if (checked && draw_work(problem, axes) <= k_quick_draws) {
    if (auto drawn = draw_captures(problem, axes, k_nominal_seed); !drawn) {
      checked = tl::unexpected(std::move(drawn).error());
    }
  }
  if (!checked) {
    auto error = std::move(checked).error();
    error.code = errc::problem_set;
    return with_context(std::move(error), fmt::format("setting {}", fmt::join(assignments, " ")));
  }
  return problem;
}

WorkloadCost cost(const Problem& problem, const Workload& workload) {
  const auto* format = find_operator(problem.op);
  KW_CHECK(format != nullptr, "operator {}", problem.op);
  return format->cost(problem, workload);
}

}  // namespace kw
