#include "operators/program/kernels/program_bundle.hpp"

#include <algorithm>

#include "codegen/codegen.hpp"
#include "codegen/group_functions.hpp"
#include "codegen/tensor_products.hpp"
#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/buffer_names.hpp"
#include "operators/program/kernels/scratch_memory.hpp"
#include "operators/program/kernels/shared_kernels.hpp"
#include "operators/program/program_detail.hpp"
#include "program/explain/text.hpp"

namespace kw {
namespace {

/// The operator as it was written, before the first of its kernels.
std::string node_comment(const Graph& graph, const Stage& stage) {
  if (!stage.node) return as_comment("A copy, because the module gives back what it was given.");
  const auto& node = graph.nodes[*stage.node];
  const auto place = node.module.empty() ? "" : fmt::format(" of module {}", node.module);
  return as_comment(fmt::format("{}\n{}line {}{}", broken_statement(node_text(graph, node)),
                                node.where.file.empty() ? "" : node.where.file + ", ", node.where.line, place));
}

std::string preamble(const Problem& problem, Dialect dialect, const ProgramWriting& writing,
                     const std::vector<ScratchBuffer>& scratch) {
  auto text = as_comment(fmt::format("{}: {}\nWritten by kernelwright, generator \"{}\": {}.", problem.name,
                                     problem.description, writing.generator, writing.summary)) +
              "\n";
  if (dialect->f16_functions == nullptr) return text;
  text += dialect->includes;
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const auto has_type = [&](const TensorSpec& tensor) { return tensor.dtype == dtype; };
    const bool used = std::any_of(problem.inputs.begin(), problem.inputs.end(), has_type) ||
                      std::any_of(problem.outputs.begin(), problem.outputs.end(), has_type) ||
                      std::ranges::count(scratch, dtype, &ScratchBuffer::dtype) > 0;
    if (used) text += fmt::format("#include <{}>\n", cuda_16_bit_float(dtype, dialect).header);
  }
  return text +
         "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n#ifndef NAN\n"
         "#define NAN __int_as_float(0x7fffffff)\n#endif\n";
}

/// For each width of tiles that a warpgroup multiplies.
std::string of_widths(std::string (*multiply)(int columns, DType dtype), DType dtype,
                      std::initializer_list<int> widths) {
  std::string text;
  for (const int columns : widths) text += (text.empty() ? "" : "\n") + multiply(columns, dtype);
  return text;
}

Fillings tensor_core_texts() {
  const auto of_halves = [](auto multiply, DType dtype) { return of_widths(multiply, dtype, {64, 128, 256}); };
  return {{"split", tf32_split()},
          {"rounded", tf32_rounded()},
          {"multiply_add", tf32_multiply_add()},
          {"wgmma_groups", wgmma_groups()},
          {"wgmma_multiplies", of_widths(wgmma_multiply, DType::f32, {64, 128})},
          {"f16_by_rows", of_halves(wgmma_multiply, DType::f16)},
          {"f16_by_columns", of_halves(wgmma_multiply_by_columns, DType::f16)},
          {"bf16_by_rows", of_halves(wgmma_multiply, DType::bf16)},
          {"bf16_by_columns", of_halves(wgmma_multiply_by_columns, DType::bf16)},
          {"places", wgmma_places()},
          {"multiplies_of_places", of_widths(wgmma_multiply_places, DType::f32, {64, 128})},
          {"multiplies_of_half_places", of_widths(wgmma_multiply_places, DType::f16, {64, 128})},
          {"copies", asynchronous_copies()},
          {"boxes", tensor_copies()}};
}

/// Of program/vector.cl, in the order of their definitions: a helper may call those before it.
std::string vector_helper_source(const std::set<std::string>& names, Dialect dialect) {
  std::string text;
  for (const auto& section : kernel_sections()) {
    const bool used = section.file == "program/vector.cl" && names.count(std::string(section.name)) > 0;
    if (used) text += in_dialect(std::string(section.text), dialect);
  }
  return text;
}

std::string own_helper_source(const std::set<std::string>& names, Dialect dialect) {
  std::string text;
  for (const auto& name : names) {
    const bool extremum = name == "larger" || name == "smaller";
    if (extremum && !dialect->warp.empty()) {
      text += kernel_text("program/helpers.cu", name);
    } else if (extremum || name == "rounded_to_tf32") {
      text += in_dialect(std::string(kernel_text("program/plain.cl", name)), dialect);
    } else if (const auto slash = name.find('/'); slash != std::string::npos) {
      const auto section = kernel_text("program/" + name.substr(0, slash), name.substr(slash + 1));
      text += fill(section, tensor_core_texts());
    }
  }
  return text + vector_helper_source(names, dialect);
}

/// What a group computes: each operator as it was written, and its elements in index notation.
std::string group_comment(const Graph& graph, const StageProgram& program, const StageGroup& group,
                          std::optional<std::size_t>& described) {
  std::string text;
  for (const auto index : group.stages) {
    const auto& stage = program.stages[index];
    if (!text.empty()) text += "//\n";
    if (!stage.node || stage.node != described) text += node_comment(graph, stage) + "\n//\n";
    described = stage.node;
    text += as_comment(broken_statement(stage_text(program, stage))) + "\n";
  }
  return text;
}

/// Tunables of the same name are one.
void add_tunables(Bundle& bundle, const std::vector<Tunable>& tunables) {
  for (const auto& tunable : tunables) {
    const auto same = [&](const Tunable& known) { return known.name == tunable.name; };
    if (std::none_of(bundle.tunables.begin(), bundle.tunables.end(), same)) bundle.tunables.push_back(tunable);
  }
}

template <typename Item>
void add_new(std::vector<Item>& all, const std::vector<Item>& some) {
  for (const auto& one : some) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  }
}

