#pragma once
// The numbers of a problem's tensors, as the oracle reads and gives them.

#include <cstdint>
#include <vector>

namespace kw {

/// Input values in the order of Problem::inputs, each row-major. f16 and bf16 tensors hold values already rounded to
/// their type, captured integers and booleans their value.
using InputValues = std::vector<std::vector<float>>;
/// Output values in the order of Problem::outputs, in double precision: not rounded to the type they are stored in.
using OutputValues = std::vector<std::vector<double>>;

/// Elements of a tensor, by flat index: `begin` up to, not including, `end`.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
/// By operand: ranges that ascend and do not overlap.
using OperandReads = std::vector<std::vector<ElementRange>>;

/// Some elements of an output.
struct AnswerSample {
  std::vector<std::int64_t> elements;  ///< flat indices, ascending
  std::vector<double> values;          ///< of these
};

}  // namespace kw
