// Matrix products of all kinds: sums over products of elements.

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "program/stages/decomposition_table.hpp"

namespace kw {
namespace {

/// out = sum over inner of body, as it is met; products are summed in one loop, as everybody does.
void contract(Decomposition& d, StageAxes axes, StageAxes inner, const StageExpr& body,
              const StageExpr& epilogue = {}) {
  Stage stage;
  stage.kind = StageKind::reduce;
  stage.axes = std::move(axes);
  stage.inner = std::move(inner);
  stage.body = as_type(body, d.result().dtype);
  if (epilogue) stage.epilogue = as_type(epilogue, d.result().dtype);
  d.add(to_output(), std::move(stage));
}

StageExpr summed(const Decomposition& d) {
  return reduction_result(stage_type_of(d.result().dtype));
}

/// The axes of the result of a product: the leading ones of the batch, then i and j, of which a vector has none.
struct MatrixProduct {
  StageAxes axes;
  StageAxes inner;
  StageExpr body;
};

/// As torch.matmul takes its operands, vectors included.
MatrixProduct matrix_product(const TensorView& left, const TensorView& right, const Shape& result) {
  const bool row = left.type.shape.size() == 1;
  const bool column = right.type.shape.size() == 1;
  const std::size_t matrix_axes = (row ? 0 : 1) + (column ? 0 : 1);
  const auto batch = result.size() - matrix_axes;
  MatrixProduct product;
  for (std::size_t i = 0; i < batch; ++i) {
    product.axes.push_back({batch == 1 ? "b" : fmt::format("b{}", i), result[i]});
  }
  const StageAxes outer = product.axes;
  product.inner = {{"k", left.type.shape.back()}};
  StageAxes left_frame = outer;
  StageAxes right_frame = outer;
  if (!row) product.axes.push_back({"i", result[batch]});
  if (!row) left_frame.push_back(product.axes.back());
  left_frame.push_back(product.inner[0]);
  if (!column) product.axes.push_back({"j", result.back()});
  right_frame.push_back({"k", right.type.shape[column ? 0 : right.type.shape.size() - 2]});
  if (!column) right_frame.push_back(product.axes.back());
  product.body = read(left, left_frame) * read(right, right_frame);
  return product;
}

template <const char* const& First, const char* const& Second>
Result<void> product_of(Decomposition& d) {
  auto product = matrix_product(d.tensor(First), d.tensor(Second), d.result().shape);
  contract(d, std::move(product.axes), std::move(product.inner), product.body);
  return {};
}

constexpr const char* k_input = "input";
constexpr const char* k_other = "other";
constexpr const char* k_mat2 = "mat2";
constexpr const char* k_vec = "vec";

Result<void> outer(Decomposition& d) {
  const auto frame = d.frame();
  const auto second = d.tensor("vec2");
  d.map(0, frame, load(d.tensor("input"), {axis_index(frame[0].name)}) * load(second, {axis_index(frame[1].name)}));
  return {};
}

/// addmm, baddbmm and addmv: beta * input + alpha * product
Result<void> added_product(Decomposition& d) {
  const bool batched = d.op() == "baddbmm";
  const auto first = d.tensor(batched ? "batch1" : d.op() == "addmm" ? "mat1" : "mat");
  const auto second = d.tensor(batched ? "batch2" : d.op() == "addmm" ? "mat2" : "vec");
  auto product = matrix_product(first, second, d.result().shape);
  const auto added = read(d.tensor("input"), product.axes);
  // With a beta of 0 what is added does not count, even where it is no number.
  auto epilogue = d.number("alpha") * summed(d);
  if (d.real("beta") != 0.0) epilogue = d.number("beta") * added + epilogue;
  contract(d, std::move(product.axes), std::move(product.inner), product.body, epilogue);
  return {};
}

Result<void> linear(Decomposition& d) {
  const auto input = d.tensor("input");
  const auto weight = d.tensor("weight");
  const auto& shape = d.result().shape;
  const bool single = weight.type.shape.size() == 1;
  StageAxes axes = named_axes(shape);
  const StageAxes inner = {{"feature", input.type.shape.back()}};
  StageIndices place = indices_of(axes);
  StageIndices weights = {axis_index("feature")};
  if (!single) {
    weights.insert(weights.begin(), place.back());
    place.pop_back();
  }
  place.push_back(axis_index("feature"));
  StageExpr epilogue;
  if (d.given("bias")) {
    const auto bias = d.tensor("bias");
    epilogue = summed(d) + load(bias, bias.type.shape.empty() ? StageIndices{} : StageIndices{weights[0]});
  }
  contract(d, std::move(axes), inner, load(input, std::move(place)) * load(weight, std::move(weights)), epilogue);
  return {};
}

/// y[..., o] = sum over i and j of x1[..., i] * weight[o, i, j] * x2[..., j]
Result<void> bilinear(Decomposition& d) {
  const auto first = d.tensor("input1");
  const auto second = d.tensor("input2");
  const auto weight = d.tensor("weight");
  const auto frame = d.frame();
  const StageAxes inner = {{"first", weight.type.shape[1]}, {"second", weight.type.shape[2]}};
  const auto place_of = [&](const char* last) {
    auto place = indices_of(frame);
    place.back() = axis_index(last);
    return place;
  };
  const auto out = axis_index(frame.back().name);
  StageExpr epilogue;
  if (d.given("bias")) epilogue = summed(d) + load(d.tensor("bias"), {out});
  contract(d, frame, inner,
           load(first, place_of("first")) * load(weight, {out, axis_index("first"), axis_index("second")}) *
               load(second, place_of("second")),
           epilogue);
  return {};
}

/// The letters of an operand; "..." stands for the digits from `unnamed` axes back to the last one.
std::string einsum_letters(const std::string& written, std::size_t rank, std::size_t unnamed) {
  const auto dots = written.find("...");
  if (dots == std::string::npos) return written;
  const auto own = rank - (written.size() - 3);
  std::string letters = written.substr(0, dots);
  for (std::size_t i = unnamed - own; i < unnamed; ++i) letters += static_cast<char>('0' + static_cast<char>(i));
  return letters + written.substr(dots + 3);
}

struct EinsumEquation {
  std::vector<std::string> operands;
  std::string result;
};

EinsumEquation einsum_equation(const Decomposition& d, const std::vector<TensorView>& operands) {
  std::string equation;
  for (const char c : d.text("equation")) {
    if (c != ' ') equation += c;
  }
  const auto arrow = equation.find("->");
  std::vector<std::string> written = {""};
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',') {
      written.emplace_back();
    } else {
      written.back() += c;
    }
  }
  std::size_t unnamed = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i].find("...") == std::string::npos) continue;
    unnamed = std::max(unnamed, operands[i].type.shape.size() - (written[i].size() - 3));
  }
  EinsumEquation terms;
  std::map<char, int> uses;
  for (std::size_t i = 0; i < written.size(); ++i) {
    terms.operands.push_back(einsum_letters(written[i], operands[i].type.shape.size(), unnamed));
    for (const char letter : terms.operands.back()) ++uses[letter];
  }
  if (arrow != std::string::npos) {
    terms.result = equation.substr(arrow + 2);
    const auto named = terms.result.size() - (terms.result.find("...") == std::string::npos ? 0 : 3);
    terms.result = einsum_letters(terms.result, named + unnamed, unnamed);
  } else {
    for (const auto& [letter, count] : uses) {
      if (count == 1 || letter < 'A') terms.result += letter;
    }
  }
  return terms;
}

