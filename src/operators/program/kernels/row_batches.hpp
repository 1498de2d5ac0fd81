#pragma once
// The loops of work-items over their elements of a row. Several elements are read before the first is used, so that as
// many reads of memory are under way; indices along several axes are counted on, which takes no divisions.

#include <string>
#include <vector>

#include "operators/program/kernels/row_sharing.hpp"
#include "program/stages/stage.hpp"

namespace kw {

/// What a loop does, as statements. `part` is an element's place in the batch, of `batch` elements.
struct BatchText {
  std::vector<std::string> arrays;        ///< declarations before a batch is read: "float values[batch];"
  std::string guard;                      ///< elements for which it does not hold do not count; empty: all do
  std::vector<std::string> guard_values;  ///< statements that `guard` needs
  std::vector<std::string> reads;         ///< of an element whose indices are known
  std::vector<std::string> before;        ///< between reading and using a batch
  std::vector<std::string> uses;          ///< of an element that counts
  std::vector<std::string> after;
};

/// How many elements a work-item has under way.
[[nodiscard]] Tunable row_elements();

/// Writes the loop of a work-item over its share of the row's columns. `scope` has printed `text` already.
void write_batches(BodyWriter& body, const StageAxes& columns, KernelScope& scope, const RowSharing& sharing,
                   const BatchText& text);

/// "if (start + part * slices < count)", where an element of the batch counts.
[[nodiscard]] std::string counts_in_batch(const StageAxes& columns, KernelScope& scope, const RowSharing& sharing,
                                          const BatchText& text);

/// A loop for each axis, for work-items that have a row to themselves. `statements` are of an element; they may
/// `continue`.
void write_nested_loops(BodyWriter& body, const StageAxes& columns, KernelScope& scope,
                        const std::vector<std::string>& statements);

}  // namespace kw
