// The largest and smallest elements with their places. Of equal elements the first one counts, as PyTorch has it on a
// CPU for max, min, argmax and argmin; topk leaves the order of equal ones open there, here the first comes first. NaN
// counts as larger than everything, and for a minimum as smaller.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "operators/program/oracle/answers.hpp"

namespace kw::program_oracle {
namespace {

/// Whether `a` is better than `b`.
bool beats(double a, double b, bool largest) {
  if (std::isnan(b)) return false;
  return std::isnan(a) || (largest ? a > b : a < b);
}

/// Along one axis, or over all elements for None. Outputs: values and places, or only one of them.
Result<Answer> extremum(const OracleCall& call, bool largest, bool only_place) {
  const auto input = call.tensor("input");
  const auto space = split_space(input.extents(), call.axes("dim", input.rank()));
  return by_groups(ByElement{[input, space, largest, only_place](std::size_t output, std::int64_t i) {
                     const auto start = space.kept(i);
                     std::int64_t best = 0;
                     double value = input[start + space.walked(0)];
                     for (std::int64_t k = 1; k < space.walked.count(); ++k) {
                       const double x = input[start + space.walked(k)];
                       if (!beats(x, value, largest)) continue;
                       best = k;
                       value = x;
                     }
                     return only_place || output == 1 ? static_cast<double>(best) : value;
                   }},
                   OperandGroups{space, [](std::int64_t result) { return result; }});
}

/// Sorted, the best one first.
Result<Answer> topk(const OracleCall& call) {
  const auto input = call.tensor("input");
  const bool largest = call.truth("largest");
  const auto axis = call.axis("dim", input.rank());
  const Lines from(input.extents(), axis);
  const Lines to(call.output_extents(), axis);
  return ByLine{to,
                [input, from, to, largest](std::int64_t line, std::span<std::vector<double>> outputs) {
                  const auto start = from.start(line);
                  std::vector<double> values;
                  for (std::int64_t k = 0; k < from.length; ++k) values.push_back(input[start + k * from.stride]);
                  std::vector<std::size_t> order(values.size());
                  std::iota(order.begin(), order.end(), 0);
                  std::stable_sort(order.begin(), order.end(),
                                   [&](std::size_t a, std::size_t b) { return beats(values[a], values[b], largest); });
                  for (std::size_t k = 0; k < static_cast<std::size_t>(to.length); ++k) {
                    outputs[0][k] = values[order[k]];
                    outputs[1][k] = static_cast<double>(order[k]);
                  }
                },
                true};
}

constexpr std::array k_extremum_answers = {
    OracleRow{"max", [](const OracleCall& call) { return extremum(call, true, false); }},
    OracleRow{"min", [](const OracleCall& call) { return extremum(call, false, false); }},
    OracleRow{"argmax", [](const OracleCall& call) { return extremum(call, true, true); }},
    OracleRow{"argmin", [](const OracleCall& call) { return extremum(call, false, true); }},
    OracleRow{"topk", topk},
};

}  // namespace

std::span<const OracleRow> extremum_answers() {
  return k_extremum_answers;
}

}  // namespace kw::program_oracle
