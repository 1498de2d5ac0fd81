// Matrix products of all kinds, einsum, attention.

#include <algorithm>
#include <array>
#include <map>

#include "program/operators/operator_table.hpp"

namespace kw {
namespace {

Result<void> same_extent(const OperatorCall& call, const Extent& a, const Extent& b, const Shape& left,
                         const Shape& right) {
  if (a == b) return {};
  return call.shape_error(fmt::format("{} of {} and {}: {} against {}", call.shown(), argument_text(left),
                                      argument_text(right), a.value(), b.value()),
                          "the last axis of the first and the second but last of the second must agree");
}

/// Vectors get an axis for the product and lose it again (https://pytorch.org/docs/stable/generated/torch.matmul.html).
Result<Shape> product_shape(const OperatorCall& call, Shape left, Shape right) {
  const Shape shown_left = left;
  const Shape shown_right = right;
  if (left.empty() || right.empty())
    return call.shape_error(fmt::format("{} of a single number", call.shown()), "use '*'");
  const bool row = left.size() == 1;
  const bool column = right.size() == 1;
  if (row) left.insert(left.begin(), Extent(1));
  if (column) right.emplace_back(1);
  KW_TRY_VOID(same_extent(call, left.back(), right[right.size() - 2], shown_left, shown_right));
  KW_TRY(auto shape, broadcast(Shape(left.begin(), left.end() - 2), Shape(right.begin(), right.end() - 2)));
  if (!row) shape.push_back(left[left.size() - 2]);
  if (!column) shape.push_back(right.back());
  return shape;
}

Result<ElementType> product_type(const OperatorCall& call, const TensorType& left, const TensorType& right) {
  if (left.dtype == right.dtype) return left.dtype;
  return call.type_error(fmt::format("{} of {} and {}", call.shown(), to_string(left.dtype), to_string(right.dtype)),
                         "convert one of them: x.to(y.dtype)");
}

Result<void> product(OperatorCall& call, std::string_view first, std::string_view second) {
  const auto& left = call.tensor(first);
  const auto& right = call.tensor(second);
  KW_TRY(const auto type, product_type(call, left, right));
  KW_TRY(auto shape, product_shape(call, left.shape, right.shape));
  call.output(type, std::move(shape));
  return {};
}

Result<void> matmul_rule(OperatorCall& call) {
  return product(call, "input", "other");
}

/// mm, bmm, mv and dot: matmul for tensors of just these axes.
Result<void> ranked_product(OperatorCall& call, std::string_view first, std::size_t rank, std::string_view second,
                            std::size_t other_rank) {
  KW_TRY_VOID(call.require_rank(first, rank, rank));
  KW_TRY_VOID(call.require_rank(second, other_rank, other_rank));
  if (rank == 3 && !(call.tensor(first).shape[0] == call.tensor(second).shape[0])) {
    return call.shape_error(fmt::format("{} of {} and {} matrices", call.shown(), call.tensor(first).shape[0].value(),
                                        call.tensor(second).shape[0].value()));
  }
  return product(call, first, second);
}

Result<void> mm_rule(OperatorCall& call) {
  return ranked_product(call, "input", 2, "mat2", 2);
}
Result<void> bmm_rule(OperatorCall& call) {
  return ranked_product(call, "input", 3, "mat2", 3);
}
Result<void> mv_rule(OperatorCall& call) {
  return ranked_product(call, "input", 2, "vec", 1);
}
Result<void> dot_rule(OperatorCall& call) {
  return ranked_product(call, "input", 1, "other", 1);
}

Result<void> outer_rule(OperatorCall& call) {
  KW_TRY_VOID(call.require_rank("input", 1, 1));
  KW_TRY_VOID(call.require_rank("vec2", 1, 1));
  call.output(call.result_type({"input", "vec2"}), {call.tensor("input").shape[0], call.tensor("vec2").shape[0]});
  return {};
}

/// beta * input + alpha * product.
Result<void> added_product(OperatorCall& call, std::string_view first, std::size_t rank, std::string_view second,
                           std::size_t other_rank) {
  KW_TRY_VOID(call.require_rank(first, rank, rank));
  KW_TRY_VOID(call.require_rank(second, other_rank, other_rank));
  KW_TRY(const auto type, product_type(call, call.tensor(first), call.tensor(second)));
  KW_TRY(auto shape, product_shape(call, call.tensor(first).shape, call.tensor(second).shape));
  KW_TRY(const auto both, broadcast(call.tensor("input").shape, shape));
  if (both != shape)
    return call.shape_error(fmt::format("{} adds {} to a product of {}", call.shown(),
                                        argument_text(call.tensor("input").shape), argument_text(shape)));
  call.output(type, std::move(shape));
  return {};
}

Result<void> addmm_rule(OperatorCall& call) {
  return added_product(call, "mat1", 2, "mat2", 2);
}
Result<void> baddbmm_rule(OperatorCall& call) {
  return added_product(call, "batch1", 3, "batch2", 3);
}
Result<void> addmv_rule(OperatorCall& call) {
  return added_product(call, "mat", 2, "vec", 1);
}

Result<void> linear_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  const auto& weight = call.tensor("weight");
  KW_TRY_VOID(call.require_rank("input", 1, 16));
  KW_TRY_VOID(call.require_rank("weight", 1, 2));
  KW_TRY(const auto type, product_type(call, input, weight));
  if (!(input.shape.back() == weight.shape.back())) {
    return call.shape_error(
        fmt::format("{} takes {} features, but the last axis of {} has {}", call.shown(), weight.shape.back().value(),
                    argument_text(input.shape), input.shape.back().value()),
        "check in_features");
  }
  Shape shape(input.shape.begin(), input.shape.end() - 1);
  if (weight.shape.size() == 2) shape.push_back(weight.shape[0]);
  call.derive("in_features", weight.shape.back());
  call.derive("out_features", weight.shape.size() == 2 ? weight.shape[0] : Extent(1));
  call.output(type, std::move(shape));
  return {};
}

Result<void> bilinear_rule(OperatorCall& call) {
  KW_TRY_VOID(call.require_rank("weight", 3, 3));
  const auto& weight = call.tensor("weight").shape;
  const auto& first = call.tensor("input1").shape;
  const auto& second = call.tensor("input2").shape;
  const bool fits =
      !first.empty() && first.size() == second.size() && first.back() == weight[1] && second.back() == weight[2];
  if (!fits)
    return call.shape_error(fmt::format("{} of {} and {} with a weight of {}", call.shown(), argument_text(first),
                                        argument_text(second), argument_text(weight)));
  KW_TRY(auto shape, broadcast(Shape(first.begin(), first.end() - 1), Shape(second.begin(), second.end() - 1)));
  shape.push_back(weight[0]);
  call.output(call.tensor("weight").dtype, std::move(shape));
  return {};
}

/// The letters of one operand; "..." becomes as many letters as it has axes. The last of them is always
/// k_last_unnamed, because axes broadcast from the last one on.
constexpr char k_last_unnamed = '9';
Result<std::string> einsum_letters(const OperatorCall& call, std::string_view written, std::size_t unnamed) {
  std::string letters;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written.substr(i, 3) == "...") {
      for (std::size_t k = unnamed; k-- > 0;) letters += static_cast<char>(k_last_unnamed - static_cast<char>(k));
      i += 2;
    } else if ((written[i] >= 'a' && written[i] <= 'z') || (written[i] >= 'A' && written[i] <= 'Z')) {
      letters += written[i];
    } else {
      return call.value_error(fmt::format("'{}' in the equation of {}", written[i], call.shown()),
                              "write letters, commas, '...' and '->'");
    }
  }
  return letters;
}

