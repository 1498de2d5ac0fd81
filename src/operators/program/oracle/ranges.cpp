#include "operators/program/oracle/ranges.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

namespace kw::program_oracle {
namespace {

constexpr std::size_t k_word = 64;
constexpr std::size_t k_page = 4096;

/// The runs of ones in a word of which bit 0 stands for element `base`.
void add_runs(std::uint64_t bits, std::int64_t base, Ranges& all) {
  while (bits != 0) {
    const int zeros = std::countr_zero(bits);
    bits >>= zeros;
    const int ones = std::countr_one(bits);
    bits = ones == static_cast<int>(k_word) ? 0 : bits >> ones;
    base += zeros;
    if (!all.empty() && all.back().end == base) {
      all.back().end = base + ones;
    } else {
      all.push_back({base, base + ones});
    }
    base += ones;
  }
}

}  // namespace

Ranges joined(Ranges ranges) {
  if (!std::ranges::is_sorted(ranges, {}, &ElementRange::begin)) std::ranges::sort(ranges, {}, &ElementRange::begin);
  Ranges all;
  for (const auto& range : ranges) {
    if (!all.empty() && range.begin <= all.back().end) {
      all.back().end = std::max(all.back().end, range.end);
    } else {
      all.push_back(range);
    }
  }
  return all;
}

std::int64_t count_of(const Ranges& ranges) {
  std::int64_t count = 0;
  for (const auto& range : ranges) count += range.end - range.begin;
  return count;
}

std::vector<RowPart> parts_of_rows(const Ranges& ranges, std::int64_t length) {
  std::vector<RowPart> parts;
  for (const auto& range : ranges) {
    for (auto i = range.begin; i < range.end;) {
      const std::int64_t count = std::min(range.end - i, length - i % length);
      parts.push_back({i / length, i % length, count});
      i += count;
    }
  }
  return parts;
}

Ranges cut(const Ranges& ranges, std::int64_t length) {
  Ranges parts;
  for (const auto& range : ranges) {
    for (auto i = range.begin; i < range.end; i += length) parts.push_back({i, std::min(range.end, i + length)});
  }
  return parts;
}

struct ElementSet::Page {
  std::array<std::atomic<std::uint64_t>, k_page / k_word> words{};
};

ElementSet::ElementSet(std::int64_t count) : pages_(static_cast<std::size_t>(count) / k_page + 1) {}

ElementSet::~ElementSet() {
  for (auto& page : pages_) delete page.load(std::memory_order_relaxed);
}

ElementSet::Page& ElementSet::page_of(std::size_t element) {
  auto& slot = pages_[element / k_page];
  Page* page = slot.load(std::memory_order_acquire);
  if (page == nullptr) {
    auto fresh = std::make_unique<Page>();
    if (slot.compare_exchange_strong(page, fresh.get(), std::memory_order_acq_rel)) page = fresh.release();
  }
  return *page;
}

void ElementSet::add(ElementRange range) {
  auto at = static_cast<std::size_t>(range.begin);
  const auto end = static_cast<std::size_t>(range.end);
  while (at < end) {
    const std::size_t count = std::min(end - at, k_word - at % k_word);
    const std::uint64_t bits = (~std::uint64_t{0} >> (k_word - count)) << at % k_word;
    auto& word = page_of(at).words[at % k_page / k_word];
    // What is there already is not written again: other threads read the same line.
    if ((word.load(std::memory_order_relaxed) & bits) != bits) word.fetch_or(bits, std::memory_order_relaxed);
    at += count;
  }
}

Ranges ElementSet::ranges() const {
  Ranges all;
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    const Page* page = pages_[i].load(std::memory_order_relaxed);
    if (page == nullptr) continue;
    for (std::size_t word = 0; word < page->words.size(); ++word) {
      add_runs(page->words[word].load(std::memory_order_relaxed), static_cast<std::int64_t>(i * k_page + word * k_word),
               all);
    }
  }
  return all;
}

}  // namespace kw::program_oracle
