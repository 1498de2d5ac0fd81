// What a line's own maximum, sum or norm is needed for, and keeps its elements.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/special_functions.hpp"

namespace kw::program_oracle {
namespace {

/// exp(sign * x) over the sum of all of them along the axis, or its logarithm.
Result<Answer> softmax_along(const OracleCall& call, double sign, bool logarithm) {
  const auto input = call.tensor("input");
  const Lines lines(input.extents(), call.axis("dim", input.rank()));
  const auto statistics = std::make_shared<GroupStatistics>(lines.count, [input, lines, sign](std::int64_t line) {
    GroupStatistics::Pair pair{-std::numeric_limits<double>::infinity(), 0.0};
    const auto start = lines.start(line);
    for (std::int64_t i = 0; i < lines.length; ++i)
      pair.first = larger_of(pair.first, sign * input[start + i * lines.stride]);
    for (std::int64_t i = 0; i < lines.length; ++i)
      pair.second += std::exp(sign * input[start + i * lines.stride] - pair.first);
    return pair;
  });
  const auto axis = call.axis("dim", input.rank());
  const auto space = split_space(input.extents(), {axis});
  return by_groups(
      each_element(
          [input, lines, sign, logarithm, statistics](std::int64_t i) {
            const auto [largest, total] = statistics->of(lines.line_of(i));
            const double x = sign * input[i] - largest;
            return logarithm ? x - std::log(total) : std::exp(x) / total;
          },
          statistics),
      OperandGroups{space, [lines](std::int64_t i) { return lines.line_of(i); }, lines.stride == 1 ? lines.length : 1});
}

/// Divided by the norm over the axes, which is at least eps.
Result<Answer> normalize(const OracleCall& call) {
  const auto input = call.tensor("input");
  const double order = call.number("p");
  const double eps = call.number("eps");
  const auto axes = call.axes("dim", input.rank());
  const auto space = split_space(input.extents(), axes);
  // Of an element the group is its place with 0 on the axes of the norm.
  auto strides = Extents(input.rank(), 0);
  std::int64_t groups = 1;
  for (std::size_t i = input.rank(); i-- > 0;) {
    if (std::find(axes.begin(), axes.end(), i) != axes.end()) continue;
    strides[i] = groups;
    groups *= input.extent(i);
  }
  const auto statistics = std::make_shared<GroupStatistics>(groups, [input, space, order](std::int64_t group) {
    const auto start = space.kept(group);
    double total = 0.0;
    for (std::int64_t i = 0; i < space.walked.count(); ++i) {
      const double x = std::fabs(input[start + space.walked(i)]);
      total = std::isinf(order) ? larger_of(total, x) : total + (order == 2.0 ? x * x : std::pow(x, order));
    }
    const double norm = std::isinf(order) ? total : order == 2.0 ? std::sqrt(total) : std::pow(total, 1.0 / order);
    return GroupStatistics::Pair{norm, 0.0};
  });
  const StridedMap group_of(input.extents(), strides);
  return by_groups(
      each_element([input, statistics, eps,
                    group_of](std::int64_t i) { return input[i] / larger_of(statistics->of(group_of(i)).first, eps); },
                   statistics),
      OperandGroups{space, group_of});
}

constexpr std::array k_softmax_answers = {
    OracleRow{"softmax", [](const OracleCall& call) { return softmax_along(call, 1.0, false); }},
    OracleRow{"softmin", [](const OracleCall& call) { return softmax_along(call, -1.0, false); }},
    OracleRow{"log_softmax", [](const OracleCall& call) { return softmax_along(call, 1.0, true); }},
    OracleRow{"normalize", normalize},
};

}  // namespace

std::span<const OracleRow> softmax_answers() {
  return k_softmax_answers;
}

}  // namespace kw::program_oracle