std::string letter_name(char letter) {
  return letter < 'A' ? fmt::format("b{}", letter) : std::string(1, letter);
}

/// An operand of an einsum, or the product of some of them.
struct EinsumFactor {
  std::string letters;
  TensorView tensor;
};
using LetterExtents = std::map<char, Extent>;

/// The sum over letters that `result` leaves out of the product of all factors.
Stage einsum_stage(const Decomposition& d, const std::vector<EinsumFactor>& factors, const std::string& result,
                   const LetterExtents& extents) {
  Stage stage;
  for (const char letter : result) stage.axes.push_back({letter_name(letter), extents.at(letter)});
  for (const auto& factor : factors) {
    StageAxes frame;
    for (const char letter : factor.letters) {
      frame.push_back({letter_name(letter), extents.at(letter)});
      const auto same = [&](const StageAxis& axis) { return axis.name == frame.back().name; };
      if (!std::ranges::any_of(stage.axes, same) && !std::ranges::any_of(stage.inner, same))
        stage.inner.push_back(frame.back());
    }
    const auto element = as_type(read(factor.tensor, frame), d.result().dtype);
    stage.body = stage.body ? stage.body * element : element;
  }
  if (!stage.inner.empty()) stage.kind = StageKind::reduce;
  return stage;
}

using Letters = std::vector<std::string>;  ///< of each factor

