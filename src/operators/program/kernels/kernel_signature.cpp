#include "operators/program/kernels/kernel_signature.hpp"

#include "codegen/text.hpp"

namespace kw {

KernelSignature::KernelSignature(const GroupContext& context, const KernelScope& scope,
                                 const std::set<std::size_t>& written)
    : context_(context), scope_(scope) {
  const auto add = [&](std::size_t index, bool writable) {
    const auto& buffer = context.buffers[index];
    if (buffer.is_private) return;
    declarations_.push_back(buffer_parameter(buffer.dtype, writable, buffer.name, context.dialect));
    arguments_.push_back(buffer.argument);
    writes_bf16_by_hand_ =
        writes_bf16_by_hand_ || (writable && buffer.dtype == DType::bf16 && context.dialect->bf16_functions == nullptr);
  };
  for (const auto buffer : scope.loaded()) {
    if (written.count(buffer) == 0) add(buffer, false);
  }
  for (const auto buffer : written) add(buffer, true);
  for (const auto& [parameter, expression] : scope.integers()) {
    declarations_.push_back("const int " + parameter);
    arguments_.push_back(expression);
  }
}

GroupKernels KernelSignature::kernels(const std::string& name, const std::string& threads,
                                      const std::string& body) const {
  GroupKernels kernels;
  const auto qualifier = fill_lines(context_.dialect->kernel_qualifier, {{"threads", threads}});
  kernels.source =
      fmt::format("{}\n{} {{\n{}}}\n", qualifier, parameter_list(fmt::format("void {}(", name), declarations_), body);
  Launch launch;
  launch.kernel = name;
  launch.args = arguments_;
  launch.block = {threads};
  kernels.launches.push_back(std::move(launch));
  kernels.helpers = scope_.helpers();
  kernels.own_helpers = scope_.own_helpers();
  if (writes_bf16_by_hand_) kernels.helpers.insert(KernelHelper::to_bf16);
  return kernels;
}

}  // namespace kw
