#pragma once
// Neighbouring elements of a row, four at a time: sixteen bytes of each tensor, which takes a quarter of the
// instructions, where a kernel finds that extents and addresses allow it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operators/program/kernels/kernel_scope.hpp"
#include "program/stages/stage.hpp"

namespace kw {

struct RowFours {
  std::vector<const StageNode*> loads;  ///< that four neighbours have in sixteen bytes; each is read in any case
  std::vector<std::string> conditions;  ///< of the kernel's parameters: where one does not hold, elements go one by one
  bool hold_as_read = false;            ///< with the extents that the module was read with
};

/// Of elements with neighbours along the axis `column`, the first at a multiple of four. Absent where none of the
/// stage's loads has neighbours side by side, or where a guard may part four of them. Four has to divide `length` too.
/// `stored` is where a map's elements go, or null.
[[nodiscard]] std::optional<RowFours> row_fours(const Stage& stage, const std::string& column, const Extent& length,
                                                const StageNode* stored, KernelScope& scope);

/// Under which conditions four neighbours along `column` are stored in sixteen bytes; absent where they never are.
[[nodiscard]] std::optional<std::vector<std::string>> stored_fours(const StageNode& stored, const std::string& column,
                                                                   const Extent& length, KernelScope& scope);

/// The text of those loads, each of a four and of one of its elements, whose place in the four is the expression
/// `place`; values printed in `scope` from then on are made of these elements.
struct FourReads {
  std::vector<std::string> loads, elements;
};
/// `read`: statements that declare a four of this name, where it is not simply read from its tensor; else none.
using ReadFour = std::function<std::vector<std::string>(const StageNode& load, const std::string& name)>;
[[nodiscard]] FourReads four_reads(const RowFours& fours, const std::string& place, KernelScope& scope,
                                   const ReadFour& read = nullptr);

}  // namespace kw
