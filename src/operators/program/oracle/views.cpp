// Layout operators whose elements lie along strides of the operand, also with several results.

#include <algorithm>
#include <array>
#include <optional>

#include "operators/program/oracle/answers.hpp"

namespace kw::program_oracle {
namespace {

/// The same elements in the same order.
Result<Answer> same_order(const OracleCall& call) {
  return each_in_place([input = call.tensor("input")](std::int64_t i) { return input[i]; });
}

Answer along(const OracleCall& call, const Operand& input, const Extents& strides, std::int64_t offset = 0) {
  return each_from_one(
      [input, map = StridedMap(call.output_extents(), strides, offset)](std::int64_t i) { return input[map(i)]; });
}

/// Axis i of the result is axis order[i] of the operand.
Answer in_order(const OracleCall& call, const Operand& input, const std::vector<std::size_t>& order) {
  const auto dense = strides_of(input.extents());
  Extents strides;
  for (const auto axis : order) strides.push_back(dense[axis]);
  return along(call, input, strides);
}

Result<Answer> permute(const OracleCall& call) {
  const auto input = call.tensor("input");
  return in_order(call, input, call.axes("dims", input.rank()));
}

Result<Answer> transposed(const OracleCall& call, std::int64_t first, std::int64_t second) {
  const auto input = call.tensor("input");
  std::vector<std::size_t> order(input.rank());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (order.size() > 1) std::swap(order[axis_of(first, order.size())], order[axis_of(second, order.size())]);
  return in_order(call, input, order);
}

Result<Answer> transpose(const OracleCall& call) {
  return transposed(call, call.integer("dim0"), call.integer("dim1"));
}

Result<Answer> t(const OracleCall& call) {
  return transposed(call, 0, -1);
}

/// The axes that are not named fill the free places in their order.
Result<Answer> movedim(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto source = call.axes("source", input.rank());
  const auto destination = call.axes("destination", input.rank());
  std::vector<std::optional<std::size_t>> placed(input.rank());
  for (std::size_t i = 0; i < source.size(); ++i) placed[destination[i]] = source[i];
  std::vector<std::size_t> order;
  std::size_t next = 0;
  for (const auto& axis : placed) {
    while (!axis && std::find(source.begin(), source.end(), next) != source.end()) ++next;
    order.push_back(axis ? *axis : next++);
  }
  return in_order(call, input, order);
}

Result<Answer> expand(const OracleCall& call) {
  const auto input = call.tensor("input");
  return along(call, input, broadcast_strides(input.extents(), call.output_extents()));
}

Result<Answer> select(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto axis = call.axis("dim", input.rank());
  auto strides = strides_of(input.extents());
  const auto index = call.integer("index");
  const auto offset = (index < 0 ? index + input.extent(axis) : index) * strides[axis];
  strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
  return along(call, input, strides, offset);
}

/// From `start` in steps; the reader has already moved the ends of a slice into the axis.
Result<Answer> part(const OracleCall& call, std::int64_t step) {
  const auto input = call.tensor("input");
  const auto axis = call.axis("dim", input.rank());
  auto strides = strides_of(input.extents());
  const auto offset = call.given("start") ? call.integer("start") * strides[axis] : 0;
  strides[axis] *= step;
  return along(call, input, strides, offset);
}

Result<Answer> narrow(const OracleCall& call) {
  return part(call, 1);
}

Result<Answer> slice(const OracleCall& call) {
  return part(call, call.integer("step"));
}

Result<Answer> flip(const OracleCall& call) {
  const auto input = call.tensor("input");
  auto strides = strides_of(input.extents());
  std::int64_t offset = 0;
  for (const auto axis : call.axes("dims", input.rank())) {
    offset += (input.extent(axis) - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  return along(call, input, strides, offset);
}

/// The diagonal becomes the last axis. Above the main one it starts further right, below it further down.
Answer diagonal_of(const OracleCall& call, const Operand& input, std::int64_t diagonal, std::size_t rows,
                   std::size_t columns) {
  auto strides = strides_of(input.extents());
  const auto offset = diagonal >= 0 ? diagonal * strides[columns] : -diagonal * strides[rows];
  const auto both = strides[rows] + strides[columns];
  for (const auto axis : {std::max(rows, columns), std::min(rows, columns)})
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
  strides.push_back(both);
  return along(call, input, strides, offset);
}

Result<Answer> diagonal(const OracleCall& call) {
  const auto input = call.tensor("input");
  return diagonal_of(call, input, call.integer("offset"), call.axis("dim1", input.rank()),
                     call.axis("dim2", input.rank()));
}

/// The diagonal of a matrix, or the matrix with this diagonal.
Result<Answer> diag(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto offset = call.integer("diagonal");
  if (input.rank() > 1) return diagonal_of(call, input, offset, 0, 1);
  const auto side = call.output_extents()[0];
  return each_from_one([input, side, offset](std::int64_t i) {
    const auto row = i / side;
    const auto column = i % side;
    return column - row == offset ? input[offset >= 0 ? row : column] : 0.0;
  });
}

/// chunk and split: results that lie behind each other along an axis.
Result<Answer> cut(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto axis = call.axis("dim", input.rank());
  const auto strides = strides_of(input.extents());
  std::vector<StridedMap> pieces;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    const auto extents = call.output_extents(i);
    pieces.emplace_back(extents, strides, start * strides[axis]);
    start += extents[axis];
  }
  return ByElement{[input, pieces](std::size_t output, std::int64_t i) { return input[pieces[output](i)]; }, nullptr,
                   Reach::one, true};
}

Result<Answer> unbind(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto axis = call.axis("dim", input.rank());
  auto strides = strides_of(input.extents());
  const auto step = strides[axis];
  strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
  const StridedMap map(call.output_extents(), strides);
  return ByElement{[input, step, map](std::size_t output, std::int64_t i) {
                     return input[map(i) + static_cast<std::int64_t>(output) * step];
                   },
                   nullptr, Reach::one};
}

constexpr std::array k_view_answers = {
    OracleRow{"view", same_order},
    OracleRow{"reshape", same_order},
    OracleRow{"view_as", same_order},
    OracleRow{"flatten", same_order},
    OracleRow{"ravel", same_order},
    OracleRow{"unflatten", same_order},
    OracleRow{"squeeze", same_order},
    OracleRow{"unsqueeze", same_order},
    OracleRow{"permute", permute},
    OracleRow{"transpose", transpose},
    OracleRow{"t", t},
    OracleRow{"movedim", movedim},
    OracleRow{"expand", expand},
    OracleRow{"expand_as", expand},
    OracleRow{"select", select},
    OracleRow{"narrow", narrow},
    OracleRow{"slice", slice},
    OracleRow{"flip", flip},
    OracleRow{"diagonal", diagonal},
    OracleRow{"diag", diag},
    OracleRow{"chunk", cut},
    OracleRow{"split", cut},
    OracleRow{"unbind", unbind},
};

}  // namespace

std::span<const OracleRow> view_answers() {
  return k_view_answers;
}

}  // namespace kw::program_oracle
