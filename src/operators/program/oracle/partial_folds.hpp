#pragma once
// Numbers that follow from many terms each, as the mean of a tensor does: where there are few of them, threads share
// the terms of one.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "operators/program/oracle/answers.hpp"

namespace kw::program_oracle {

/// Terms of a part, at least, and parts of all numbers together, at most.
inline constexpr std::int64_t k_terms_of_part = 1 << 14;
inline constexpr std::int64_t k_most_parts = 512;

/// `results` numbers, each finish(pair) of what fold(result, first, end) gives of all of its `count` terms. Two parts
/// in succession are joined by join(pair, pair).
template <typename Fold, typename Join, typename Finish>
[[nodiscard]] Answer folded_in_parts(std::int64_t results, std::int64_t count, Fold fold, Join join, Finish finish) {
  const auto parts = std::min(count / k_terms_of_part, k_most_parts / std::max<std::int64_t>(results, 1));
  if (parts < 2) {
    return each_element([=](std::int64_t i) { return finish(fold(i, std::int64_t{0}, count)); });
  }
  // count * part may be larger than an integer.
  const auto first_of = [=](std::int64_t part) { return count / parts * part + std::min(part, count % parts); };
  const auto folds = std::make_shared<GroupStatistics>(results * parts, [fold, first_of, parts](std::int64_t group) {
    return fold(group / parts, first_of(group % parts), first_of(group % parts + 1));
  });
  return each_element(
      [join, finish, folds, parts](std::int64_t i) {
        GroupStatistics::Pair pair = folds->of(i * parts);
        for (std::int64_t part = 1; part < parts; ++part) pair = join(pair, folds->of(i * parts + part));
        return finish(pair);
      },
      folds);
}

/// The same by adding up.
template <typename Fold, typename Finish>
[[nodiscard]] Answer summed_in_parts(std::int64_t results, std::int64_t count, Fold fold, Finish finish) {
  using Pair = GroupStatistics::Pair;
  return folded_in_parts(
      results, count, std::move(fold),
      [](const Pair& a, const Pair& b) {
        return Pair{a.first + b.first, a.second + b.second};
      },
      std::move(finish));
}

}  // namespace kw::program_oracle
