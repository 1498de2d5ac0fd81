#include "operators/program/kernels/row_registers.hpp"

#include <fmt/format.h>

#include "operators/program/kernels/row_batches.hpp"
#include "program/stages/work.hpp"

namespace kw {

std::optional<RowRegisters> RowRegisters::of(const std::vector<const Stage*>& readings, std::size_t rows,
                                             const std::vector<KernelBuffer>& buffers, const RowSharing& sharing) {
  const auto kept = static_cast<double>(sharing.usual_slices * sharing.elements.default_value);
  const auto element = common_row_element(readings, rows, buffers, [&](const RowElement& one) {
    return count_of({{"", one.length}}) <= kept;
  });
  if (!element) return std::nullopt;
  return RowRegisters(*element, rows, batch_size(element->first->inner, sharing));
}

std::vector<const StageNode*> RowRegisters::elements(const Stage& stage) const {
  if (!filled_ && &stage != element_.first) return {};
  return loads_of_row_element(stage, rows_, element_);
}

std::vector<std::string> RowRegisters::read(const StageNode& load, const std::string& name, KernelScope& scope) const {
  if (filled_) return {fmt::format("const float {} = kept_batch[part];", name)};
  const auto& memory = scope.buffer(load.tensor.buffer).name;
  return {fmt::format("const float {} = {}[{}];", name, memory, scope.place_text(load)),
          fmt::format("kept_batch[part] = {};", name)};
}

std::string RowRegisters::declarations() const {
  return fmt::format("  const int most_kept = {};\n  float kept_batch[most_kept];\n", batch_);
}

}  // namespace kw
