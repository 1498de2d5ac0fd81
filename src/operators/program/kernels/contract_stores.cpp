#include "operators/program/kernels/contract_stores.hpp"

#include <algorithm>

#include "language/kernel_texts.hpp"
#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contract_text.hpp"

namespace kw {
namespace {

std::string_view stores_section(const char* name) {
  return kernel_text("program/contract.cu", name);
}

/// Whether four neighbouring columns of a row are neighbours in the output, where four divides the columns.
bool stores_fours(const Contraction& contraction, const KernelBuffer& out) {
  const auto& split = contraction.split;
  if (split.stored || out.dtype != DType::f32 || contraction.columns.size() != 1 || split.place.empty()) return false;
  const auto& last = split.place.back();
  const auto& column = contraction.columns[0];
  if (last->op != StageOp::axis || last->axis != column.name) return false;
  // All other indices then count whole rows of the output.
  return split.output.back().extent.text() == column.extent.text() &&
         std::none_of(split.place.begin(), split.place.end() - 1,
                      [&](const StageExpr& index) { return axes_named(index).count(column.name) > 0; });
}

}  // namespace

std::string stores_text(const Contraction& contraction, const KernelBuffer& out, bool one_by_one,
                        const Fillings& fillings) {
  auto ones = fill_lines(stores_section("store_ones"), fillings);
  if (one_by_one || !stores_fours(contraction, out)) return ones;
  auto all = fillings;
  all.emplace_back("store_ones", std::move(ones));
  return fill_lines(stores_section("store_fours"), all);
}

}  // namespace kw
