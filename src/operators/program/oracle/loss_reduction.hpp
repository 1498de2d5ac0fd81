#pragma once
// How the losses of torch.nn become one number.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/partial_folds.hpp"

namespace kw::program_oracle {

/// loss(i) for each of `count` elements as they are ('none'), or their sum over `divisor` ('mean': how many they are;
/// 'batchmean': how many rows).
template <typename Loss>
[[nodiscard]] Answer reduced_loss(const OracleCall& call, std::int64_t count, std::int64_t rows, Loss loss) {
  const auto& reduction = call.text("reduction");
  if (reduction == "none") return each_element(std::move(loss));
  const auto divisor = reduction == "sum" ? 1 : reduction == "mean" ? count : rows;
  return summed_in_parts(
      1, count,
      [loss = std::move(loss)](std::int64_t, std::int64_t first, std::int64_t end) {
        GroupStatistics::Pair sum;
        for (auto i = first; i < end; ++i) sum.first += loss(i);
        return sum;
      },
      [divisor](const GroupStatistics::Pair& sum) { return sum.first / static_cast<double>(divisor); });
}

}  // namespace kw::program_oracle
