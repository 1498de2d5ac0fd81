#include "program/graph/precision.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace kw {
namespace {

constexpr std::array k_precisions = {Precision::strict, Precision::tf32_convolutions, Precision::tf32};

/// Calls that are products of matrices.
constexpr std::array<std::string_view, 9> k_matrix_products = {
    "matmul", "mm", "bmm", "addmm", "baddbmm", "linear", "bilinear", "einsum", "scaled_dot_product_attention"};

}  // namespace

std::string_view to_string(Precision precision) {
  switch (precision) {
    case Precision::strict:
      return "strict";
    case Precision::tf32_convolutions:
      return "tf32_convolutions";
    case Precision::tf32:
      break;
  }
  return "tf32";
}

std::optional<Precision> precision_named(std::string_view name) {
  for (const auto precision : k_precisions) {
    if (name == to_string(precision)) return precision;
  }
  return std::nullopt;
}

std::string_view precision_names() {
  return "\"strict\", \"tf32_convolutions\" or \"tf32\"";
}

bool rounds_factors(Precision precision, const Node& node) {
  if (precision == Precision::strict) return false;
  if (node.op.starts_with("conv")) return true;
  return precision == Precision::tf32 && std::ranges::find(k_matrix_products, node.op) != k_matrix_products.end();
}

bool rounds_factors(Precision precision, const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [precision](const Node& node) { return rounds_factors(precision, node); });
}

float rounded_to_tf32(float value) {
  if (!std::isfinite(value)) return value;
  constexpr std::uint32_t k_half = 0x1000U, k_kept = 0xffffe000U;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + k_half) & k_kept);
}

std::string_view words_for(Precision precision) {
  switch (precision) {
    case Precision::strict:
      return "every sum and product is as exact as in f32";
    case Precision::tf32_convolutions:
      return "f32 factors of convolutions may be rounded to tf32 (10 bits), as PyTorch does by default; everything "
             "else is as exact as in f32";
    case Precision::tf32:
      break;
  }
  return "f32 factors of convolutions and matrix products may be rounded to tf32 (10 bits); everything else is as "
         "exact as in f32";
}

}  // namespace kw
