#pragma once
// Rows that a work-group reads more than once, in shared memory: as much of each as fits is written there when it is
// read first, and not read from memory again. No cache has a long row still when it is needed again, because all rows
// that are under way together are larger than it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hardware/device_facts.hpp"
#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/row_element.hpp"
#include "operators/program/kernels/row_sharing.hpp"
#include "program/stages/stage.hpp"

namespace kw {

/// The tensor of f32 whose rows are kept, and where in it a group's row is.
class RowMemory {
 public:
  /// Of a group with a row for each work-group: the elements that several of its readings have in common. `readings`
  /// are the stages whose bodies are read, in their order. Absent as common_row_element() is, and where neighbours of a
  /// row do not lie side by side or are not worth keeping.
  [[nodiscard]] static std::optional<RowMemory> of(const std::vector<const Stage*>& readings, std::size_t rows,
                                                   const std::vector<KernelBuffer>& buffers, const DeviceFacts& device);

  /// Elements of it that the stage's body reads, at the column's own index; none of stages before the first reading.
  [[nodiscard]] std::vector<const StageNode*> elements(const Stage& stage) const;

  /// Statements that declare `name` as the element, or as four neighbours from it on where `type` is "float4". In the
  /// first reading they keep what they read: `place` is its place in the row, which may lie behind the end.
  [[nodiscard]] std::vector<std::string> read(const StageNode& load, const std::string& type, const std::string& name,
                                              const std::string& place, KernelScope& scope) const;
  /// The stage was written; readings behind the first one read what is kept.
  void was_written(const Stage& stage) { filled_ = filled_ || &stage == element_.first; }

  /// The kernel's first lines: the memory, and how many elements it has.
  [[nodiscard]] std::string declarations(KernelScope& scope) const;
  /// Of a launch.
  [[nodiscard]] std::string shared_bytes() const;
  /// How many elements are kept at most; by default as many as a row has and the device has room for.
  [[nodiscard]] Tunable kept(const DeviceFacts& device) const;
  /// More work-items where few work-groups fit on a unit.
  [[nodiscard]] Tunable threads() const;
  /// How many elements a work-item has under way: fewer than without, since a unit has more work-items.
  [[nodiscard]] Tunable batch() const;

 private:
  RowMemory(const RowElement& element, std::size_t rows) : element_(element), rows_(rows) {}

  RowElement element_;
  std::size_t rows_;  ///< axes
  bool filled_ = false;
};

/// Elements of a row that a work-group of the device has room for, beside what gathering takes.
[[nodiscard]] std::int64_t row_memory_elements(const DeviceFacts& device);
/// Of a row of which most fits there; what does not is read again, and is so little that a cache has it.
[[nodiscard]] double longest_kept(const DeviceFacts& device);
/// Whether a row of so many elements is worth keeping: no near cache has it still, and half of the last one is less
/// than all rows that are under way together.
[[nodiscard]] bool is_worth_keeping(double elements, const DeviceFacts& device);

}  // namespace kw
