#include "verify/checking/error_location.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace kw {
namespace {

constexpr std::array<std::int64_t, 4> k_tiles = {64, 32, 16, 8};
constexpr std::size_t k_most_listed = 8;

/// The indices of one axis at which at least one element is marked, ascending.
struct Touched {
  std::string axis;
  std::int64_t extent = 1;
  std::vector<std::int64_t> indices;
};

std::string range_text(std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
}

std::string list_text(const std::vector<std::int64_t>& items) {
  const std::size_t shown = std::min(items.size(), k_most_listed);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", items[i]);
  return items.size() > shown ? text + fmt::format(" and {} more", items.size() - shown) : text;
}

bool contiguous(const std::vector<std::int64_t>& indices) {
  return indices.back() - indices.front() + 1 == std::ssize(indices);
}

std::optional<std::string> one_range(const Touched& touched) {
  const auto& indices = touched.indices;
  const std::int64_t count = std::ssize(indices);
  if (!contiguous(indices)) return std::nullopt;
  const std::string range = range_text(indices.front(), indices.back());
  if (indices.back() == touched.extent - 1 && count > 1) {
    return fmt::format("only the last {} of {} {} ({})", count, touched.extent, touched.axis, range);
  }
  if (indices.back() == touched.extent - 1) {
    return fmt::format("only the last of {} {} ({})", touched.extent, touched.axis, range);
  }
  if (indices.front() == 0 && count == 1)
    return fmt::format("only the first of {} {} (0)", touched.extent, touched.axis);
  if (indices.front() == 0) {
    return fmt::format("only the first {} of {} {} ({})", count, touched.extent, touched.axis, range);
  }
  for (const std::int64_t tile : k_tiles) {
    if (count % tile == 0 && indices.front() % tile == 0) {
      return fmt::format("only {} {}: {} whole tile{} of {}", touched.axis, range, count / tile,
                         count == tile ? "" : "s", tile);
    }
  }
  return fmt::format("only {} {}", touched.axis, range);
}

/// Every index leaves the same remainder: every other row, one lane of four.
std::optional<std::string> one_remainder(const Touched& touched) {
  if (touched.indices.size() < 2) return std::nullopt;
  for (const std::int64_t step : {64, 32, 16, 8, 4, 2}) {
    const std::int64_t remainder = touched.indices.front() % step;
    const bool all = std::all_of(touched.indices.begin(), touched.indices.end(),
                                 [&](std::int64_t i) { return i % step == remainder; });
    // All that have it, or nearly: a few indices agree by chance.
    const std::int64_t possible = (touched.extent - remainder + step - 1) / step;
    if (!all || possible < 2 || 4 * std::ssize(touched.indices) < 3 * possible) continue;
    if (step == 2) return fmt::format("only the {} {}", remainder == 0 ? "even" : "odd", touched.axis);
    return fmt::format("only {} with {} % {} == {}", touched.axis, touched.axis, step, remainder);
  }
  return std::nullopt;
}

/// A union of whole tiles.
std::optional<std::string> whole_tiles(const Touched& touched) {
  for (const std::int64_t tile : k_tiles) {
    if (touched.extent < 2 * tile) continue;
    std::vector<std::int64_t> tiles;
    for (const std::int64_t i : touched.indices) {
      if (tiles.empty() || tiles.back() != i / tile) tiles.push_back(i / tile);
    }
    std::int64_t inside = 0;
    for (const std::int64_t t : tiles) inside += std::min((t + 1) * tile, touched.extent) - t * tile;
    if (inside == std::ssize(touched.indices)) {
      return fmt::format("only whole tiles of {} {}: tiles {}", tile, touched.axis, list_text(tiles));
    }
  }
  return std::nullopt;
}

/// The same part of every tile: its last rows, its second half.
std::optional<std::string> part_of_tiles(const Touched& touched) {
  // The smallest tile that explains it: a part of each 32 is a part of each 64 as well.
  for (const std::int64_t tile : {8, 16, 32, 64}) {
    if (touched.extent < 2 * tile) continue;
    std::vector<std::int64_t> inside;
    for (const std::int64_t i : touched.indices) inside.push_back(i % tile);
    std::sort(inside.begin(), inside.end());
    inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
    const std::int64_t tiles = touched.extent / tile;
    const bool everywhere = std::ssize(touched.indices) >= tiles * std::ssize(inside);
    if (contiguous(inside) && std::ssize(inside) < tile && everywhere) {
      return fmt::format("only {} at positions {} within each tile of {}", touched.axis,
                         range_text(inside.front(), inside.back()), tile);
    }
  }
  return std::nullopt;
}

std::string words_of(const Touched& touched) {
  for (const auto find : {one_range, one_remainder, whole_tiles, part_of_tiles}) {
    if (auto words = find(touched)) return *std::move(words);
  }
  return fmt::format("only {} of {} {}: {}", touched.indices.size(), touched.extent, touched.axis,
                     list_text(touched.indices));
}

/// Per axis, which indices are touched. One pass; elements are counted like an odometer, without divisions.
std::vector<Touched> touched_indices(const std::vector<bool>& marked, const TensorSpec& tensor, const Axes& axes) {
  std::vector<Touched> result;
  for (const auto& axis : tensor.axes) result.push_back({axis, axes.find(axis)->second, {}});
  std::vector<std::vector<bool>> seen;
  for (const auto& one : result) seen.emplace_back(static_cast<std::size_t>(one.extent), false);
  std::vector<std::int64_t> at(result.size(), 0);
  for (const bool mark : marked) {
    for (std::size_t a = 0; mark && a < at.size(); ++a) seen[a][static_cast<std::size_t>(at[a])] = true;
    for (std::size_t a = at.size(); a-- > 0;) {
      if (++at[a] < result[a].extent) break;
      at[a] = 0;
    }
  }
  for (std::size_t a = 0; a < result.size(); ++a) {
    for (std::int64_t i = 0; i < result[a].extent; ++i) {
      if (seen[a][static_cast<std::size_t>(i)]) result[a].indices.push_back(i);
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> error_location(const std::vector<bool>& marked, const TensorSpec& tensor, const Axes& axes) {
  std::vector<std::string> words;
  for (const auto& touched : touched_indices(marked, tensor, axes)) {
    const bool some = !touched.indices.empty() && std::ssize(touched.indices) < touched.extent;
    if (some) words.push_back(words_of(touched));
  }
  return words;
}

std::string coordinates(const TensorSpec& tensor, const Axes& axes, std::int64_t flat) {
  if (tensor.axes.empty()) return tensor.name;
  std::string inside;
  for (std::size_t i = tensor.axes.size(); i-- > 0;) {
    const std::int64_t extent = axes.find(tensor.axes[i])->second;
    inside = fmt::format("{}={}{}{}", tensor.axes[i], flat % extent, inside.empty() ? "" : ", ", inside);
    flat /= extent;
  }
  return fmt::format("{}[{}]", tensor.name, inside);
}

}  // namespace kw
