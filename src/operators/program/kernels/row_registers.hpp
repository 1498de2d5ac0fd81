#pragma once
// Rows side by side that their work-items read more than once: the elements of each one's first batch stay in its
// registers, and are not read from memory again.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/row_element.hpp"
#include "operators/program/kernels/row_sharing.hpp"
#include "program/stages/stage.hpp"

namespace kw {

class RowRegisters {
 public:
  /// Of a group whose rows lie side by side; the elements that several of its readings have in common. Absent as
  /// common_row_element() is, and where the first batches of its work-items are no whole row: with twice as many
  /// work-items a softmax over 128 channels gained nothing (H200).
  [[nodiscard]] static std::optional<RowRegisters> of(const std::vector<const Stage*>& readings, std::size_t rows,
                                                      const std::vector<KernelBuffer>& buffers,
                                                      const RowSharing& sharing);

  /// Of the stage, its own index at the row's column; none of stages before the first reading.
  [[nodiscard]] std::vector<const StageNode*> elements(const Stage& stage) const;

  /// Statements that declare `name` as element `part` of the first batch. In the first reading they keep it.
  [[nodiscard]] std::vector<std::string> read(const StageNode& load, const std::string& name, KernelScope& scope) const;
  /// The stage was written; readings behind the first one read what is kept.
  void was_written(const Stage& stage) { filled_ = filled_ || &stage == element_.first; }

  /// The kernel's line for the registers.
  [[nodiscard]] std::string declarations() const;

 private:
  RowRegisters(const RowElement& element, std::size_t rows, std::string batch)
      : element_(element), rows_(rows), batch_(std::move(batch)) {}

  RowElement element_;
  std::size_t rows_;
  std::string batch_;  ///< how many elements each work-item keeps: an expression
  bool filled_ = false;
};

}  // namespace kw
