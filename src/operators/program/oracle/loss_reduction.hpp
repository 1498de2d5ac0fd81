#pragma once
// How the losses of torch.nn become one number.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "operators/program/oracle/answers.hpp"

namespace kw::program_oracle {

/// loss(i) for each of `count` elements as they are ('none'), or their sum over `divisor` ('mean': how many they are;
/// 'batchmean': how many rows).
template <typename Loss>
[[nodiscard]] Answer reduced_loss(const OracleCall& call, std::int64_t count, std::int64_t rows, Loss loss) {
  const auto& reduction = call.text("reduction");
  if (reduction == "none") return each_element(std::move(loss));
  const auto divisor = reduction == "sum" ? 1 : reduction == "mean" ? count : rows;
  return each_element([count, divisor, loss = std::move(loss)](std::int64_t) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < count; ++i) sum += loss(i);
    return sum / static_cast<double>(divisor);
  });
}

}  // namespace kw::program_oracle
