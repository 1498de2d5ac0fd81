#pragma once
// What the taps of a convolution add to neighbouring elements of a row of its result.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "operators/program/oracle/operand.hpp"
#include "problem/values.hpp"

namespace kw::program_oracle {

/// How the taps of a row of the kernel meet a row of the input. Elements that a tap reads, and those that it adds to,
/// follow each other in lanes: those of every stride-th place.
struct TapPlan {
  struct Tap {
    std::int64_t tap = 0;   ///< in its row of the kernel
    std::int64_t lane = 0;  ///< of the input
    std::int64_t skip = 0;  ///< element i of a lane of the sums gets element i + skip of it, 0 or more
    std::int64_t sums = 0;  ///< lane of the sums
  };

  std::vector<Tap> taps;       ///< those of a lane of the sums in succession
  std::int64_t elements = 0;   ///< of the row of the result
  std::int64_t sum_lanes = 1;  ///< element e of the result is number e / sum_lanes of lane e % sum_lanes
  std::int64_t start = 0;      ///< place in the row of the input of the first number of lane 0; may lie outside
  std::int64_t lanes = 1;      ///< of the input; number i of a lane is at place start + lane + i * step
  std::int64_t step = 1;

  /// Elements of the result in a lane of the sums.
  [[nodiscard]] std::int64_t sums_in(std::int64_t lane) const { return (elements - lane + sum_lanes - 1) / sum_lanes; }
};

/// Places of a row of the input that sums by the plan may read, within its `row_length` elements.
[[nodiscard]] ElementRange places_of(const TapPlan& plan, std::int64_t row_length);

/// Rows of the input are held for a while, so that sums stay in registers for many taps. Places beside the input bring
/// nothing.
class TapSums {
 public:
  /// Of rows of `row_length` elements of `input`. Operands and the plan must outlive it.
  TapSums(const Operand& input, std::int64_t row_length, const Operand& weight, const TapPlan& plan);

  /// A row of the input that begins with element `row`, and a row of the kernel that begins with element `taps`.
  void add(std::int64_t row, std::int64_t taps);
  /// into[e] += sum of element e. The next sums begin with 0.
  void add_to(std::span<double> into);

 private:
  /// Of a lane of the input, the numbers that lie within the row.
  struct Inside {
    std::int64_t first = 0;
    std::int64_t end = 0;
  };

  void add_alone(std::int64_t row, std::int64_t taps, const TapPlan::Tap& tap);
  void flush();

  const Operand& input_;
  const Operand& weight_;
  const TapPlan& plan_;
  std::int64_t sum_length_;   ///< of a lane of the sums, in whole vectors
  std::int64_t lane_length_;  ///< of a lane of a held row
  std::vector<Inside> inside_;
  std::vector<std::int64_t> from_;  ///< by tap of the plan: where its numbers begin in a held row
  std::size_t most_rows_;
  std::size_t rows_ = 0;         ///< held
  std::vector<double> held_;     ///< rows, each of all lanes
  std::vector<double> factors_;  ///< by row: of the plan's taps
  std::vector<double> sums_;
};

}  // namespace kw::program_oracle
