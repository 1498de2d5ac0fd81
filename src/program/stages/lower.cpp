#include "program/stages/lower.hpp"

#include "program/errors.hpp"
#include "program/stages/decomposition_table.hpp"

namespace kw {
namespace {

void want_operands(const ArgumentValue& value, std::vector<bool>& wanted) {
  if (const auto* one = std::get_if<ValueRef>(&value)) wanted[one->value] = true;
  if (const auto* many = std::get_if<std::vector<ValueRef>>(&value)) {
    for (const auto& one : *many) wanted[one.value] = true;
  }
}

bool any_wanted(const Node& node, const std::vector<bool>& wanted) {
  for (const auto output : node.outputs) {
    if (wanted[output]) return true;
  }
  return false;
}

/// Of every value, whether the outputs need it. A node's operands come before it.
std::vector<bool> wanted_values(const Graph& graph, const std::vector<std::size_t>& outputs) {
  std::vector<bool> wanted(graph.values.size(), false);
  for (const auto output : outputs) wanted[output] = true;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (!any_wanted(*node, wanted)) continue;
    for (const auto& argument : node->arguments) want_operands(argument.value, wanted);
  }
  return wanted;
}

/// The buffer that holds output `value`: its own where it has one, else a copy of what it is another view of.
std::size_t output_buffer(StageProgram& program, const Graph& graph, std::size_t value, const TensorView& view) {
  auto& own = program.buffers[view.buffer];
  const bool free = own.use == BufferUse::scratch && own.type.dtype == graph.values[value].type.dtype;
  if (free) {
    own.use = BufferUse::output;
    own.value = value;
    return view.buffer;
  }
  StageBuffer copy;
  copy.name = own.name + fmt::format("_copy_{}", program.buffers.size());
  copy.use = BufferUse::output;
  copy.type = graph.values[value].type;
  copy.value = value;
  Stage stage;
  stage.node = graph.values[value].node;
  stage.buffer = program.buffers.size();
  stage.axes = named_axes(copy.type.shape);
  stage.body = as_type(read(view, stage.axes), copy.type.dtype);
  program.buffers.push_back(std::move(copy));
  program.stages.push_back(std::move(stage));
  return program.stages.back().buffer;
}

}  // namespace

Result<StageProgram> lower(const Graph& graph, const std::vector<std::size_t>& outputs) {
  const auto wanted = wanted_values(graph, outputs);
  StageProgram program;
  std::vector<std::optional<TensorView>> views(graph.values.size());
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const auto& value = graph.values[i];
    if (value.node || !wanted[i]) continue;
    views[i] = TensorView{program.buffers.size(), value.type};
    program.buffers.push_back({value.name, BufferUse::input, value.type, i});
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& node = graph.nodes[i];
    if (!any_wanted(node, wanted)) continue;
    const auto* row = find_decomposition(node.op);
    if (row == nullptr) {
      return fail_at(errc::program_unsupported, node.where, fmt::format("{} has no kernels", node.op),
                     "write it out with other operators");
    }
    Decomposition decomposition(graph, i, wanted, program, views);
    KW_TRY_VOID(row->decompose(decomposition));
  }
  for (const auto output : outputs) {
    program.outputs.push_back(output_buffer(program, graph, output, *views[output]));
  }
  return program;
}

}  // namespace kw
