// Parts of tensors by numbers and by tensors of indices.

#include <array>
#include <optional>

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

/// How elements that meet in one place become one.
struct Meeting {
  ReduceOp op = ReduceOp::sum;
  bool is_mean = false;
  bool with_input = true;  ///< the element that was there is one of them
};

/// Nothing where the last of them replaces the others.
std::optional<Meeting> meeting(const Decomposition& d) {
  if (d.op() == "scatter_add") return Meeting{};
  if (d.op() == "scatter" && !d.given("reduce")) return std::nullopt;
  const auto& word = d.text("reduce");
  const bool with_input = d.op() == "scatter" || d.flag("include_self");
  if (word == "multiply" || word == "prod") return Meeting{ReduceOp::product, false, with_input};
  if (word == "amax") return Meeting{ReduceOp::maximum, false, with_input};
  if (word == "amin") return Meeting{ReduceOp::minimum, false, with_input};
  return Meeting{ReduceOp::sum, word == "mean", with_input};
}

StageExpr met(ReduceOp op, const StageExpr& a, const StageExpr& b) {
  if (op == ReduceOp::product) return a * b;
  if (op == ReduceOp::maximum) return maximum(a, b);
  if (op == ReduceOp::minimum) return minimum(a, b);
  return a + b;
}

/// `found` looks for the indices that name an element; its body is what is met there. How many they are is counted
/// where the result depends on it.
void add_meeting(Decomposition& d, const Meeting& how, Stage found) {
  const auto frame = found.axes;
  const auto own = load(d.tensor("input"), indices_of(frame));
  const auto result = reduction_result(found.body->type);
  found.op = how.op;
  found.epilogue = how.with_input ? met(how.op, own, result) : result;
  if (how.is_mean || !how.with_input) {
    Stage counted = found;
    counted.op = ReduceOp::sum;
    counted.body = StageExpr(1);
    counted.epilogue = StageExpr();
    const auto count = read(d.add(to_scratch("count"), std::move(counted)), frame);
    if (how.is_mean) {
      const auto all = how.with_input ? count + 1 : maximum(count, 1);
      found.epilogue = found.epilogue / converted(all, StageType::real);
    }
    if (!how.with_input) found.epilogue = select(count > 0, found.epilogue, own);
  }
  d.add(to_output(), std::move(found));
}

/// scatter, scatter_add and scatter_reduce, read backwards: each element looks for the indices that name it.
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
  const auto value = [&] {
    const auto given = d.is_tensor("src") ? load(d.tensor("src"), place) : d.number("src");
    return as_type(given, d.result().dtype);
  };
  if (const auto how = meeting(d)) {
    found.body = value();
    add_meeting(d, *how, std::move(found));
    return {};
  }
  found.op = ReduceOp::maximum;
  found.body = axis_index("source") + 1;
  const auto last = read(d.add(to_scratch("last"), std::move(found)), frame);
  place[axis] = last - 1;
  d.map(0, frame, select(last > 0, value(), load(input, indices_of(frame))));
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
    DecompositionRow{"scatter_reduce", scatter},
    DecompositionRow{"embedding", embedding},
    DecompositionRow{"one_hot", one_hot},
};

}  // namespace

std::span<const DecompositionRow> indexing_decompositions() {
  return k_indexing_decompositions;
}

}  // namespace kw
