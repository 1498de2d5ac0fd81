// Parts of tensors by numbers and by tensors of indices.

#include <array>

#include "program/operators/operator_call.hpp"
#include "program/stages/decomposition_table.hpp"

namespace kw {
namespace {

/// Negative numbers count from the end.
StageExpr from_start(const Extent& index, const Extent& extent) {
  return index.value() < 0 ? StageExpr(extent) + StageExpr(index) : StageExpr(index);
}

StageExpr from_start(const StageExpr& index, const Extent& extent) {
  return select(index < 0, index + StageExpr(extent), index);
}

Result<void> select_index(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto axis = d.axis("dim", input.type.shape.size());
  const auto frame = d.frame();
  auto indices = indices_of(frame);
  indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(axis),
                 from_start(d.integer("index"), input.type.shape[axis]));
  d.map(0, frame, load(input, std::move(indices)));
  return {};
}

/// narrow and slice.
Result<void> slice(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto frame = d.frame();
  const auto axis = d.axis("dim", frame.size());
  auto indices = indices_of(frame);
  if (d.op() == "slice") indices[axis] = indices[axis] * StageExpr(d.integer("step"));
  if (d.given("start")) indices[axis] = indices[axis] + StageExpr(d.integer("start"));
  d.map(0, frame, load(input, std::move(indices)));
  return {};
}

/// x[:, i, j]: tensors of indices, broadcast to each other, in the place of axes.
Result<void> index(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto axis = static_cast<std::size_t>(d.integer("dim").value());
  const auto tensors = d.tensors("indices");
  const auto frame = d.frame();
  Shape common;
  for (const auto& one : tensors) {
    KW_TRY(common, broadcast(common, one.type.shape));
  }
  const auto begin = frame.begin() + static_cast<std::ptrdiff_t>(axis);
  const StageAxes shared(begin, begin + static_cast<std::ptrdiff_t>(common.size()));
  StageIndices indices;
  for (std::size_t i = 0; i < input.type.shape.size(); ++i) {
    if (i < axis) {
      indices.push_back(axis_index(frame[i].name));
    } else if (i < axis + tensors.size()) {
      indices.push_back(from_start(read(tensors[i - axis], shared), input.type.shape[i]));
    } else {
      indices.push_back(axis_index(frame[i - tensors.size() + common.size()].name));
    }
  }
  d.map(0, frame, load(input, std::move(indices)));
  return {};
}

/// gather and take_along_dim.
Result<void> gather(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto frame = d.frame();
  auto indices = indices_of(frame);
  if (!frame.empty()) indices[d.axis("dim", frame.size())] = read(d.tensor("index"), frame);
  d.map(0, frame, load(input, std::move(indices)));
  return {};
}

Result<void> index_select(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto chosen = d.tensor("index");
  const auto frame = d.frame();
  const auto axis = d.axis("dim", frame.size());
  auto indices = indices_of(frame);
  indices[axis] = load(chosen, chosen.type.shape.empty() ? StageIndices{} : StageIndices{indices[axis]});
  d.map(0, frame, load(input, std::move(indices)));
  return {};
}

/// scatter and scatter_add, read backwards: each element looks for the indices that name it. The last one wins.
Result<void> scatter(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto index = d.tensor("index");
  const auto frame = d.frame();
  if (frame.empty()) return d.unsupported(d.op() + " of a single number has no kernels", "use torch.where");
  const auto axis = d.axis("dim", frame.size());
  const auto& source_extent = index.type.shape[axis];
  auto place = indices_of(frame);
  place[axis] = axis_index("source");
  Stage found;
  found.kind = StageKind::reduce;
  found.axes = frame;
  found.inner = {{"source", source_extent}};
  // The index tensor may be shorter than the input along the other axes.
  for (std::size_t i = 0; i < frame.size(); ++i) {
    if (i != axis && index.type.shape[i].text() != frame[i].extent.text())
      found.guards.push_back(axis_index(frame[i].name) < StageExpr(index.type.shape[i]));
  }
  found.guards.push_back(load(index, place) == axis_index(frame[axis].name));
  const bool tensor = d.is_tensor("src");
  if (d.op() == "scatter_add") {
    found.body = as_type(load(d.tensor("src"), place), d.result().dtype);
    found.epilogue = load(input, indices_of(frame)) + reduction_result(found.body->type);
    d.add(to_output(), std::move(found));
    return {};
  }
  found.op = ReduceOp::maximum;
  found.body = axis_index("source") + 1;
  const auto last = read(d.add(to_scratch("last"), std::move(found)), frame);
  place[axis] = last - 1;
  const auto value = tensor ? load(d.tensor("src"), place) : d.number("src");
  d.map(0, frame, select(last > 0, as_type(value, d.result().dtype), load(input, indices_of(frame))));
  return {};
}

Result<void> embedding(Decomposition& d) {
  if (d.given("max_norm")) return d.unsupported("embedding with max_norm has no kernels", "leave max_norm out");
  const auto frame = d.frame();
  const StageAxes places(frame.begin(), frame.end() - 1);
  d.map(0, frame, load(d.tensor("weight"), {read(d.tensor("input"), places), axis_index(frame.back().name)}));
  return {};
}

Result<void> one_hot(Decomposition& d) {
  const auto frame = d.frame();
  const StageAxes places(frame.begin(), frame.end() - 1);
  d.map(0, frame, read(d.tensor("input"), places) == axis_index(frame.back().name));
  return {};
}

constexpr std::array k_indexing_decompositions = {
    DecompositionRow{"select", select_index},
    DecompositionRow{"narrow", slice},
    DecompositionRow{"slice", slice},
    DecompositionRow{"index", index},
    DecompositionRow{"gather", gather},
    DecompositionRow{"take_along_dim", gather},
    DecompositionRow{"index_select", index_select},
    DecompositionRow{"scatter", scatter},
    DecompositionRow{"scatter_add", scatter},
    DecompositionRow{"embedding", embedding},
    DecompositionRow{"one_hot", one_hot},
};

}  // namespace

std::span<const DecompositionRow> indexing_decompositions() {
  return k_indexing_decompositions;
}

}  // namespace kw
