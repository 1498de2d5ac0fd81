#pragma once
// How the threads of a block load the tiles of a contraction's factors on a GPU. What the places of elements owe to
// their row or column is computed once, before the loop over tiles, and what they owe to the step once for a tile: a
// convolution's divisions would cost more than its products.

#include <set>
#include <string>
#include <vector>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contract_tile_order.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// Statements in CUDA C++, for kernels/program/contract.cu; contract_loads.cu has the texts.
struct TileLoad {
  std::string before;  ///< the loop over tiles; may be empty
  std::string load;    ///< the elements of the tile at step `next`, into registers
  std::string keep;    ///< these, in shared memory
};

/// A value for each of the places, or the steps, that a thread has elements of.
struct KeptValue {
  std::string type, name, value;
};

/// The indices along `columns`, those in `used`, of the elements of a finished tile that a thread stores.
struct StoredColumns {
  std::string before;              ///< the loops over elements: what is kept for each of the thread's columns
  std::vector<std::string> lines;  ///< for the thread's j-th element of a line, in column n
};
/// Keeps a `place` as well, which is made of the indices in `place_axes`; none where its name is empty.
[[nodiscard]] StoredColumns stored_columns(KernelScope& scope, const StageAxes& columns,
                                           const std::set<std::string>& used, const KeptValue& place,
                                           const std::set<std::string>& place_axes);

class TileLoads {
 public:
  /// `rounded`: tiles in shared memory are of tf32 numbers.
  TileLoads(const GroupContext& context, const Contraction& contraction, TileProducts products, bool rounded)
      : context_(context),
        contraction_(contraction),
        products_(products),
        rounded_(rounded),
        inner_(contraction.split.stage.inner) {}

  [[nodiscard]] TileLoad rows(KernelScope& scope);
  [[nodiscard]] TileLoad columns(KernelScope& scope);

  // Of the loads that were asked for.
  /// Declarations in shared memory; empty where steps need no computing.
  [[nodiscard]] std::string step_tables() const;
  /// Fills the tables for the first tile.
  [[nodiscard]] std::string first_steps(KernelScope& scope) const;
  /// Fills the tables for the tile after `next`.
  [[nodiscard]] std::string next_steps(KernelScope& scope) const;
  /// Buffers that no text of a scope has loaded.
  [[nodiscard]] const std::set<std::size_t>& loaded() const { return loaded_; }

 private:
  struct Names;
  struct Load;
  /// The statements that load single elements.
  struct ElementText {
    std::vector<KeptValue> places;   ///< kept before the loop over tiles
    std::string taps;                ///< statements for each place, before that loop
    std::set<std::string> kept;      ///< axes that `taps` needs
    std::vector<std::string> reads;  ///< of tables, for each element
    std::string inside;              ///< whether the tile has such an element
    std::string condition;           ///< whether it is no zero; may be empty
    std::set<std::string> used;      ///< axes that the condition names
  };

  [[nodiscard]] TileLoad load_of(KernelScope& scope, const ContractionFactor& factor, const StageAxes& axes,
                                 const Names& names);
  void fill_order(Load& load, TileRun run) const;
  void fill_kept(Load& load) const;
  [[nodiscard]] const char* keep_section(const Load& load, TileRun run) const;
  [[nodiscard]] TileLoad load_of_fours(KernelScope& scope, const Load& load);
  [[nodiscard]] TileLoad load_of_elements(KernelScope& scope, const Load& load);
  [[nodiscard]] bool steps_are_neighbours(const ContractionFactor& factor, const StageAxes& axes) const;
  [[nodiscard]] std::optional<AffineIndex> address_of(const ContractionFactor& factor) const;
  [[nodiscard]] std::string whole_text(KernelScope& scope, const Load& load) const;
  [[nodiscard]] std::vector<std::string> index_lines(KernelScope& scope, const Load& load,
                                                     const std::set<std::string>& used,
                                                     const std::set<std::string>& computed,
                                                     std::vector<KeptValue>& places);
  void add_conditions(KernelScope& scope, const Load& load, ElementText& text);
  [[nodiscard]] bool steps_fit_an_int(const Load& load) const;
  [[nodiscard]] std::string element_text(KernelScope& scope, const Load& load, ElementText& text);
  [[nodiscard]] std::string steps_text(KernelScope& scope, const std::string& first, const std::string& stage) const;
  void add_table(const KeptValue& table, const std::set<std::string>& axes);
  [[nodiscard]] std::string step_value(const std::string& table, const Load& load) const;
  /// Tiles that warpgroups multiply are loaded a tile further ahead than shared memory has them.
  [[nodiscard]] const char* stage_of_tables() const { return products_ == TileProducts::wgmma ? "loaded" : "stage"; }
  /// A single axis is its own flat index.
  [[nodiscard]] bool has_step_tables() const { return inner_.size() > 1; }

  const GroupContext& context_;
  const Contraction& contraction_;
  TileProducts products_;
  bool rounded_;
  StageAxes inner_;
  std::vector<KeptValue> tables_;
  std::set<std::string> step_axes_;  ///< that the tables' values name
  std::set<std::size_t> loaded_;
};

}  // namespace kw
