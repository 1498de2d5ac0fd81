// Norms of vectors, and what is measured with them.

#include <array>
#include <cmath>
#include <limits>

#include "program/operators/operator_call.hpp"
#include "program/stages/decomposition_table.hpp"
#include "program/stages/moments.hpp"

namespace kw {
namespace {

/// How a norm of order p is reduced: the body of an element and the epilogue.
struct NormRule {
  ReduceOp op = ReduceOp::sum;
  StageExpr body;
  StageExpr epilogue;
};

NormRule norm_rule(const StageExpr& x, double p) {
  const auto sum = reduction_result(StageType::real);
  if (p == std::numeric_limits<double>::infinity()) return {ReduceOp::maximum, absolute(x), {}};
  if (p == -std::numeric_limits<double>::infinity()) return {ReduceOp::minimum, absolute(x), {}};
  if (p == 0.0) return {ReduceOp::sum, converted(x != 0, StageType::real), {}};
  if (p == 1.0) return {ReduceOp::sum, absolute(x), {}};
  if (p == 2.0) return {ReduceOp::sum, x * x, apply(StageOp::sqrt, sum)};
  return {ReduceOp::sum, apply(StageOp::power, absolute(x), p), apply(StageOp::power, sum, 1.0 / p)};
}

TensorView norm_over(Decomposition& d, const StageTarget& target, const StageAxes& frame,
                     const std::vector<std::size_t>& reduced, const StageExpr& x, double p) {
  auto split = split_axes(frame, reduced);
  auto rule = norm_rule(converted(x, StageType::real), p);
  Stage stage;
  stage.op = rule.op;
  stage.axes = std::move(split.kept);
  stage.inner = std::move(split.reduced);
  stage.body = std::move(rule.body);
  stage.epilogue = std::move(rule.epilogue);
  Shape shape;
  for (const auto& axis : frame) shape.push_back(axis.extent);
  return with_kept_axes(d.reduce_in_parts(target, std::move(stage)), shape, reduced);
}

/// norm and vector_norm: of order 2 where nothing or 'fro' is written.
Result<void> norm(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto frame = named_axes(input.type.shape);
  const std::string name = d.op() == "norm" ? "p" : "ord";
  const auto* order = d.node().find(name);
  double p = 2.0;
  if (const auto* written = std::get_if<std::string>(&order->value)) {
    if (*written != "fro")
      return d.unsupported("the norm '" + *written + "' has no kernels", "write 'fro' or a number");
  } else if (d.given(name)) {
    p = d.real(name);
  }
  static_cast<void>(norm_over(d, to_output(), frame,
                              frame.empty() ? std::vector<std::size_t>{} : d.axes("dim", frame.size()),
                              read(input, frame), p));
  return {};
}

/// x / max(norm(x), eps)
Result<void> normalize(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto frame = named_axes(input.type.shape);
  const auto x = converted(read(input, frame), StageType::real);
  const auto length = norm_over(d, to_scratch("norm"), frame, d.axes("dim", frame.size()), x, d.real("p"));
  d.map(0, frame, x / maximum(read(length, frame), d.real("eps")));
  return {};
}

/// The frame of what two operands broadcast to, and the axis of `dim` (the last one where there is none) in it.
struct PairFrame {
  StageAxes axes;
  std::vector<std::size_t> reduced;
  StageExpr first;
  StageExpr second;
};

Result<PairFrame> pair_frame(const Decomposition& d) {
  const auto first = d.tensor("x1");
  const auto second = d.tensor("x2");
  KW_TRY(const auto shape, broadcast(first.type.shape, second.type.shape));
  PairFrame pair;
  pair.axes = named_axes(shape);
  pair.reduced = {d.given("dim") ? d.axis("dim", shape.size()) : shape.size() - 1};
  pair.first = converted(read(first, pair.axes), StageType::real);
  pair.second = converted(read(second, pair.axes), StageType::real);
  return pair;
}

/// sum(a * b) / (max(norm(a), eps) * max(norm(b), eps))
Result<void> cosine_similarity(Decomposition& d) {
  KW_TRY(const auto pair, pair_frame(d));
  const auto first = norm_over(d, to_scratch("norm1"), pair.axes, pair.reduced, pair.first, 2.0);
  const auto second = norm_over(d, to_scratch("norm2"), pair.axes, pair.reduced, pair.second, 2.0);
  const auto kept = split_axes(pair.axes, pair.reduced).kept;
  const auto at = [&](TensorView norm) {
    norm.type.shape.erase(norm.type.shape.begin() + static_cast<std::ptrdiff_t>(pair.reduced[0]));
    return maximum(load(norm, indices_of(kept)), d.real("eps"));
  };
  static_cast<void>(sum_over(d, to_output(), pair.axes, pair.reduced, pair.first * pair.second,
                             reduction_result(StageType::real) / (at(first) * at(second))));
  return {};
}

Result<void> pairwise_distance(Decomposition& d) {
  KW_TRY(const auto pair, pair_frame(d));
  static_cast<void>(
      norm_over(d, to_output(), pair.axes, pair.reduced, pair.first - pair.second + d.real("eps"), d.real("p")));
  return {};
}

constexpr std::array k_norm_decompositions = {
    DecompositionRow{"norm", norm},
    DecompositionRow{"vector_norm", norm},
    DecompositionRow{"normalize", normalize},
    DecompositionRow{"cosine_similarity", cosine_similarity},
    DecompositionRow{"pairwise_distance", pairwise_distance},
};

}  // namespace

std::span<const DecompositionRow> norm_decompositions() {
  return k_norm_decompositions;
}

}  // namespace kw
