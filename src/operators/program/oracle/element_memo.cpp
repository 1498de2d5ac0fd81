#include "operators/program/oracle/element_memo.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

namespace kw::program_oracle {
namespace {

constexpr std::size_t k_page = 512;
/// A NaN that no arithmetic makes; what is kept as NaN is kept as the usual one.
constexpr std::uint64_t k_unknown = 0x7ff8'0bad'0bad'0badU;

}  // namespace

struct ElementMemo::Page {
  Page() {
    for (auto& one : bits) one.store(k_unknown, std::memory_order_relaxed);
  }
  std::array<std::atomic<std::uint64_t>, k_page> bits;
};

ElementMemo::ElementMemo(std::int64_t count) : pages_(static_cast<std::size_t>(count) / k_page + 1) {}

ElementMemo::~ElementMemo() {
  for (auto& page : pages_) delete page.load(std::memory_order_relaxed);
}

std::optional<double> ElementMemo::find(std::int64_t index) const {
  const auto at = static_cast<std::size_t>(index);
  const Page* page = pages_[at / k_page].load(std::memory_order_acquire);
  if (page == nullptr) return std::nullopt;
  const auto bits = page->bits[at % k_page].load(std::memory_order_relaxed);
  if (bits == k_unknown) return std::nullopt;
  return std::bit_cast<double>(bits);
}

void ElementMemo::keep(std::int64_t index, double value) {
  const auto at = static_cast<std::size_t>(index);
  auto& slot = pages_[at / k_page];
  Page* page = slot.load(std::memory_order_acquire);
  if (page == nullptr) {
    auto fresh = std::make_unique<Page>();
    if (slot.compare_exchange_strong(page, fresh.get(), std::memory_order_acq_rel)) page = fresh.release();
  }
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  page->bits[at % k_page].store(std::bit_cast<std::uint64_t>(value), std::memory_order_relaxed);
}

std::optional<GroupStatistics::Pair> GroupStatistics::known(std::int64_t group) const {
  const auto first = memo_.find(2 * group);
  const auto second = memo_.find(2 * group + 1);
  if (!first || !second) return std::nullopt;
  return Pair{*first, *second};
}

GroupStatistics::Pair GroupStatistics::of(std::int64_t group) {
  if (const auto pair = known(group)) return *pair;
  const std::lock_guard lock(computing_[static_cast<std::size_t>(group) % computing_.size()]);
  if (const auto pair = known(group)) return *pair;
  const auto pair = compute_(group);
  memo_.keep(2 * group, pair.first);
  memo_.keep(2 * group + 1, pair.second);
  return pair;
}

}  // namespace kw::program_oracle
