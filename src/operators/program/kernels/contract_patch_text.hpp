#pragma once
// The texts of a product of a filter and patches, for kernels/program/patches.cu and the holes of contract.cu's
// products; and the small kernel before it that packs the filter.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/text.hpp"
#include "operators/program/kernels/contract_patch_shape.hpp"
#include "operators/program/kernels/contract_patches.hpp"
#include "operators/program/kernels/contract_phases.hpp"
#include "operators/program/kernels/contract_tile_loads.hpp"

namespace kw {

class PatchText {
 public:
  /// `rounded`: factors are rounded to tf32 numbers, else split into two. `is_long`: parts of rounded sums are added in
  /// f32. `filters`: scratch that holds the packed filter. With `phases` each goes through its own taps,
  /// with `pairs` a block is of the two phases of paired_phase().
  PatchText(const GroupContext& context, const Contraction& contraction, const PatchContraction& patch,
            std::optional<PatchPhases> phases, bool pairs, bool rounded, bool is_long, std::string filters);

  /// Names of the texts, which no axis may be called.
  [[nodiscard]] static const std::vector<std::string>& locals();
  /// The stage with what indices of pixels are called as further axes, for the scope of the kernel.
  [[nodiscard]] Stage scope_stage() const;
  /// The holes tiles, tile_place, steps, row_places, column_places, first_steps, loop, column, outside, stored_column,
  /// step_tables and comment.
  void fill_products(KernelScope& scope, Fillings& fillings) const;
  /// As stored_columns(), for the tile's own axes.
  [[nodiscard]] StoredColumns stored_pixels(KernelScope& scope, const std::set<std::string>& used,
                                            const KeptValue& place, const std::set<std::string>& place_axes) const;
  /// Sections of contract_functions.cu and patches.cu.
  [[nodiscard]] std::vector<std::string> own_helpers() const;
  /// Blocks that a unit is to hold, for the kernel's qualifier.
  [[nodiscard]] std::string resident_blocks() const;
  [[nodiscard]] std::string grid() const;
  [[nodiscard]] std::string shared_bytes() const;
  [[nodiscard]] std::size_t image() const { return contraction_.second.element->tensor.buffer; }
  [[nodiscard]] const std::string& filters() const { return filters_; }

  /// The launch that packs the filter, and the scratch for it.
  [[nodiscard]] GroupKernels packing() const;

 private:
  [[nodiscard]] PatchSize size() const;
  [[nodiscard]] StageAxes block_batch() const;
  [[nodiscard]] std::string place_type() const;
  [[nodiscard]] std::string width(KernelScope& scope) const;
  [[nodiscard]] std::string height(KernelScope& scope) const;
  [[nodiscard]] std::string others(KernelScope& scope, bool own) const;
  [[nodiscard]] std::string patches(KernelScope& scope, bool own) const;
  [[nodiscard]] std::string chunk(KernelScope& scope, bool own) const;
  [[nodiscard]] std::vector<std::string> others_lines(KernelScope& scope, const std::set<std::string>& used,
                                                      bool own) const;
  [[nodiscard]] std::string first_index(KernelScope& scope, const PatchAxis& axis, const std::string& first) const;
  [[nodiscard]] std::string places_text(KernelScope& scope) const;
  [[nodiscard]] std::string loop_text(KernelScope& scope) const;
  [[nodiscard]] std::string turns_text(KernelScope& scope) const;
  [[nodiscard]] std::string own_taps_text(KernelScope& scope) const;
  [[nodiscard]] std::string turns_of_phase(KernelScope& scope, Fillings fillings) const;
  [[nodiscard]] std::string phase_name(KernelScope& scope, const PhaseTaps& taps) const;
  void fill_load(KernelScope& scope, Fillings& fillings) const;
  [[nodiscard]] std::vector<std::string> packed_axes(KernelScope& scope, const std::set<std::string>& used) const;
  [[nodiscard]] std::string packed_store() const;
  [[nodiscard]] std::int64_t taps_across() const { return patch_.across ? patch_.across->taps : 1; }
  [[nodiscard]] int parts() const { return rounded_ ? 1 : 2; }

  const GroupContext& context_;
  const Contraction& contraction_;
  const PatchContraction& patch_;
  std::optional<PatchPhases> phases_;
  bool pairs_, rounded_, is_long_;
  std::string filters_;
};

}  // namespace kw
