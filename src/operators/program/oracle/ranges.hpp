#pragma once
// Sets of elements of a tensor, as ranges of their flat indices.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "problem/values.hpp"

namespace kw::program_oracle {

using Ranges = std::vector<ElementRange>;

/// Ascending, and without gaps or overlaps between two.
[[nodiscard]] Ranges joined(Ranges ranges);
[[nodiscard]] std::int64_t count_of(const Ranges& ranges);

/// Elements first, first + 1, ... of a row.
struct RowPart {
  std::int64_t row = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};
/// Parts of rows of `length`, each in one range.
[[nodiscard]] std::vector<RowPart> parts_of_rows(const Ranges& ranges, std::int64_t length);
/// Parts of the ranges of `length` elements at most.
[[nodiscard]] Ranges cut(const Ranges& ranges, std::int64_t length);

/// Some elements of a tensor that may be far too large for a bit each. Several threads may add at once.
class ElementSet {
 public:
  explicit ElementSet(std::int64_t count);
  ElementSet(const ElementSet&) = delete;
  ElementSet& operator=(const ElementSet&) = delete;
  ~ElementSet();

  void add(std::int64_t element) { add(ElementRange{element, element + 1}); }
  void add(ElementRange range);
  /// When nobody adds any more.
  [[nodiscard]] Ranges ranges() const;

 private:
  struct Page;
  [[nodiscard]] Page& page_of(std::size_t element);

  std::vector<std::atomic<Page*>> pages_;  ///< owned; null until something in it is added
};

}  // namespace kw::program_oracle
