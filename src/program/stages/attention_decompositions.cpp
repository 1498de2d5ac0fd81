// Scaled dot-product attention, written out: scores, their softmax, and the weighted sum of the values.

#include <array>
#include <cmath>
#include <limits>

#include "program/stages/decomposition_table.hpp"
#include "program/stages/moments.hpp"

namespace kw {
namespace {

/// The leading indices of a query, key or value; grouped heads of the query share those of keys.
StageIndices batch_place(const Decomposition& d, const TensorView& tensor, const StageAxes& batch) {
  StageIndices place;
  const auto& shape = tensor.type.shape;
  const auto outer = shape.size() - 2;
  for (std::size_t i = 0; i < outer; ++i) {
    const auto& axis = batch[i + batch.size() - outer];
    auto index = axis_index(axis.name);
    const bool grouped = d.flag("enable_gqa") && i + 1 == outer;
    if (grouped) {
      // Neighbouring heads of the query share a head of keys.
      const auto group = Extent::quotient(axis.extent, shape[i]);
      index = floor_divide(index, group ? StageExpr(*group) : StageExpr(1));
    } else if (shape[i].value() == 1 && shape[i].text() != axis.extent.text()) {
      index = 0;
    }
    place.push_back(index);
  }
  return place;
}

StageExpr element(const Decomposition& d, const TensorView& tensor, const StageAxes& batch, const char* row,
                  const char* column) {
  auto place = batch_place(d, tensor, batch);
  place.push_back(axis_index(row));
  place.push_back(axis_index(column));
  return load(tensor, std::move(place));
}

/// The scaled scores, with what the mask adds or takes away.
StageExpr masked(const Decomposition& d, const StageAxes& scores, const StageExpr& score) {
  constexpr double k_never = -std::numeric_limits<double>::infinity();
  if (d.flag("is_causal")) return select(axis_index("key") <= axis_index("query"), score, k_never);
  if (!d.given("attn_mask")) return score;
  const auto mask = read(d.tensor("attn_mask"), scores);
  return mask->type == StageType::truth ? select(mask, score, k_never) : score + mask;
}

Result<void> attention(Decomposition& d) {
  const auto query = d.tensor("query");
  const auto key = d.tensor("key");
  const auto value = d.tensor("value");
  const auto& shape = d.result().shape;
  StageAxes batch;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) batch.push_back({fmt::format("b{}", i), shape[i]});
  StageAxes rows = batch;
  rows.push_back({"query", shape[shape.size() - 2]});
  StageAxes scores = rows;
  const auto& keys = key.type.shape[key.type.shape.size() - 2];
  scores.push_back({"key", keys});
  const auto& width = query.type.shape.back();
  const StageExpr scale =
      d.given("scale") ? StageExpr(d.real("scale")) : apply(StageOp::rsqrt, converted(width, StageType::real));
  Stage product;
  product.kind = StageKind::reduce;
  product.axes = scores;
  product.inner = {{"e", width}};
  product.body = element(d, query, batch, "query", "e") * element(d, key, batch, "key", "e");
  product.epilogue = masked(d, scores, reduction_result(StageType::real) * scale);
  const auto score = read(d.add(to_scratch("scores"), std::move(product)), scores);
  Stage largest;
  largest.kind = StageKind::reduce;
  largest.op = ReduceOp::maximum;
  largest.axes = rows;
  largest.inner = {scores.back()};
  largest.body = score;
  const auto most = load(d.add(to_scratch("max"), std::move(largest)), indices_of(rows));
  // A row without keys has no largest score; its probabilities are zeros.
  const auto weight = select(most == -std::numeric_limits<double>::infinity(), 0.0, apply(StageOp::exp, score - most));
  Stage sum;
  sum.kind = StageKind::reduce;
  sum.axes = rows;
  sum.inner = {scores.back()};
  sum.body = weight;
  const auto total = load(d.add(to_scratch("sum"), std::move(sum)), indices_of(rows));
  Stage output;
  output.kind = StageKind::reduce;
  output.axes = rows;
  output.axes.push_back({"v", shape.back()});
  output.inner = {scores.back()};
  output.body = weight * element(d, value, batch, "key", "v");
  output.epilogue = select(total == 0, 0.0, reduction_result(StageType::real) / total);
  d.add(to_output(), std::move(output));
  return {};
}

constexpr std::array k_attention_decompositions = {
    DecompositionRow{"scaled_dot_product_attention", attention},
};

}  // namespace

std::span<const DecompositionRow> attention_decompositions() {
  return k_attention_decompositions;
}

}  // namespace kw
