#include "operators/program/kernels/row_pairs.hpp"

#include <fmt/format.h>

#include <limits>

#include "program/stages/rewrite.hpp"
#include "program/stages/split.hpp"

namespace kw {
namespace {

using Statements = std::vector<std::string>;

RowPair moments() {
  RowPair pair;
  pair.both.declarations = {"float count = 0.0f;", "float mean = 0.0f;", "float squares = 0.0f;"};
  pair.both.result = "(mean * count)";
  pair.both.state = {{"float", "count"}, {"float", "mean"}, {"float", "squares"}};
  pair.both.merge = {"if (other_count > 0.0f) {",
                     "  const float together = count + other_count;",
                     "  const float apart = other_mean - mean;",
                     "  squares += other_squares + apart * apart * (count * other_count / together);",
                     "  mean = (mean * count + other_mean * other_count) / together;",
                     "  count = together;",
                     "}"};
  pair.before = {"float other_count = 0.0f;", "float other_mean = 0.0f;", "float other_squares = 0.0f;"};
  pair.uses = {"other_count += 1.0f;", "other_mean += values[part];"};
  pair.after = {"if (other_count > 0.0f) other_mean /= other_count;",
                "#pragma unroll",
                "for (int part = 0; part < batch; ++part) {",
                "  ${counts} {",
                "    const float apart = values[part] - other_mean;",
                "    other_squares += apart * apart;",
                "  }",
                "}"};
  pair.after.insert(pair.after.end(), pair.both.merge.begin(), pair.both.merge.end());
  pair.second_result = "(squares + count * ((mean - ${first}) * (mean - ${first})))";
  return pair;
}

/// An infinite maximum has no differences: exponentials are then those of the elements.
std::string finite(const std::string& most) {
  return fmt::format("(fabsf({0}) < INFINITY ? {0} : 0.0f)", most);
}

RowPair exponentials(bool of_finite) {
  const auto scaled = [](const std::string& sum, const std::string& best) {
    return fmt::format("({0} == 0.0f ? 0.0f : {0} * exp({1} - shift))", sum, finite(best));
  };
  RowPair pair;
  pair.both.declarations = {"float best = -INFINITY;", "float sum = 0.0f;"};
  pair.both.result = "best";
  pair.both.own_helpers = {"larger"};
  pair.both.state = {{"float", "best"}, {"float", "sum"}};
  pair.both.merge = {"const float most = larger(best, other_best);", "const float shift = " + finite("most") + ";",
                     fmt::format("sum = {} + {};", scaled("sum", "best"), scaled("other_sum", "other_best")),
                     "best = most;"};
  pair.before = {"float most = best;"};
  pair.uses = {"most = larger(most, values[part]);"};
  pair.after = {"const float shift = " + finite("most") + ";",
                fmt::format("sum = {};", scaled("sum", "best")),
                "best = most;",
                "#pragma unroll",
                "for (int part = 0; part < batch; ++part) {",
                "  ${counts} {",
                "    sum += exp(values[part] - shift);",
                "  }",
                "}"};
  pair.second_result = of_finite ? "sum" : fmt::format("(sum * exp({} - best))", finite("best"));
  return pair;
}

/// Whether the columns are the same; `names` has then the first one's for those of the second.
bool same_columns(const Stage& first, const Stage& second, AxisValues& names) {
  if (first.inner.size() != second.inner.size() || !first.guards.empty() || !second.guards.empty()) return false;
  for (std::size_t i = 0; i < first.inner.size(); ++i) {
    if (first.inner[i].extent.text() != second.inner[i].extent.text()) return false;
    names[second.inner[i].name] = axis_index(first.inner[i].name);
  }
  return true;
}

bool is_load_of(const StageExpr& node, std::size_t buffer) {
  return node->op == StageOp::load && node->tensor.buffer == buffer;
}

/// |r| < infinity ? r : 0
bool is_finite_or_zero(const StageExpr& node, std::size_t buffer) {
  if (node->op != StageOp::select || !is_load_of(node->operands[1], buffer)) return false;
  const auto& condition = node->operands[0];
  const bool bounded = condition->op == StageOp::less && condition->operands[0]->op == StageOp::absolute &&
                       is_load_of(condition->operands[0]->operands[0], buffer) &&
                       condition->operands[1]->op == StageOp::real &&
                       condition->operands[1]->real == std::numeric_limits<double>::infinity();
  const auto& other = node->operands[2];
  return bounded && other->op == StageOp::real && other->real == 0.0;
}

/// The pair of a maximum r and a sum of exp(e - r). Within a group r is read by its own row alone.
std::optional<RowPair> exponentials_of(const Stage& first, const Stage& second) {
  const bool reals = first.kind == StageKind::reduce && second.kind == StageKind::reduce &&
                     first.body->type == StageType::real && first.op == ReduceOp::maximum &&
                     second.op == ReduceOp::sum && second.body->op == StageOp::exp;
  AxisValues names;
  if (!reals || first.epilogue || !same_columns(first, second, names)) return std::nullopt;
  const auto& difference = second.body->operands[0];
  if (difference->op != StageOp::subtract) return std::nullopt;
  const auto& shift = difference->operands[1];
  const bool of_finite = is_finite_or_zero(shift, first.buffer);
  if (!of_finite && !is_load_of(shift, first.buffer)) return std::nullopt;
  if (!same_expression(with_axes(difference->operands[0], names), first.body)) return std::nullopt;
  return exponentials(of_finite);
}

}  // namespace

std::optional<RowPair> row_pair(const Stage& first, const Stage& second) {
  if (are_moments(first, second)) return moments();
  return exponentials_of(first, second);
}

}  // namespace kw
