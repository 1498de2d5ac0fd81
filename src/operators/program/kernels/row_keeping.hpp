#pragma once
// Where the rows of a GPU's group stay that several of its stages read: in shared memory (row_memory.hpp), in registers
// (row_registers.hpp), or nowhere.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operators/program/kernels/program_bundle.hpp"
#include "operators/program/kernels/row_fours.hpp"
#include "operators/program/kernels/row_memory.hpp"
#include "operators/program/kernels/row_registers.hpp"
#include "operators/program/kernels/row_sharing.hpp"

namespace kw {

/// Which of a work-item's batches is printed.
enum class PrintedBatch : std::uint8_t {
  any,    ///< of elements one by one
  first,  ///< the first of those, which registers keep
  fours,  ///< of fours, whose elements have names already
};

class RowKeeping {
 public:
  /// Of a group with these stages and so many axes of rows; gives `sharing` what shared memory takes.
  RowKeeping(const GroupContext& context, const std::vector<const Stage*>& stages, std::size_t rows,
             RowSharing& sharing);

  [[nodiscard]] bool in_registers() const { return registers_.has_value(); }
  /// Whether registers keep elements that the stage reads, so that its first batch has a text of its own.
  [[nodiscard]] bool has_first_batch(const Stage& stage) const;
  /// Statements that name the elements of the stage that are kept, in a loop of such batches.
  [[nodiscard]] std::vector<std::string> reads(const Stage& stage, PrintedBatch batch, const RowSharing& sharing,
                                               KernelScope& scope) const;
  /// The same of fours, for four_reads().
  [[nodiscard]] ReadFour read_fours(const Stage& stage, const RowSharing& sharing, KernelScope& scope) const;
  void was_written(const Stage& stage);

  /// The kernel's first lines.
  [[nodiscard]] std::string declarations(KernelScope& scope) const;
  /// What a launch has for it, beside `gathered` arrays of shared memory with a number for each work-item.
  void add_to(GroupKernels& kernels, const RowSharing& sharing, std::size_t gathered, const DeviceFacts& device) const;

 private:
  std::optional<RowMemory> memory_;        ///< where a work-group has a row
  std::optional<RowRegisters> registers_;  ///< where rows lie side by side
};

}  // namespace kw
