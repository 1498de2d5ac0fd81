#include "mod/analysis/tile_shares.hpp"

#include <algorithm>

#include "base/int_math.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_tiles = std::int64_t{1} << 18;

std::int64_t extent(const IndexRange& range) {
  return range.last - range.first + 1;
}

IndexRange step(std::int64_t index, std::int64_t size, std::int64_t extent) {
  return {index * size, std::min((index + 1) * size, extent) - 1};
}

}  // namespace

bool TileClassifier::allowed(const TileRange& tile, std::int64_t query, std::int64_t key) const {
  return evaluate(mask_, axes_, {0.0, tile.batch.first, tile.head.first, query, key}, data_) != 0.0;
}

TileClass TileClassifier::classify(const TileRange& tile) const {
  const auto proved = classify_tile(mask_, axes_, tile, &bounds_);
  if (proved != TileClass::partial) return proved;
  // Most tiles that are partial show it at their corners.
  const bool first = allowed(tile, tile.query.first, tile.key.first);
  if (allowed(tile, tile.query.first, tile.key.last) != first ||
      allowed(tile, tile.query.last, tile.key.first) != first ||
      allowed(tile, tile.query.last, tile.key.last) != first) {
    return TileClass::partial;
  }
  if (extent(tile.query) == 1 && extent(tile.key) <= 2) return first ? TileClass::full : TileClass::empty;
  return halves(tile);
}

TileClass TileClassifier::halves(const TileRange& tile) const {
  auto low = tile;
  auto high = tile;
  const bool split_keys = extent(tile.key) >= extent(tile.query);
  auto& cut_low = split_keys ? low.key : low.query;
  auto& cut_high = split_keys ? high.key : high.query;
  cut_low.last = cut_low.first + extent(cut_low) / 2 - 1;
  cut_high.first = cut_low.last + 1;
  const auto first = classify(low);
  if (first == TileClass::partial) return first;
  return classify(high) == first ? first : TileClass::partial;
}

TileShares tile_shares(const ModFunction& mask, const Axes& axes, const CaptureData& data, std::int64_t queries,
                       std::int64_t keys) {
  const auto depends = dependencies(mask)[static_cast<std::size_t>(mask.root)];
  const auto batches = depends.batch ? axes.at("B") : 1;
  const auto heads = depends.head ? axes.at("Hq") : 1;
  const auto rows = ceil_div(axes.at("Sq"), queries);
  const auto columns = ceil_div(axes.at("Skv"), keys);
  const double all = static_cast<double>(batches * heads) * static_cast<double>(rows) * static_cast<double>(columns);
  const double spacing = std::max(1.0, all / static_cast<double>(k_max_tiles));
  const TileClassifier classifier(mask, axes, data);
  double counts[3] = {};
  double seen = 0;
  for (double at = (spacing - 1.0) / 2.0; at < all; at += spacing) {
    const auto tile = static_cast<std::int64_t>(at);
    const auto head = tile / columns / rows % heads;
    const auto batch = tile / columns / rows / heads;
    const auto found = classifier.classify({{batch, batch},
                                            {head, head},
                                            step(tile / columns % rows, queries, axes.at("Sq")),
                                            step(tile % columns, keys, axes.at("Skv"))});
    counts[static_cast<int>(found)] += 1;
    seen += 1;
  }
  const auto share = [&](TileClass of) { return counts[static_cast<int>(of)] / seen; };
  return {share(TileClass::empty), share(TileClass::full), share(TileClass::partial), spacing == 1.0};
}

}  // namespace kw