struct EinsumTerms {
  std::vector<std::string> operands;
  std::optional<std::string> result;
  std::size_t unnamed = 0;  ///< axes under "..."
};

Result<EinsumTerms> einsum_terms(const OperatorCall& call, const std::vector<const TensorType*>& operands) {
  std::string equation;
  for (const char c : call.text("equation")) {
    if (c != ' ') equation += c;
  }
  const auto arrow = equation.find("->");
  EinsumTerms terms;
  std::vector<std::string> written;
  auto rest = std::string_view(equation).substr(0, arrow);
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    written.emplace_back(rest.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  if (written.size() != operands.size())
    return call.value_error(fmt::format("the equation of {} names {} operands, but {} are given", call.shown(),
                                        written.size(), operands.size()));
  for (std::size_t i = 0; i < written.size(); ++i) {
    const bool dots = written[i].find("...") != std::string::npos;
    const auto named = written[i].size() - (dots ? 3 : 0);
    const auto rank = operands[i]->shape.size();
    if (rank < named || (!dots && rank != named) || rank > named + 9) {
      return call.shape_error(fmt::format("'{}' in the equation of {} does not fit the shape {}", written[i],
                                          call.shown(), argument_text(operands[i]->shape)));
    }
    KW_TRY(auto letters, einsum_letters(call, written[i], rank - named));
    terms.unnamed = std::max(terms.unnamed, rank - named);
    terms.operands.push_back(std::move(letters));
  }
  if (arrow != std::string::npos) {
    KW_TRY(terms.result, einsum_letters(call, std::string_view(equation).substr(arrow + 2), terms.unnamed));
  }
  return terms;
}

Result<void> einsum_rule(OperatorCall& call) {
  const auto operands = call.tensors("operands");
  KW_TRY(auto terms, einsum_terms(call, operands));
  std::map<char, Extent> extents;
  std::map<char, int> uses;
  auto type = operands.empty() ? ElementType::float32 : operands.front()->dtype;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    type = promoted(type, operands[i]->dtype);
    for (std::size_t k = 0; k < terms.operands[i].size(); ++k) {
      const char letter = terms.operands[i][k];
      const auto& extent = operands[i]->shape[k];
      ++uses[letter];
      auto& known = extents.try_emplace(letter, extent).first->second;
      if (known.value() == 1) known = extent;
      if (!(known == extent) && extent.value() != 1) {
        return call.shape_error(fmt::format("'{}' in the equation of {} stands for {} and for {}", letter, call.shown(),
                                            known.value(), extent.value()));
      }
    }
  }
  if (!terms.result) {  // what occurs once, in the order of the alphabet
    terms.result.emplace();
    for (const auto& [letter, count] : uses) {
      if (count == 1 || letter < 'A') *terms.result += letter;
    }
  }
  Shape shape;
  for (const char letter : *terms.result) {
    const auto found = extents.find(letter);
    if (found == extents.end())
      return call.value_error(fmt::format("'{}' is in the result of {} and in no operand", letter, call.shown()));
    shape.push_back(found->second);
  }
  call.output(type, std::move(shape));
  return {};
}

