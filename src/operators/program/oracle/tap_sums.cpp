#include "operators/program/oracle/tap_sums.hpp"

#include <algorithm>
#include <cmath>

#include "base/widest_vectors.hpp"

namespace kw::program_oracle {
namespace {

/// Sums that stay in registers, of many and of the last few.
constexpr std::int64_t k_block = 32;
constexpr std::int64_t k_last_block = 8;
/// Numbers of held rows: half of a first-level cache.
constexpr std::int64_t k_most_held = 1024;

std::int64_t in_blocks(std::int64_t count) {
  return (count + k_last_block - 1) / k_last_block * k_last_block;
}

/// Some rows and some of the taps that each of them meets.
struct HeldRows {
  const double* rows;
  std::size_t row_length;
  std::size_t count;
  const double* factors;    ///< of the first tap
  std::size_t all_factors;  ///< from those of a row to those of the next
  const std::int64_t* from;
  std::size_t taps;
};

template <std::int64_t Width>
[[gnu::always_inline]] inline void add_block(double* __restrict sums, const double* row, const HeldRows& held) {
  double block[Width];
  for (std::int64_t j = 0; j < Width; ++j) block[j] = sums[j];
  const double* factors = held.factors;
  for (std::size_t r = 0; r < held.count; ++r) {
    for (std::size_t t = 0; t < held.taps; ++t) {
      const double factor = factors[t];
      const double* const numbers = row + held.from[t];
#pragma GCC unroll 4
      for (std::int64_t j = 0; j < Width; ++j) block[j] += factor * numbers[j];
    }
    row += held.row_length;
    factors += held.all_factors;
  }
  for (std::int64_t j = 0; j < Width; ++j) sums[j] = block[j];
}

KW_WIDEST_VECTORS void add_taps(double* sums, std::int64_t length, const HeldRows& held) {
  std::int64_t i = 0;
  for (; i + k_block <= length; i += k_block) add_block<k_block>(sums + i, held.rows + i, held);
  for (; i < length; i += k_last_block) add_block<k_last_block>(sums + i, held.rows + i, held);
}

}  // namespace

ElementRange places_of(const TapPlan& plan, std::int64_t row_length) {
  ElementRange places{row_length, 0};
  for (const auto& tap : plan.taps) {
    const std::int64_t first = plan.start + tap.lane;
    places.begin = std::min(places.begin, first);
    places.end = std::max(places.end, first + (tap.skip + plan.sums_in(tap.sums) - 1) * plan.step + 1);
  }
  return {std::max<std::int64_t>(places.begin, 0), std::min(places.end, row_length)};
}

TapSums::TapSums(const Operand& input, std::int64_t row_length, const Operand& weight, const TapPlan& plan)
    : input_(input), weight_(weight), plan_(plan), sum_length_(in_blocks(plan.sums_in(0))) {
  std::int64_t most_skip = 0;
  std::vector<std::int64_t> needed(static_cast<std::size_t>(plan.lanes), 0);
  for (const auto& tap : plan.taps) {
    most_skip = std::max(most_skip, tap.skip);
    auto& numbers = needed[static_cast<std::size_t>(tap.lane)];
    numbers = std::max(numbers, tap.skip + plan.sums_in(tap.sums));
  }
  lane_length_ = sum_length_ + most_skip;
  for (std::int64_t lane = 0; lane < plan.lanes; ++lane) {
    const std::int64_t place = plan.start + lane;
    const std::int64_t first = place >= 0 ? 0 : (-place + plan.step - 1) / plan.step;
    const std::int64_t end = place >= row_length ? 0 : (row_length - 1 - place) / plan.step + 1;
    inside_.push_back({first, std::min(end, needed[static_cast<std::size_t>(lane)])});
  }
  for (const auto& tap : plan.taps) from_.push_back(tap.lane * lane_length_ + tap.skip);
  const std::int64_t held_row = plan.lanes * lane_length_;
  most_rows_ = static_cast<std::size_t>(std::max<std::int64_t>(1, k_most_held / held_row));
  held_.resize(most_rows_ * static_cast<std::size_t>(held_row), 0.0);
  factors_.resize(most_rows_ * plan.taps.size());
  sums_.resize(static_cast<std::size_t>(plan.sum_lanes * sum_length_), 0.0);
}

void TapSums::add(std::int64_t row, std::int64_t taps) {
  double* const held = held_.data() + rows_ * static_cast<std::size_t>(plan_.lanes * lane_length_);
  for (std::int64_t lane = 0; lane < plan_.lanes; ++lane) {
    const auto [first, end] = inside_[static_cast<std::size_t>(lane)];
    if (first >= end) continue;
    read_numbers(std::span(held + lane * lane_length_ + first, static_cast<std::size_t>(end - first)), input_,
                 row + plan_.start + lane + first * plan_.step, plan_.step);
  }
  double* factor = factors_.data() + rows_ * plan_.taps.size();
  for (const auto& tap : plan_.taps) {
    *factor = weight_[taps + tap.tap];
    // Beside the input it would be multiplied by zeros.
    if (!std::isfinite(*factor)) {
      *factor = 0;
      add_alone(row, taps, tap);
    }
    ++factor;
  }
  if (++rows_ == most_rows_) flush();
}

/// What a single tap brings.
void TapSums::add_alone(std::int64_t row, std::int64_t taps, const TapPlan::Tap& tap) {
  const auto [first, end] = inside_[static_cast<std::size_t>(tap.lane)];
  for (std::int64_t i = 0; i < plan_.sums_in(tap.sums); ++i) {
    const std::int64_t number = i + tap.skip;
    if (number < first || number >= end) continue;
    const std::int64_t place = plan_.start + tap.lane + number * plan_.step;
    sums_[static_cast<std::size_t>(tap.sums * sum_length_ + i)] += weight_[taps + tap.tap] * input_[row + place];
  }
}

void TapSums::flush() {
  const auto& taps = plan_.taps;
  for (std::size_t first = 0; first < taps.size();) {
    std::size_t end = first;
    while (end < taps.size() && taps[end].sums == taps[first].sums) ++end;
    add_taps(sums_.data() + taps[first].sums * sum_length_, sum_length_,
             {held_.data(), static_cast<std::size_t>(plan_.lanes * lane_length_), rows_, factors_.data() + first,
              taps.size(), from_.data() + first, end - first});
    first = end;
  }
  rows_ = 0;
}

void TapSums::add_to(std::span<double> into) {
  flush();
  for (std::int64_t e = 0; e < plan_.elements; ++e) {
    into[static_cast<std::size_t>(e)] +=
        sums_[static_cast<std::size_t>(e % plan_.sum_lanes * sum_length_ + e / plan_.sum_lanes)];
  }
  std::ranges::fill(sums_, 0.0);
}

}  // namespace kw::program_oracle
