// Operators that only arrange elements: those that keep their order are other views of the same buffer, the others
// maps.

#include <algorithm>
#include <array>

#include "program/stages/decomposition_table.hpp"

namespace kw {
namespace {

Result<void> same_elements(Decomposition& d) {
  d.alias(0, d.tensor("input"));
  return {};
}

/// Output axis i is axis order[i] of the input.
void permuted(Decomposition& d, const std::vector<std::size_t>& order) {
  const auto frame = d.frame();
  StageIndices indices(frame.size());
  for (std::size_t i = 0; i < order.size(); ++i) indices[order[i]] = axis_index(frame[i].name);
  d.map(0, frame, load(d.tensor("input"), std::move(indices)));
}

std::vector<std::size_t> counted(std::size_t rank) {
  std::vector<std::size_t> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = i;
  return order;
}

Result<void> permute(Decomposition& d) {
  permuted(d, d.axes("dims", d.result().shape.size()));
  return {};
}

/// transpose and t.
Result<void> transpose(Decomposition& d) {
  const auto rank = d.result().shape.size();
  if (rank < (d.op() == "t" ? 2 : 1)) return same_elements(d);
  auto order = counted(rank);
  if (d.op() == "t") {
    std::swap(order[0], order[1]);
  } else {
    std::swap(order[d.axis("dim0", rank)], order[d.axis("dim1", rank)]);
  }
  permuted(d, order);
  return {};
}

Result<void> movedim(Decomposition& d) {
  const auto rank = d.result().shape.size();
  const auto from = d.axes("source", rank);
  const auto to = d.axes("destination", rank);
  std::vector<std::optional<std::size_t>> places(rank);
  for (std::size_t i = 0; i < from.size(); ++i) places[to[i]] = from[i];
  std::vector<std::size_t> order;
  std::size_t next = 0;
  for (const auto& place : places) {
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    order.push_back(place ? *place : next++);
  }
  permuted(d, order);
  return {};
}

Result<void> expand(Decomposition& d) {
  const auto frame = d.frame();
  d.map(0, frame, read(d.tensor("input"), frame));
  return {};
}

/// repeat and tile.
Result<void> repeat(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto frame = d.frame();
  const auto offset = frame.size() - input.type.shape.size();
  StageIndices indices;
  for (std::size_t i = 0; i < input.type.shape.size(); ++i) {
    indices.push_back(floor_modulo(axis_index(frame[i + offset].name), input.type.shape[i]));
  }
  d.map(0, frame, load(input, std::move(indices)));
  return {};
}

Result<void> repeat_interleave(Decomposition& d) {
  auto input = d.tensor("input");
  const auto frame = d.frame();
  if (!d.given("dim")) {
    KW_TRY(const auto count, element_count(input.type.shape));
    input.type.shape = {count};
  }
  const auto axis = d.given("dim") ? d.axis("dim", frame.size()) : 0;
  auto indices = indices_of(frame);
  indices[axis] = floor_divide(indices[axis], d.integer("repeats"));
  if (input.type.shape.empty()) indices.clear();
  d.map(0, frame, load(input, std::move(indices)));
  return {};
}

Result<void> flip(Decomposition& d) {
  const auto frame = d.frame();
  auto indices = indices_of(frame);
  if (!d.integers("dims").empty()) {
    for (const auto axis : d.axes("dims", frame.size())) {
      indices[axis] = StageExpr(frame[axis].extent) - 1 - indices[axis];
    }
  }
  d.map(0, frame, load(d.tensor("input"), std::move(indices)));
  return {};
}

/// Without dims the elements are rolled as one row.
Result<void> roll(Decomposition& d) {
  auto input = d.tensor("input");
  auto frame = d.frame();
  if (!d.given("dims") || d.integers("dims").empty()) {
    KW_TRY(const auto count, element_count(input.type.shape));
    input.type.shape = {count};
    frame = named_axes(input.type.shape);
  }
  const auto axes = frame.size() == 1 ? std::vector<std::size_t>{0} : d.axes("dims", frame.size());
  const auto shifts = d.integers("shifts");
  auto indices = indices_of(frame);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    indices[axes[i]] = floor_modulo(indices[axes[i]] - StageExpr(shifts[i]), frame[axes[i]].extent);
  }
  d.map(0, frame, load(input, std::move(indices)));
  return {};
}

/// tril and triu.
Result<void> triangle(Decomposition& d) {
  const auto frame = d.frame();
  const auto x = read(d.tensor("input"), frame);
  const auto row = axis_index(frame[frame.size() - 2].name);
  const auto column = axis_index(frame.back().name);
  const auto diagonal = row + StageExpr(d.integer("diagonal"));
  const auto zero = x->type == StageType::truth ? truth(false) : converted(0, x->type);
  d.map(0, frame, select(d.op() == "tril" ? column <= diagonal : column >= diagonal, x, zero));
  return {};
}

/// A matrix with "input" on its diagonal.
void diagonal_matrix(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto frame = d.frame();
  const auto& offset = d.integer("diagonal");
  const auto row = axis_index(frame[0].name);
  const auto column = axis_index(frame[1].name);
  const auto place = offset.value() < 0 ? column : row;
  const auto x = load(input, {place});
  d.map(0, frame, select(column == row + StageExpr(offset), x, converted(0, std::max(x->type, StageType::integer))));
}

/// diag and diagonal.
Result<void> diagonal(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto rank = input.type.shape.size();
  if (rank == 1) {
    diagonal_matrix(d);
    return {};
  }
  const bool plain = d.op() == "diag";
  const auto first = plain ? 0 : d.axis("dim1", rank);
  const auto second = plain ? 1 : d.axis("dim2", rank);
  const auto& offset = d.integer(plain ? "diagonal" : "offset");
  const auto frame = d.frame();
  const auto place = axis_index(frame.back().name);
  StageIndices indices;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (i == first) {
      indices.push_back(offset.value() < 0 ? place - StageExpr(offset) : place);
    } else if (i == second) {
      indices.push_back(offset.value() > 0 ? place + StageExpr(offset) : place);
    } else {
      indices.push_back(axis_index(frame[next++].name));
    }
  }
  d.map(0, frame, load(input, std::move(indices)));
  return {};
}

