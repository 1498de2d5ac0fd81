// Joining, cutting and padding.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "program/stages/decomposition_table.hpp"

namespace kw {
namespace {

/// The pieces along `axis` as one expression: of the piece whose part of the axis the index lies in.
Result<StageExpr> joined(const std::vector<TensorView>& pieces, const StageAxes& frame, std::size_t axis,
                         ElementType type) {
  std::vector<StageExpr> values;
  std::vector<Extent> ends;
  Extent start = 0;
  for (const auto& piece : pieces) {
    auto indices = indices_of(frame);
    indices[axis] = indices[axis] - StageExpr(start);
    values.push_back(as_type(load(piece, std::move(indices)), type));
    KW_TRY(start, Extent::sum(start, piece.type.shape[axis]));
    ends.push_back(start);
  }
  StageExpr value = values.back();
  for (std::size_t i = values.size() - 1; i-- > 0;) {
    value = select(axis_index(frame[axis].name) < StageExpr(ends[i]), values[i], value);
  }
  return value;
}

/// Many pieces are joined in groups first: a kernel has room for so many arguments, and asks for each piece in turn.
Result<void> join(Decomposition& d, std::vector<TensorView> pieces, const StageAxes& frame, std::size_t axis) {
  constexpr std::size_t k_most = 16;
  while (pieces.size() > k_most) {
    std::vector<TensorView> groups;
    for (std::size_t first = 0; first < pieces.size(); first += k_most) {
      const std::vector<TensorView> group(
          pieces.begin() + static_cast<std::ptrdiff_t>(first),
          pieces.begin() + static_cast<std::ptrdiff_t>(std::min(first + k_most, pieces.size())));
      auto axes = frame;
      axes[axis].extent = 0;
      for (const auto& piece : group) {
        KW_TRY(axes[axis].extent, Extent::sum(axes[axis].extent, piece.type.shape[axis]));
      }
      KW_TRY(const auto value, joined(group, axes, axis, d.result().dtype));
      groups.push_back(d.map(to_scratch(fmt::format("part_{}", first / k_most)), axes, value));
    }
    pieces = std::move(groups);
  }
  KW_TRY(const auto value, joined(pieces, frame, axis, d.result().dtype));
  d.map(0, frame, value);
  return {};
}

Result<void> cat(Decomposition& d) {
  const auto frame = d.frame();
  return join(d, d.tensors("tensors"), frame, d.axis("dim", frame.size()));
}

/// Each piece gets an axis of 1 to be joined along.
Result<void> stack(Decomposition& d) {
  const auto frame = d.frame();
  const auto axis = d.axis("dim", frame.size());
  auto pieces = d.tensors("tensors");
  for (auto& piece : pieces) {
    auto& shape = piece.type.shape;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), Extent(1));
  }
  return join(d, std::move(pieces), frame, axis);
}

/// chunk, split and unbind: a map for each piece that is read.
Result<void> cut(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto axis = d.axis("dim", input.type.shape.size());
  const bool single = d.op() == "unbind";
  Extent start = 0;
  for (std::size_t piece = 0; piece < d.node().outputs.size(); ++piece) {
    const auto frame = d.frame(piece);
    auto indices = indices_of(frame);
    if (single) {
      indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(axis), StageExpr(start));
    } else {
      indices[axis] = indices[axis] + StageExpr(start);
    }
    if (d.wanted(piece)) d.map(piece, frame, load(input, std::move(indices)));
    KW_TRY(start, Extent::sum(start, single ? Extent(1) : frame[axis].extent));
  }
  return {};
}

/// The index into an axis of `extent` that a padded place stands for.
StageExpr mirrored(const StageExpr& index, const Extent& extent, const std::string& mode) {
  const auto last = StageExpr(extent) - 1;
  if (mode == "replicate") return minimum(maximum(index, 0), last);
  if (mode == "circular") return floor_modulo(index, extent);
  return last - absolute(last - absolute(index));
}

Result<void> pad(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto frame = d.frame();
  const auto amounts = d.integers("pad");
  const auto& mode = d.text("mode");
  auto indices = indices_of(frame);
  StageExpr held;
  for (std::size_t i = 0; i < amounts.size(); i += 2) {
    const auto axis = frame.size() - 1 - i / 2;
    if (amounts[i].is_constant() && amounts[i].value() == 0 && amounts[i + 1].is_constant() &&
        amounts[i + 1].value() == 0) {
      continue;
    }
    indices[axis] = indices[axis] - StageExpr(amounts[i]);
    if (mode == "constant") {
      held = both(held, inside(indices[axis], input.type.shape[axis]));
    } else {
      indices[axis] = mirrored(indices[axis], input.type.shape[axis], mode);
    }
  }
  const StageExpr fill = d.given("value") ? d.real("value") : 0.0;
  d.map(0, frame, select(held, load(input, std::move(indices)), as_type(fill, input.type.dtype)));
  return {};
}

constexpr std::array k_joining_decompositions = {
    DecompositionRow{"cat", cat},   DecompositionRow{"stack", stack}, DecompositionRow{"chunk", cut},
    DecompositionRow{"split", cut}, DecompositionRow{"unbind", cut},  DecompositionRow{"pad", pad},
};

}  // namespace

std::span<const DecompositionRow> joining_decompositions() {
  return k_joining_decompositions;
}

}  // namespace kw