/// Each letter once.
std::string letters_of(const std::string& a, const std::string& b) {
  std::string letters;
  for (const char letter : a + b) {
    if (letters.find(letter) == std::string::npos) letters += letter;
  }
  return letters;
}

/// What is kept of the product of two factors: a batch of matrices, whose rows are of the first and columns of the
/// second.
std::string kept_letters(const Letters& factors, std::size_t first, std::size_t second, const std::string& result) {
  std::string needed = result;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (i != first && i != second) needed += factors[i];
  }
  std::string batch, rows, columns;
  for (const char letter : letters_of(factors[first], factors[second])) {
    if (needed.find(letter) == std::string::npos) continue;
    const bool in_first = factors[first].find(letter) != std::string::npos;
    const bool in_second = factors[second].find(letter) != std::string::npos;
    (in_first && in_second ? batch : in_first ? rows : columns) += letter;
  }
  return batch + rows + columns;
}

double steps_over(const std::string& letters, const LetterExtents& extents) {
  double steps = 1.0;
  for (const char letter : letters) steps *= static_cast<double>(extents.at(letter).value());
  return steps;
}

/// Which factors become one after the other one, the first of each pair, until two are left.
struct ProductOrder {
  double steps = 0;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
};

/// The order with the fewest steps; of many factors the first two are taken, for there are too many orders.
ProductOrder cheapest_order(const Letters& factors, const std::string& result, const LetterExtents& extents) {
  constexpr std::size_t k_most = 6;
  if (factors.size() <= 2) return {steps_over(letters_of(factors.front(), factors.back()), extents), {}};
  std::optional<ProductOrder> best;
  for (std::size_t i = 0; i < (factors.size() > k_most ? 1 : factors.size()); ++i) {
    for (std::size_t j = i + 1; j < (factors.size() > k_most ? 2 : factors.size()); ++j) {
      auto others = factors;
      others[i] = kept_letters(factors, i, j, result);
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(j));
      auto order = cheapest_order(others, result, extents);
      order.steps += steps_over(letters_of(factors[i], factors[j]), extents);
      order.pairs.insert(order.pairs.begin(), {i, j});
      if (!best || order.steps < best->steps) best = std::move(order);
    }
  }
  return *best;
}

/// Factors are multiplied two at a time: all at once, each element of the result would take all steps of the others.
Result<void> einsum(Decomposition& d) {
  const auto operands = d.tensors("operands");
  const auto terms = einsum_equation(d, operands);
  LetterExtents extents;
  std::vector<EinsumFactor> factors;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t k = 0; k < terms.operands[i].size(); ++k) {
      auto& known = extents.try_emplace(terms.operands[i][k], operands[i].type.shape[k]).first->second;
      if (known.value() == 1) known = operands[i].type.shape[k];
    }
    factors.push_back({terms.operands[i], operands[i]});
  }
  auto letters = terms.operands;
  std::size_t part = 0;
  for (const auto& [first, second] : cheapest_order(letters, terms.result, extents).pairs) {
    const auto kept = kept_letters(letters, first, second, terms.result);
    auto stage = einsum_stage(d, {factors[first], factors[second]}, kept, extents);
    factors[first] = {kept, d.add(to_scratch(fmt::format("part_{}", part++)), std::move(stage))};
    letters[first] = kept;
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(second));
    letters.erase(letters.begin() + static_cast<std::ptrdiff_t>(second));
  }
  auto stage = einsum_stage(d, factors, terms.result, extents);
  if (stage.kind == StageKind::map) {
    d.map(0, std::move(stage.axes), std::move(stage.body));
  } else {
    contract(d, std::move(stage.axes), std::move(stage.inner), stage.body);
  }
  return {};
}

constexpr std::array k_product_decompositions = {
    DecompositionRow{"matmul", product_of<k_input, k_other>},
    DecompositionRow{"mm", product_of<k_input, k_mat2>},
    DecompositionRow{"bmm", product_of<k_input, k_mat2>},
    DecompositionRow{"mv", product_of<k_input, k_vec>},
    DecompositionRow{"dot", product_of<k_input, k_other>},
    DecompositionRow{"outer", outer},
    DecompositionRow{"addmm", added_product},
    DecompositionRow{"baddbmm", added_product},
    DecompositionRow{"addmv", added_product},
    DecompositionRow{"linear", linear},
    DecompositionRow{"bilinear", bilinear},
    DecompositionRow{"einsum", einsum},
};

}  // namespace

std::span<const DecompositionRow> product_decompositions() {
  return k_product_decompositions;
}

}  // namespace kw