/// Floats of other sizes are the same numbers.
Result<void> convert(Decomposition& d) {
  const auto input = d.tensor("input");
  if (stage_type_of(input.type.dtype) == stage_type_of(d.result().dtype)) return same_elements(d);
  const auto frame = d.frame();
  d.map(0, frame, read(input, frame));
  return {};
}

constexpr std::array k_layout_decompositions = {
    DecompositionRow{"clone", same_elements},
    DecompositionRow{"contiguous", same_elements},
    DecompositionRow{"view", same_elements},
    DecompositionRow{"reshape", same_elements},
    DecompositionRow{"view_as", same_elements},
    DecompositionRow{"flatten", same_elements},
    DecompositionRow{"ravel", same_elements},
    DecompositionRow{"unflatten", same_elements},
    DecompositionRow{"squeeze", same_elements},
    DecompositionRow{"unsqueeze", same_elements},
    DecompositionRow{"permute", permute},
    DecompositionRow{"transpose", transpose},
    DecompositionRow{"t", transpose},
    DecompositionRow{"movedim", movedim},
    DecompositionRow{"expand", expand},
    DecompositionRow{"expand_as", expand},
    DecompositionRow{"repeat", repeat},
    DecompositionRow{"tile", repeat},
    DecompositionRow{"repeat_interleave", repeat_interleave},
    DecompositionRow{"flip", flip},
    DecompositionRow{"roll", roll},
    DecompositionRow{"tril", triangle},
    DecompositionRow{"triu", triangle},
    DecompositionRow{"diag", diagonal},
    DecompositionRow{"diagonal", diagonal},
    DecompositionRow{"to", convert},
};

}  // namespace

std::span<const DecompositionRow> layout_decompositions() {
  return k_layout_decompositions;
}

}  // namespace kw
