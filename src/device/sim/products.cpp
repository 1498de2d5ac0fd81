#include "device/sim/products.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace kw::sim {

void PendingProducts::clear() {
  products_.clear();
  sums_.clear();
  group_ = 0;
  computed_ = nullptr;
}

PendingProducts::Sums& PendingProducts::sums_at(const kw_sim::Product& product) {
  const auto is_it = [&](const Sums& sums) { return sums.place == product.sums; };
  const auto known = std::find_if(sums_.begin(), sums_.end(), is_it);
  if (known != sums_.end()) return *known;
  const std::size_t count = std::size_t{4} * product.tiles;
  sums_.push_back({product.sums, {product.sums, product.sums + count}, 0});
  std::fill_n(product.sums, count, std::numeric_limits<float>::quiet_NaN());
  return sums_.back();
}

void PendingProducts::defer(const kw_sim::Product& product) {
  ++sums_at(product).pending;
  products_.push_back({product, group_});
}

void PendingProducts::complete(float* place) {
  const auto sums = std::find_if(sums_.begin(), sums_.end(), [&](const Sums& one) { return one.place == place; });
  if (--sums->pending > 0) return;
  std::copy(sums->values.begin(), sums->values.end(), place);
  sums_.erase(sums);
}

bool PendingProducts::next(int groups_left, kw_sim::Product& product) {
  if (float* const computed = std::exchange(computed_, nullptr)) complete(computed);
  if (products_.empty()) return false;
  const Pending& oldest = products_.front();
  const bool is_waited_for =
      oldest.group < group_ && group_ - oldest.group > static_cast<std::uint64_t>(std::max(groups_left, 0));
  if (!is_waited_for) return false;
  product = oldest.product;
  computed_ = product.sums;
  std::vector<float>& values = sums_at(product).values;
  if (!product.add) std::fill(values.begin(), values.end(), 0.0F);
  product.sums = values.data();
  products_.pop_front();
  return true;
}

}  // namespace kw::sim
