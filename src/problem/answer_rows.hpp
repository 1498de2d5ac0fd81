#pragma once
// Parts of an answer: the oracle is asked for some rows of one that would take it long.

#include <cstdint>
#include <functional>

namespace kw {

/// What the oracle's answer costs. Not its FLOPs alone: a softmax has few of them, and answering one element of it on
/// demand took 150 ns of a core (Zen 5 class, 2026-11-23), in which a product makes hundreds.
struct AnswerWork {
  double flops = 0;  ///< useful ones
  double elements = 0;
};

/// As many rows are answered in any case.
inline constexpr std::int64_t k_least_rows = 32;
/// What the oracle may cost beyond them for a timed launch: some ten milliseconds of a core. The best had ten launches.
inline constexpr AnswerWork k_work_of_launch{2e7, 65536};

/// How an answer is divided into rows, of which the oracle answers some. What a row is the operator says; it costs the
/// same for each.
struct AnswerRows {
  std::int64_t rows = 1;
  /// Into which they fall, as many into each: rows of one follow from the same elements, of which there are many, and
  /// rows of others from other ones.
  std::int64_t slices = 1;
  /// Those that are asked for: as many as can be paid for, where slices share the work of the whole answer evenly. Two
  /// at least where there are more.
  std::int64_t fewest_slices = 1;
  std::int64_t most_slices = 1;
  /// What all rows would cost if each were answered by itself, or each slice: what several rows follow from is computed
  /// once for all of them, and hardly ever for two of a few.
  AnswerWork apart = {};
  /// The row at that place of a slice. Null where slices are rows in succession.
  std::function<std::int64_t(std::int64_t slice, std::int64_t place)> row_of = nullptr;
};

}  // namespace kw
