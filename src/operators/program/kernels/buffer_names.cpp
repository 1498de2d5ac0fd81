#include "operators/program/kernels/buffer_names.hpp"

#include <algorithm>

#include "codegen/text.hpp"
#include "operators/program/program_detail.hpp"

namespace kw {
namespace {

/// The tensor of the problem that `value` of the graph is.
const TensorSpec* tensor_of(const std::vector<TensorSpec>& tensors, const std::vector<std::size_t>& values,
                            std::size_t value) {
  const auto found = std::find(values.begin(), values.end(), value);
  return found == values.end() ? nullptr : &tensors[static_cast<std::size_t>(found - values.begin())];
}

}  // namespace

std::vector<std::string> taken_names(const Problem& problem) {
  std::vector<std::string> names;
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const auto& tensor : *tensors) names.push_back(tensor.name);
  }
  for (const auto& [axis, extent] : problem.primary().axes) names.push_back(axis);
  return names;
}

std::vector<KernelBuffer> named_buffers(const Problem& problem, StageProgram& program, const ScratchMemory& scratch) {
  const auto& detail = program_detail(problem);
  std::vector<KernelBuffer> buffers;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    auto& buffer = program.buffers[i];
    KernelBuffer held{kernel_name(buffer.name), "", scratch_type(buffer.type.dtype)};
    if (scratch.of_buffer[i]) {
      held.argument = scratch.buffers[*scratch.of_buffer[i]].name;
    } else {
      const TensorSpec* tensor = nullptr;
      if (buffer.use == BufferUse::input) tensor = tensor_of(problem.inputs, detail.inputs, *buffer.value);
      const auto output = std::find(program.outputs.begin(), program.outputs.end(), i);
      if (output != program.outputs.end()) {
        tensor = &problem.outputs[static_cast<std::size_t>(output - program.outputs.begin())];
      }
      // What the graph names and no result follows from, as running statistics in training mode, is no input.
      if (tensor != nullptr) held = {kernel_name(tensor->name), tensor->name, tensor->dtype};
    }
    buffer.name = held.name;
    buffers.push_back(std::move(held));
  }
  return buffers;
}

}  // namespace kw
