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
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/contract_tile_loads.hpp"

namespace kw {

/// What is multiplied, and how the products are added.
struct PatchNumbers {
  bool halves = false;   ///< scaled f16 numbers, else numbers of tf32
  bool rounded = false;  ///< factors are one such number, else the sum of two
  bool is_long = false;  ///< parts of rounded sums are added in f32
  bool wide = false;     ///< tiles are as PATCH_WIDE says
};

class PatchText {
 public:
  /// With `phases` each goes through its own taps, with more than one `joined` a block is of so many, those of
  /// joined_phases(). `out`: what is computed, after which scratch is called.
  PatchText(const GroupContext& context, const Contraction& contraction, const PatchContraction& patch,
            std::optional<PatchPhases> phases, std::int64_t joined, PatchNumbers numbers, std::string out);

  /// Names of the texts, which no axis may be called.
  [[nodiscard]] static const std::vector<std::string>& locals();
  /// The stage with what indices of pixels are called as further axes, for the scope of the kernel.
  [[nodiscard]] Stage scope_stage() const;
  /// The holes tiles, tile_place, steps, row_places, column_places, first_steps, loop, column, outside, stored_column,
  /// step_tables and comment.
  void fill_products(KernelScope& scope, Fillings& fillings) const;
  /// As stored_columns(), for the tile's own axes: of the pixels of a thread's columns, or where warps store lines of
  /// sums, of those of a lane, `at_once` neighbours each; 0: of columns.
  [[nodiscard]] StoredColumns stored_pixels(KernelScope& scope, const std::set<std::string>& used,
                                            const KeptValue& place, const std::set<std::string>& place_axes,
                                            int at_once) const;
  /// Sections of contract_functions.cu and patches.cu.
  [[nodiscard]] std::vector<std::string> own_helpers() const;
  /// Blocks that a unit is to hold, for the kernel's qualifier.
  [[nodiscard]] std::string resident_blocks() const;
  [[nodiscard]] std::string grid() const;
  [[nodiscard]] std::string shared_bytes() const;
  [[nodiscard]] std::size_t image() const { return contraction_.second.element->tensor.buffer; }
  /// The packed filter, as an argument of the products.
  void add_filters(ContractArguments& arguments) const;

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
  void fill_exponents(KernelScope& scope, Fillings& fillings) const;
  [[nodiscard]] GroupKernels packing_launch(const Fillings& fillings, const ContractArguments& arguments) const;
  [[nodiscard]] std::int64_t taps_across() const { return patch_.across ? patch_.across->taps : 1; }
  [[nodiscard]] int parts() const { return numbers_.rounded ? 1 : 2; }
  [[nodiscard]] std::string filters() const { return "filters_of_" + out_; }
  [[nodiscard]] std::string filter_exponents() const { return "filter_exponents_of_" + out_; }

  const GroupContext& context_;
  const Contraction& contraction_;
  const PatchContraction& patch_;
  std::optional<PatchPhases> phases_;
  std::int64_t joined_;
  PatchNumbers numbers_;
  std::string out_;
};

}  // namespace kw
