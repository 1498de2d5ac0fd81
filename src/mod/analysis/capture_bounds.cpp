#include "mod/analysis/capture_bounds.hpp"

#include <algorithm>

namespace kw {
namespace {

constexpr std::int64_t k_max_rows = 64;

struct Box {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// The elements that an index in `range` can reach: negative ones count from the end.
Box reach(const ValueRange& range, std::int64_t extent) {
  if (range.low < 0.0 && range.high >= 0.0) return {0, extent - 1};
  return {resolved_index(range.low, extent), resolved_index(range.high, extent)};
}

std::int64_t row_length(const CapturedTensor& tensor) {
  return tensor.extents.empty() ? 1 : tensor.extents.back();
}

}  // namespace

void CaptureBounds::Extremes::include(const Extremes& other) {
  low = std::min(low, other.low);
  high = std::max(high, other.high);
}

CaptureBounds::CaptureBounds(const CaptureData& data) {
  for (const auto& [name, tensor] : data) {
    Entry entry{&tensor, {}, (row_length(tensor) + k_block - 1) / k_block, {tensor.values[0], tensor.values[0]}};
    const auto rows = static_cast<std::int64_t>(tensor.values.size()) / row_length(tensor);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t begin = 0; begin < row_length(tensor); begin += k_block) {
        const auto* first = tensor.values.data() + row * row_length(tensor) + begin;
        const auto [low, high] = std::minmax_element(first, first + std::min(k_block, row_length(tensor) - begin));
        entry.blocks.push_back({*low, *high});
        entry.all.include(entry.blocks.back());
      }
    }
    entries_.emplace(name, std::move(entry));
  }
}

CaptureBounds::Extremes CaptureBounds::row_range(const Entry& entry, std::int64_t row, std::int64_t first,
                                                 std::int64_t last) {
  const auto* values = entry.tensor->values.data() + row * row_length(*entry.tensor);
  const auto* blocks = entry.blocks.data() + row * entry.blocks_per_row;
  Extremes found{values[first], values[first]};
  for (auto i = first; i <= last;) {
    const bool whole = i % k_block == 0 && i + k_block - 1 <= last;
    found.include(whole ? blocks[i / k_block] : Extremes{values[i], values[i]});
    i += whole ? k_block : 1;
  }
  return found;
}

ValueRange CaptureBounds::range(const std::string& name, std::span<const ValueRange> indices) const {
  const auto& entry = entries_.at(name);
  const auto& extents = entry.tensor->extents;
  KW_CHECK(indices.size() == extents.size(), "{} indices for {}", indices.size(), name);
  std::vector<Box> boxes;
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    boxes.push_back(reach(indices[i], extents[i]));
    if (i + 1 < extents.size()) rows = std::min(rows * (boxes[i].last - boxes[i].first + 1), k_max_rows + 1);
  }
  if (rows > k_max_rows) return {entry.all.low, entry.all.high};
  const Box along = boxes.empty() ? Box{} : boxes.back();
  std::vector<std::int64_t> starts = {0};
  for (std::size_t i = 0; i + 1 < boxes.size(); ++i) {
    std::vector<std::int64_t> next;
    for (const auto start : starts) {
      for (auto at = boxes[i].first; at <= boxes[i].last; ++at) next.push_back(start * extents[i] + at);
    }
    starts = std::move(next);
  }
  auto found = row_range(entry, starts.front(), along.first, along.last);
  for (const auto row : starts) found.include(row_range(entry, row, along.first, along.last));
  return {found.low, found.high};
}

}  // namespace kw
