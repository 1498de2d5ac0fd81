#include "operators/program/kernels/contract_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contract_stores.hpp"
#include "operators/program/kernels/contract_text.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_pair = 2;

bool is_number(const Extent& extent, std::int64_t number) {
  return extent.is_constant() && extent.value() == number;
}

/// The address of an output without what its place in a line adds.
AffineIndex address_of_line(AffineIndex address, const PatchContraction& patch, const StageAxis& phase) {
  address.coefficients.erase(patch.across->axis);
  address.coefficients.erase(phase.name);
  return address;
}

}  // namespace

std::optional<StageAxis> paired_phase(const Contraction& contraction, const PatchContraction& patch) {
  if (!patch.across || contraction.batch.empty() || contraction.split.place.empty()) return std::nullopt;
  const auto& phase = contraction.batch.back();
  if (contraction.split.phases.count(phase.name) == 0 || !is_number(phase.extent, k_pair)) return std::nullopt;
  const auto last = affine_index(contraction.split.place.back(), contraction.split.phases);
  const auto address = stored_address(contraction);
  if (!last || !address || !last->terms.empty() || !is_number(last->constant, 0)) return std::nullopt;
  const auto is_times = [](const AffineIndex& index, const std::string& axis, std::int64_t number) {
    const auto found = index.coefficients.find(axis);
    return found != index.coefficients.end() && is_number(found->second, number);
  };
  // No other index names the two.
  const bool alternate = last->coefficients.size() == 2 && is_times(*last, patch.across->axis, k_pair) &&
                         is_times(*last, phase.name, 1) && is_times(*address, patch.across->axis, k_pair) &&
                         is_times(*address, phase.name, 1) && address->terms.empty();
  return alternate ? std::optional(phase) : std::nullopt;
}

void fill_pair_stores(KernelScope& scope, const Contraction& contraction, const PatchContraction& patch,
                      const StageAxis& phase, const KernelBuffer& out, Fillings& fillings) {
  const auto held =
      held_of_rows(scope, contraction, patch, {contraction.batch.begin(), contraction.batch.end() - 1}, fillings);
  fillings.emplace_back("held_of_rows", held);
  const auto stored = stored_sum(scope, contraction, out, "total", "place + item");
  const auto address = address_of_line(*stored_address(contraction), patch, phase);
  auto used = scope.used_axes();
  used.merge(axes_in(address));
  auto around = joined_axes(joined_axes(contraction.batch, contraction.rows), patch.outer);
  auto axes = index_statements(scope, contraction.rows, "m", used);
  if (patch.line) {
    around = joined_axes(around, {patch.tile[0]});
    if (used.count(patch.line->axis) > 0)
      axes.push_back(fmt::format("const int {} = line;", scope.axis(patch.line->axis)));
  }
  fillings.emplace_back("stored_axes", join_lines(axes));
  fillings.emplace_back("place", address_text(scope, address, around, true));
  fillings.emplace_back("step", scope.axis(patch.across->axis));
  fillings.emplace_back("phase", scope.axis(phase.name));
  fillings.emplace_back("inside", stored.guard.empty() ? "true" : stored.guard);
  fillings.emplace_back("values", stored.values);
  fillings.emplace_back("value", stored.value);
  fillings.emplace_back("store", store_text(out.dtype, out.name, "place + item", "result", scope.dialect()));
  fillings.emplace_back("width", scope.extent(patch.tile.back().extent));
  fillings.emplace_back("height", patch.line ? scope.extent(patch.tile[0].extent) : "1");
  const auto length = scope.extent(contraction.split.output.back().extent);
  fillings.emplace_back("by_fours", out.dtype == DType::f32
                                        ? fmt::format("{} % 4 == 0 && (unsigned long){} % 16 == 0", length, out.name)
                                        : "false");
  fillings.emplace_back("four", out.dtype == DType::f32
                                    ? fmt::format("*(float4*)({} + place) = make_float4(results[0], results[1], "
                                                  "results[2], results[3]);",
                                                  out.name)
                                    : "");
}

}  // namespace kw
