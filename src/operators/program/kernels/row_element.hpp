#pragma once
// Which element of a row several stages read: its tensor, and where the column's index stands among the load's.

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "operators/program/kernels/kernel_scope.hpp"
#include "program/stages/stage.hpp"

namespace kw {

/// Of a tensor of f32, at the index of the row's one column.
struct RowElement {
  const Stage* first = nullptr;     ///< reading: a reduction of the whole row
  const StageNode* load = nullptr;  ///< of it
  std::size_t column = 0;           ///< which of the load's indices is the column's
  Extent length;                    ///< of a row
};

/// The first one that `is_worth` keeping and that a later reading has too. `readings` are the stages whose bodies are
/// read, in their order, of a group with so many axes of rows. Absent where nothing is read twice, where the first
/// reading is no reduction of the whole row, and where rows have several axes of columns.
[[nodiscard]] std::optional<RowElement> common_row_element(const std::vector<const Stage*>& readings, std::size_t rows,
                                                           const std::vector<KernelBuffer>& buffers,
                                                           const std::function<bool(const RowElement&)>& is_worth);

/// The stage's loads of this element, at the column's own index.
[[nodiscard]] std::vector<const StageNode*> loads_of_row_element(const Stage& stage, std::size_t rows,
                                                                 const RowElement& element);

}  // namespace kw
