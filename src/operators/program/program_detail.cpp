#include "operators/program/program_detail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "program/errors.hpp"
#include "program/reader/program_reader.hpp"
#include "program/stages/same_program.hpp"

namespace kw {
namespace {

Result<Program> read_with(const ModuleSource& module, const std::vector<std::string>& own_axes, const Axes& axes) {
  ProgramOptions options{module.class_name, module.settings, module.mode, own_axes};
  for (const auto& name : own_axes) options.set[name] = axes.at(name);
  return read_program(module.text, module.file, options);
}

Result<DType> storage_type(ElementType type, const std::string& tensor) {
  switch (type) {
    case ElementType::float32:
      return DType::f32;
    case ElementType::float16:
      return DType::f16;
    case ElementType::bfloat16:
      return DType::bf16;
    case ElementType::int8:
    case ElementType::uint8:
    case ElementType::int16:
    case ElementType::int32:
    case ElementType::int64:
      return DType::i32;
    case ElementType::boolean:
      return DType::boolean;
    case ElementType::float64:
      break;
  }
  return fail(Error{errc::program_unsupported, fmt::format("{} is a tensor of {}", tensor, to_string(type)),
                    "kernels store float32, float16, bfloat16, integers and booleans: leave dtype= out"});
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Gives the tensors of a problem their names, and their extents the names of axes.
class TensorNames {
 public:
  explicit TensorNames(Problem& problem, const Axes& axes) : problem_(problem) {
    for (const auto& [name, extent] : axes) taken_.insert(name);
  }

  Result<TensorSpec> spec(const std::string& wanted, const TensorType& type) {
    TensorSpec tensor;
    tensor.name = free_name(wanted);
    KW_TRY(tensor.dtype, storage_type(type.dtype, wanted));
    for (std::size_t i = 0; i < type.shape.size(); ++i) {
      tensor.axes.push_back(axis_of(type.shape[i], fmt::format("{}_{}", tensor.name, i)));
    }
    return tensor;
  }

 private:
  /// "layers.0.weight" as layers_0_weight.
  std::string free_name(const std::string& wanted) {
    std::string name;
    for (const char c : wanted) name += is_name_character(c) ? c : '_';
    while (!taken_.insert(name).second) name += "_";
    return name;
  }
  /// An axis of the file, or a derived one: "n64" for a number, and for an expression the name of where it stands
  /// first.
  std::string axis_of(const Extent& extent, const std::string& place) {
    std::string text = extent.text();
    const auto& own = problem_.own_axes;
    if (std::find(own.begin(), own.end(), text) != own.end()) return text;
    const auto [known, is_new] = derived_.try_emplace(text);
    if (is_new) {
      known->second = free_name(extent.is_constant() ? "n" + text : place);
      problem_.derived_axes.push_back({known->second, text});
    }
    return known->second;
  }

  Problem& problem_;
  std::set<std::string> taken_;
  std::map<std::string, std::string> derived_;  ///< by the text of the extent
};

bool is_true(const Node& node, std::string_view name) {
  const Argument* const argument = node.find(name);
  const bool* const truth = argument == nullptr ? nullptr : std::get_if<bool>(&argument->value);
  return truth != nullptr && *truth;
}

/// Whether the call's result follows from this argument: a normalisation that takes the statistics of the batch is
/// given the running ones, and does not read them.
bool counts(const Node& node, const Argument& argument) {
  const bool running = argument.name == "running_mean" || argument.name == "running_var";
  return !running || !(is_true(node, "training") || is_true(node, "use_input_stats"));
}

bool names_value(const Argument& argument, std::size_t value) {
  if (const auto* one = std::get_if<ValueRef>(&argument.value)) return one->value == value;
  const auto* many = std::get_if<std::vector<ValueRef>>(&argument.value);
  return many != nullptr &&
         std::any_of(many->begin(), many->end(), [value](const ValueRef& ref) { return ref.value == value; });
}

bool is_read(const Program& program, std::size_t value) {
  const auto reads = [value](const Node& node) {
    return std::any_of(node.arguments.begin(), node.arguments.end(), [&](const Argument& argument) {
      return names_value(argument, value) && counts(node, argument);
    });
  };
  return std::any_of(program.graph.nodes.begin(), program.graph.nodes.end(), reads) ||
         std::find(program.outputs.begin(), program.outputs.end(), value) != program.outputs.end();
}

/// Forward's inputs, then what it reads of the module.
Result<void> add_inputs(TensorNames& names, Problem& problem, ProgramDetail& detail) {
  const Program& program = detail.program;
  const auto add = [&](const std::string& name, std::size_t value) -> Result<void> {
    if (!is_read(program, value)) return {};
    KW_TRY(auto tensor, names.spec(name, program.graph.values[value].type));
    problem.inputs.push_back(std::move(tensor));
    detail.inputs.push_back(value);
    return {};
  };
  for (const auto& input : program.inputs) {
    if (input.type) KW_TRY_VOID(add(input.name, input.value));
  }
  for (const auto& parameter : program.parameters) {
    if (parameter.value) KW_TRY_VOID(add(parameter.name, *parameter.value));
  }
  return {};
}

Result<void> add_outputs(TensorNames& names, Problem& problem, ProgramDetail& detail) {
  const Program& program = detail.program;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const std::string name = program.outputs.size() == 1 ? "out" : fmt::format("out{}", i);
    KW_TRY(auto tensor, names.spec(name, program.graph.values[program.outputs[i]].type));
    problem.outputs.push_back(std::move(tensor));
    detail.outputs.push_back(program.outputs[i]);
  }
  return {};
}

Result<void> check_not_random(const Program& program) {
  for (const auto& node : program.graph.nodes) {
    if (!node.random) continue;
    return fail_at(errc::program_unsupported, node.where,
                   fmt::format("{} gives another result each time, and no kernel can be checked against that", node.op),
                   node.op.find("dropout") != std::string::npos ? "read the module with --mode eval"
                                                                : "make the random numbers an input of forward()");
  }
  return {};
}

}  // namespace

std::string_view to_string(InputDomain domain) {
  return domain == InputDomain::real ? "real" : "given";
}

bool is_forward_input(const Program& program, std::size_t value) {
  return std::any_of(program.inputs.begin(), program.inputs.end(),
                     [value](const ProgramInput& input) { return input.type && input.value == value; });
}

const ProgramDetail& program_detail(const Problem& problem) {
  const auto* detail = dynamic_cast<const ProgramDetail*>(problem.detail.get());
  KW_CHECK(detail != nullptr, "operator {}", problem.op);
  return *detail;
}

bool rounds_factors(const Problem& problem) {
  const ProgramDetail& detail = program_detail(problem);
  return rounds_factors(detail.module.precision, detail.program.graph);
}

std::shared_ptr<const Program> ProgramReadings::find(const Axes& axes) const {
  const std::lock_guard lock(mutex_);
  const auto found = programs_.find(axes);
  return found == programs_.end() ? nullptr : found->second;
}

void ProgramReadings::keep(const Axes& axes, std::shared_ptr<const Program> program) {
  const std::lock_guard lock(mutex_);
  programs_[axes] = std::move(program);
}

std::optional<bool> ProgramReadings::takes_tensors(const Axes& axes) const {
  const std::lock_guard lock(mutex_);
  const auto found = takes_tensors_.find(axes);
  return found == takes_tensors_.end() ? std::nullopt : std::optional(found->second);
}

void ProgramReadings::keep_takes_tensors(const Axes& axes, bool takes) {
  const std::lock_guard lock(mutex_);
  takes_tensors_[axes] = takes;
}

std::optional<RowCost> ProgramReadings::row_cost(const Axes& axes) const {
  const std::lock_guard lock(mutex_);
  const auto found = row_costs_.find(axes);
  return found == row_costs_.end() ? std::nullopt : std::optional(found->second);
}

void ProgramReadings::keep_row_cost(const Axes& axes, RowCost cost) {
  const std::lock_guard lock(mutex_);
  row_costs_[axes] = std::move(cost);
}

Result<std::shared_ptr<const Program>> program_at(const Problem& problem, const Axes& axes) {
  const ProgramDetail& detail = program_detail(problem);
  Axes own;
  for (const auto& name : problem.own_axes) own[name] = axes.at(name);
  if (auto known = detail.readings->find(own)) return known;
  KW_TRY(auto program, read_with(detail.module, problem.own_axes, axes));
  Axes named;
  for (const auto& axis : program.axes) named[axis.name] = axis.extent;
  KW_TRY_VOID(check_same_program(detail.program, program, named));
  auto kept = std::make_shared<const Program>(std::move(program));
  detail.readings->keep(own, kept);
  return kept;
}

std::shared_ptr<const Program> checked_program(const Problem& problem, const Axes& axes) {
  auto program = program_at(problem, axes);
  KW_CHECK(program.has_value(), "axes were never checked: {}", program.error().to_string());
  return *std::move(program);
}

Result<void> set_program(Problem& problem, ModuleSource module, InputDomain domain, const Axes& axes) {
  auto detail = std::make_shared<ProgramDetail>();
  detail->module = std::move(module);
  detail->domain = domain;
  KW_TRY(detail->program, read_with(detail->module, problem.own_axes, axes));
  KW_TRY_VOID(check_not_random(detail->program));
  TensorNames names(problem, axes);
  KW_TRY_VOID(add_inputs(names, problem, *detail));
  KW_TRY_VOID(add_outputs(names, problem, *detail));
  problem.detail = std::move(detail);
  return {};
}

}  // namespace kw