Result<void> attention_rule(OperatorCall& call) {
  const auto& query = call.tensor("query").shape;
  const auto& key = call.tensor("key").shape;
  const auto& value = call.tensor("value").shape;
  KW_TRY_VOID(call.require_rank("query", 2, 16));
  const bool ranks = key.size() == query.size() && value.size() == query.size();
  if (!ranks || !(query.back() == key.back()) || !(key[key.size() - 2] == value[value.size() - 2])) {
    return call.shape_error(fmt::format("{} of query {}, key {} and value {}", call.shown(), argument_text(query),
                                        argument_text(key), argument_text(value)),
                            "query [..., L, E], key [..., S, E], value [..., S, Ev]");
  }
  if (call.given("attn_mask") && call.truth("is_causal"))
    return call.value_error(fmt::format("{} with attn_mask and is_causal", call.shown()), "leave one of them out");
  Shape shape;
  if (call.truth("enable_gqa")) {
    shape.assign(query.begin(), query.end() - 2);
  } else {
    KW_TRY(shape, broadcast(Shape(query.begin(), query.end() - 2), Shape(key.begin(), key.end() - 2)));
  }
  shape.push_back(query[query.size() - 2]);
  if (const auto* mask = call.optional_tensor("attn_mask")) {
    Shape scores = shape;
    scores.push_back(key[key.size() - 2]);
    KW_TRY_VOID(broadcast(scores, mask->shape));
  }
  shape.push_back(value.back());
  if (call.real("dropout_p") > 0.0) call.random();
  call.output(call.tensor("query").dtype, std::move(shape));
  return {};
}

constexpr std::array k_product_rows = {
    OperatorRow{"matmul", "Tensor input, Tensor other", "tm torch.linalg.matmul", matmul_rule},
    OperatorRow{"mm", "Tensor input, Tensor mat2", "tm", mm_rule},
    OperatorRow{"bmm", "Tensor input, Tensor mat2", "tm", bmm_rule},
    OperatorRow{"mv", "Tensor input, Tensor vec", "tm", mv_rule},
    OperatorRow{"dot", "Tensor input, Tensor other", "tm torch.vdot torch.inner", dot_rule},
    OperatorRow{"outer", "Tensor input, Tensor vec2", "tm torch.ger", outer_rule},
    OperatorRow{"addmm", "Tensor input, Tensor mat1, Tensor mat2, number beta=1, number alpha=1", "tm", addmm_rule},
    OperatorRow{"baddbmm", "Tensor input, Tensor batch1, Tensor batch2, number beta=1, number alpha=1", "tm",
                baddbmm_rule},
    OperatorRow{"addmv", "Tensor input, Tensor mat, Tensor vec, number beta=1, number alpha=1", "tm", addmv_rule},
    OperatorRow{"linear", "Tensor input, Tensor weight, Tensor? bias=None", "f", linear_rule},
    OperatorRow{"bilinear", "Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None", "f", bilinear_rule},
    OperatorRow{"einsum", "str equation, Tensor[] operands", "t", einsum_rule},
    OperatorRow{"scaled_dot_product_attention",
                "Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool "
                "is_causal=False, float? scale=None, bool enable_gqa=False",
                "f", attention_rule},
};

}  // namespace

std::span<const OperatorRow> product_rows() {
  return k_product_rows;
}

}  // namespace kw
