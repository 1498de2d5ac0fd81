#pragma once
// The text of windows that are reduced as tiles; see window_tiles.hpp. Where a line of four outputs needs no guard, and
// where all lines of a tile are there, is found out once, and these have a text without guards.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operators/program/kernels/accumulator.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/program_bundle.hpp"
#include "operators/program/kernels/window_slots.hpp"
#include "operators/program/kernels/window_tiles.hpp"

namespace kw {

/// Stores the output at the stage's axes, of which `result` was reduced.
void write_window_result(BodyWriter& body, KernelScope& scope, const GroupContext& context, const Stage& stage,
                         const std::string& result);

/// Of one kernel. The text around it declares `lane`, `first`, `live`, and, of tiles with lines, `top`.
class WindowTileText {
 public:
  /// All arguments outlive the text. `lines` is the tunable for how many a tile has, where it has any.
  WindowTileText(const GroupContext& context, const Stage& stage, const WindowTile& tile, KernelScope& scope,
                 std::int64_t lanes, std::string lines);

  /// Of shared memory, for a kernel of so many work-items a group.
  [[nodiscard]] std::vector<std::string> declarations(const std::string& threads) const;
  void write(BodyWriter& body);

 private:
  void find_fours();

  void write_places(BodyWriter& body);
  void write_states(BodyWriter& body);
  void write_sums(BodyWriter& body);
  void write_whole_or_not(BodyWriter& body, const WindowSlots& slots);
  void write_elements(BodyWriter& body, const WindowSlots& slots, bool all_lines);
  void write_lines(BodyWriter& body, const WindowSlots& slots, bool all_lines);
  void open_tap_of_line(BodyWriter& body);
  void write_reads(BodyWriter& body, const WindowSlots& slots);
  [[nodiscard]] std::string line_of(BodyWriter& body, std::size_t load);
  void write_steps(BodyWriter& body, const WindowSlots& slots);
  void write_step(BodyWriter& body, const WindowSlots& slots, const std::string& of_state);
  void write_stores(BodyWriter& body);
  void write_one_result(BodyWriter& body, const std::string& column, const std::function<void()>& gather);
  void write_four_results(BodyWriter& body);
  [[nodiscard]] std::string first_stored();
  void write_exchanged(BodyWriter& body);
  void write_gathered(BodyWriter& body, const std::string& side);

  [[nodiscard]] std::string bounds_text(const std::vector<PlaceBound>& bounds, const std::string& at_first,
                                        const std::string& at_last);
  [[nodiscard]] std::string all_text(const std::vector<StageExpr>& bounds);
  [[nodiscard]] std::string condition_at(const WindowSlots& slots);
  [[nodiscard]] std::string state(const std::string& at) const;
  [[nodiscard]] std::string offset_text(const std::string& side, const std::string& tap) const;
  [[nodiscard]] std::string exists(const std::string& column);
  [[nodiscard]] std::string column_extent() { return scope_.extent(stage_.axes.back().extent); }
  [[nodiscard]] const StageAxis& line_axis() const { return stage_.axes[stage_.axes.size() - 2]; }

  const GroupContext& context_;
  const Stage& stage_;
  const WindowTile& tile_;
  KernelScope& scope_;
  std::int64_t lanes_;
  std::string lines_;
  Accumulator accumulator_;
  const StageExpr at_ = axis_index("at");  ///< stands for the variable of this name
  std::vector<std::string> conditions_;    ///< of fours
  std::optional<WindowSlots> fours_;
  std::vector<std::string> values_, pointers_, lines_at_;  ///< names, by the tile's loads
  bool stores_fours_ = false;
};

}  // namespace kw
