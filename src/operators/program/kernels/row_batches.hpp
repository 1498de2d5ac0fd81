#pragma once
// The loops of work-items over their elements of a row. Several elements are read before the first is used, so that as
// many reads of memory are under way; indices along several axes are counted on, which takes no divisions.

#include <optional>
#include <string>
#include <vector>

#include "operators/program/kernels/row_sharing.hpp"
#include "program/stages/stage.hpp"

namespace kw {

/// What a loop does, as statements. `part` is an element's place in the batch, of `batch` elements.
struct BatchText {
  std::string length, length_name;  ///< of the first column, as far as elements count, and its variable; empty: whole
  std::vector<std::string> arrays;  ///< declarations before a batch is read: "float values[batch];"
  std::string guard;                ///< elements for which it does not hold do not count; empty: all do
  std::vector<std::string> guard_values;  ///< statements that `guard` needs
  std::vector<std::string> reads;         ///< of an element whose indices are known
  std::vector<std::string> before;        ///< between reading and using a batch
  std::vector<std::string> uses;          ///< of an element that counts
  std::vector<std::string> after;
};

/// The same, four neighbours along the last column at a time.
struct FourText {
  std::vector<std::string>
      conditions;                     ///< of the kernel's parameters; where one does not hold, the other text is taken
  BatchText text;                     ///< its guard and what that needs are of the first of four
  std::vector<std::string> loads;     ///< before the `reads` of four; the column's variable is the first one's
  std::vector<std::string> elements;  ///< before the `reads` of each
  std::vector<std::string> uses;      ///< of four that count, the first at `four`; empty: text.uses, of each
};

/// How many elements a batch of the row's columns has, no more than a work-item usually has: an expression of tunables.
[[nodiscard]] std::string batch_size(const StageAxes& columns, const RowSharing& sharing);

/// Writes the loop of a work-item over its share of the row's columns. `scope` has printed `text` already. The first
/// batch is apart where it has a text of its own.
void write_batches(BodyWriter& body, const StageAxes& columns, KernelScope& scope, const RowSharing& sharing,
                   const BatchText& text, const std::optional<BatchText>& first = std::nullopt);
/// Writes both loops, of which the kernel takes the one with fours where it can.
void write_batches(BodyWriter& body, const StageAxes& columns, KernelScope& scope, const RowSharing& sharing,
                   const BatchText& text, const FourText& fours);

/// Whether work-items have four elements of such a row each, so that fours leave none of them idle.
[[nodiscard]] bool has_fours(const StageAxes& columns, const RowSharing& sharing);

/// Where in the row an element of the batch is, or which of the row's fours; it may lie behind the end.
[[nodiscard]] std::string place_in_batch(const RowSharing& sharing);
[[nodiscard]] std::string place_in_fours(const RowSharing& sharing);

/// "if (start + part * slices < count)", where an element of the batch counts.
[[nodiscard]] std::string counts_in_batch(const StageAxes& columns, KernelScope& scope, const RowSharing& sharing,
                                          const BatchText& text);
/// The same in a loop with fours.
[[nodiscard]] std::string counts_in_fours(const RowSharing& sharing, const BatchText& text);

/// A loop for each axis, for work-items that have a row to themselves. `statements` are of an element; they may
/// `continue`.
void write_nested_loops(BodyWriter& body, const StageAxes& columns, KernelScope& scope,
                        const std::vector<std::string>& statements);

}  // namespace kw