/// A bundle that nobody could read is none: too many launches, or sizes whose expressions are too long, as those of a
/// module whose every number is an axis may be.
Result<void> readable(const Bundle& bundle, const Problem& problem, const std::string& style) {
  const auto again = parse_bundle(bundle.to_text(), "the bundle");
  if (again) return {};
  return fail(Error{errc::codegen_unsupported,
                    fmt::format("style \"{}\" cannot write \"{}\": {}", style, problem.name, again.error().message),
                    "the style plain keeps every step apart"});
}

}  // namespace

std::vector<const Stage*> stages_of(const GroupContext& context, const StageGroup& group) {
  std::vector<const Stage*> stages;
  for (const auto index : group.stages) stages.push_back(&context.program.stages[index]);
  return stages;
}

std::string kernel_of_buffer(const GroupContext& context, std::size_t buffer) {
  return "compute_" + context.program.buffers[buffer].name;
}

Result<Bundle> program_bundle(Dialect dialect, const Problem& problem, GroupedProgram grouped,
                              const ProgramWriting& writing) {
  auto& program = grouped.program;
  const auto scratch = scratch_memory(grouped, taken_names(problem));
  const auto buffers = named_buffers(problem, program, scratch);
  const GroupContext context{program, buffers, dialect, writing.device, writing.ways};
  Bundle bundle;
  bundle.target = target_of(dialect);
  bundle.problem = problem.name;
  bundle.generator = writing.generator;
  bundle.scratch = scratch.buffers;
  std::set<KernelHelper> helpers;
  std::set<std::string> own_helpers;
  std::string kernels;
  std::optional<std::size_t> described;
  SharedKernels shared;
  for (const auto& group : grouped.groups) {
    const auto written = shared.shared(writing.write(context, group), buffers);
    kernels += "\n" + group_comment(grouped.graph, program, group, described) + written.source;
    for (const auto& launch : written.launches) {
      KW_CHECK(std::ranges::count(launch.args, "") == 0, "{} reads what is no input of {}", launch.kernel,
               problem.name);
      bundle.launches.push_back(launch);
    }
    bundle.scratch.insert(bundle.scratch.end(), written.scratch.begin(), written.scratch.end());
    add_tunables(bundle, written.tunables);
    add_new(bundle.constraints, written.constraints);
    add_new(bundle.defines, written.defines);
    helpers.insert(written.helpers.begin(), written.helpers.end());
    own_helpers.insert(written.own_helpers.begin(), written.own_helpers.end());
  }
  bundle.source = preamble(problem, dialect, writing, bundle.scratch) + helper_source(helpers, dialect) +
                  own_helper_source(own_helpers, dialect) +
                  (dialect->has_vectors ? with_group_functions(kernels) : kernels);
  KW_TRY_VOID(readable(bundle, problem, writing.style));
  return bundle;
}

}  // namespace kw
