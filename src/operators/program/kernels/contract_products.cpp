#include "operators/program/kernels/contract_products.hpp"

#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_text.hpp"

namespace kw {
namespace {

/// Locals of the texts, which no axis may be called.
constexpr const char* k_gpu_locals =
    "row_tiles column_tiles thread tiles_across tiles_down first_row first_column batch part begin end "
    "sum total results first_n tiles next_rows next_columns stage next i j m n k at element from four "
    "part_steps row_from column_from row_steps column_steps row_inside column_inside row_taps column_taps "
    "row_tap column_tap tap rows_whole columns_whole id parts step load_tile keep_tile part_sum loaded "
    "filled step_place step_tap place_of_stored shared_memory tile band band_rows place chunk ahead "
    "small_sum row_exponent of_group maps map arrivals parity whole "
    "panel words row_extents row_box row_strides column_extents column_box column_strides";

constexpr const char* k_tail_locals =
    "gathered windows windows_of_eight eights eight sums_line sums_column window_top window_left of_line "
    "of_column pixel line across item totals result values count mean squares left apart follower block "
    "of_tile tile_count";

}  // namespace

const std::vector<std::string>& contract_gpu_locals() {
  static const std::vector<std::string> k_names = names_in(k_gpu_locals);
  return k_names;
}

const std::vector<std::string>& tail_locals() {
  static const std::vector<std::string> k_names = names_in(k_tail_locals);
  return k_names;
}

bool by_warpgroups(TileProducts products) {
  return products == TileProducts::wgmma || products == TileProducts::halves || products == TileProducts::scaled_halves;
}

std::string product_section(const std::string& name, TileProducts products, bool rounded, const Fillings& fillings) {
  const bool groups = by_warpgroups(products);
  const auto whole = name + (groups ? "_wgmma" : "") + (groups && rounded ? "_rounded" : "");
  return fill_lines(kernel_text("program/contract.cu", whole), fillings);
}

std::set<std::string> product_helpers(TileProducts products, bool rounded) {
  std::set<std::string> helpers;
  const auto add = [&](const std::string& name) { helpers.insert("contract_functions.cu/" + name); };
  add("block_tile");
  const std::string suffix = rounded ? "_rounded" : "";
  if (products != TileProducts::simt && products != TileProducts::scaled_halves)
    add(rounded ? "factors_rounded" : "factors_split");
  switch (products) {
    case TileProducts::simt:
      add("multiply_tile");
      break;
    case TileProducts::tf32:
      add("lane_tile");
      add("multiply_tile_tf32" + suffix);
      break;
    case TileProducts::wgmma:
      add("group_tile");
      add("group_tile_tf32");
      add("multiply_tile_wgmma" + suffix);
      if (rounded) add("tiles_under_way");
      break;
    case TileProducts::halves:
      add("group_tile");
      add("tiles_under_way");
      break;
    case TileProducts::scaled_halves:
      if (rounded) add("tiles_under_way");
      break;
    case TileProducts::patches:
      break;
    case TileProducts::strips:
    case TileProducts::direct:
      KW_CHECK(false, "strips and direct convolutions have kernels of their own");
  }
  if (products == TileProducts::simt || products == TileProducts::tf32) add("stored_sums");
  return helpers;
}

}  // namespace kw
