#include "operators/program/kernels/contract_stores.hpp"

#include <algorithm>

#include "language/kernel_texts.hpp"
#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contract_tail_text.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/shared_values.hpp"

namespace kw {
namespace {

std::string_view stores_section(const char* name) {
  return kernel_text("program/contract.cu", name);
}

std::string_view pixels_section(const char* name) {
  return kernel_text("program/patch_stores.cu", name);
}

std::string_view tails_section(const char* name) {
  return kernel_text("program/tails.cu", name);
}

/// Whether four neighbouring columns of a row are neighbours in the output, where four divides the columns.
bool stores_fours(const Contraction& contraction, const KernelBuffer& out) {
  const auto& split = contraction.split;
  const bool is_real = out.dtype == DType::f32 || is_16_bit_float(out.dtype);
  if (split.stored || !is_real || contraction.columns.size() != 1 || split.place.empty()) return false;
  const auto& last = split.place.back();
  const auto& column = contraction.columns[0];
  if (last->op != StageOp::axis || last->axis != column.name) return false;
  // All other indices then count whole rows of the output.
  return split.output.back().extent.text() == column.extent.text() &&
         std::none_of(split.place.begin(), split.place.end() - 1,
                      [&](const StageExpr& index) { return axes_named(index).count(column.name) > 0; });
}

/// Neighbouring pixels that are stored at once: two where the second one's place is the next one, and what is computed
/// of it needs no index of its own but that one. `used`: axes that the result names.
int pixels_at_once(const Contraction& contraction, const KernelBuffer& out, const PatchContraction& patch,
                   const std::optional<AffineIndex>& address, const std::set<std::string>& used) {
  if (contraction.split.stored || out.dtype != DType::f32 || !address || !address->terms.empty()) return 1;
  const auto run = patch.run();
  const bool named =
      run.size() > 1 && std::ranges::any_of(run, [&](const StageAxis& axis) { return used.count(axis.name) > 0; });
  return !named && is_one_run(*address, run) ? 2 : 1;
}

/// Whether all places of pairs are even, as a condition of the kernel: `width` pixels are in a line or a run.
std::string even_places_text(KernelScope& scope, const PatchContraction& patch, const AffineIndex& address,
                             const std::string& width, const std::string& out) {
  std::set<std::string> even = {width};
  const auto add = [&](const Extent& extent) {
    if (!extent.is_constant() || extent.value() % 2 != 0) even.insert(scope.extent(extent));
  };
  const auto run = patch.run();
  for (const auto& [axis, coefficient] : address.coefficients) {
    if (std::ranges::count(run, axis, &StageAxis::name) == 0) add(coefficient);
  }
  add(address.constant);
  return fmt::format("((unsigned long){} / 4 | {}) % 2 == 0", out, fmt::join(even, " | "));
}

std::string guard_text(const std::string& guard) {
  return guard.empty() ? "" : fmt::format("if (!({})) continue;", guard);
}

}  // namespace

std::string held_of_rows(KernelScope& scope, const Contraction& contraction, const PatchContraction& patch,
                         const StageAxes& batch, Fillings& fillings) {
  const auto& epilogue = contraction.split.stage.epilogue;
  std::set<std::string> axes;
  for (const auto& axis : joined_axes(joined_axes(batch, contraction.rows), patch.outer)) axes.insert(axis.name);
  // Elements of rows that are not stored may lie outside of their tensors.
  if (contraction.split.stored) {
    for (const auto& axis : axes_named(contraction.split.stored)) axes.erase(axis);
  }
  std::vector<std::string> declarations, values, taken;
  if (epilogue) {
    for (const auto& node : values_over(epilogue, axes)) {
      const auto value = without_parentheses(scope.text(node));
      const auto name = scope.new_name(fmt::format("of_row_{}", taken.size()));
      declarations.push_back(fmt::format("float {}_of_lane = 0.0f;", name));
      values.push_back(fmt::format("{}_of_lane = {};", name, value));
      taken.push_back(fmt::format("const float {0} = __shfl_sync(0xffffffffu, {0}_of_lane, of_lane);", name));
      scope.call_value(node.get(), name);
    }
  }
  fillings.emplace_back("taken_of_rows", join_lines(taken));
  if (values.empty()) return "";
  return fill_lines(pixels_section("held_of_rows"),
                    {{"declarations", join_lines(declarations)},
                     {"values", join_lines(values)},
                     {"row_count", scope.extent(extent_of(contraction.rows))},
                     {"row_axes", join_lines(index_statements(scope, contraction.rows, "m", scope.used_axes()))}});
}

Stage TileStores::with_window_axes(Stage stage) const {
  std::vector<const ContractTail*> tails;
  if (tail_ != nullptr) tails.push_back(tail_);
  if (statistics_ != nullptr) {
    for (const auto& window : statistics_->windows) tails.push_back(&window.tail);
  }
  for (const auto* tail : tails) {
    for (const auto* axis : {&tail->line, &tail->column}) {
      if (!axis->name.empty() && std::ranges::count(stage.axes, axis->name, &StageAxis::name) == 0)
        stage.axes.push_back(*axis);
    }
  }
  return stage;
}

void TileStores::fill(KernelScope& scope, Fillings& fillings) const {
  fillings.emplace_back("out", out_.name);
  if (tail_ == nullptr) return fill_sums(scope, fillings);
  switch (tail_->kind) {
    case TailKind::rows:
      return fill_rows(scope, fillings);
    case TailKind::windows:
      return fill_windows(scope, fillings);
    case TailKind::pixels:
      return fill_pixels(scope, fillings);
  }
}

TileStores::StoredPlace TileStores::place_of(KernelScope& scope, const StageAxes& rows) const {
  const auto& columns = contraction_.columns;
  StoredPlace place;
  if (columns.size() > 1 || patch_ != nullptr) place.address = stored_address(contraction_);
  if (!place.address) return place;
  place.kept = {"long", "place_of_stored",
                address_text(scope, *place.address, patch_ != nullptr ? patch_->tile : columns, false)};
  auto around = joined_axes(contraction_.batch, rows);
  if (patch_ != nullptr) around = joined_axes(around, patch_->outer);
  const auto start = address_text(scope, *place.address, around, true);
  const std::string column = stores_lines() ? "j" : "j % COLUMN_PLACES";
  place.text = "place_of_stored[" + column + "]" + (start == "0" ? "" : " + " + start);
  return place;
}

StoredColumns TileStores::columns_of(KernelScope& scope, const std::set<std::string>& used, const StoredPlace& place,
                                     int at_once) const {
  const auto place_axes = place.address ? axes_in(*place.address) : std::set<std::string>();
  return patch_text_ != nullptr ? patch_text_->stored_pixels(scope, used, place.kept, place_axes, at_once)
                                : stored_columns(scope, contraction_.columns, used, place.kept, place_axes);
}

/// What a column owes to the place of its elements in the output is kept, as for loads.
void TileStores::fill_sums(KernelScope& scope, Fillings& fillings) const {
  const auto held = stores_lines() ? held_of_rows(scope, contraction_, *patch_, contraction_.batch, fillings) : "";
  const auto place = place_of(scope, contraction_.rows);
  const auto stored = stored_sum(scope, contraction_, out_, "total", place.text);
  if (statistics_ != nullptr) fillings.emplace_back("leave_parts", leave_parts(scope, stored));
  const auto used = scope.used_axes();
  auto used_of_rows = used;
  if (place.address) used_of_rows.merge(axes_in(*place.address));
  fillings.emplace_back("stored_row_axes", join_lines(index_statements(scope, contraction_.rows, "m", used_of_rows)));
  fillings.emplace_back("stored_guard", guard_text(stored.guard));
  fillings.emplace_back("values", stored.values);
  fillings.emplace_back("value", stored.value);
  fillings.emplace_back("place", stored.place);
  const auto* element = element_type(out_.dtype, scope.dialect());
  fillings.emplace_back("four", is_16_bit_float(out_.dtype) ? fmt::format("__align__(8) {}", element) : element);
  fillings.emplace_back("store_item", store_text(out_.dtype, "results", "item", stored.value, scope.dialect()));
  const int at_once = stores_lines() ? pixels_at_once(contraction_, out_, *patch_, place.address, used) : 0;
  const auto columns = columns_of(scope, used, place, at_once);
  fillings.emplace_back("stored_places", held.empty() ? columns.before : held + "\n" + columns.before);
  fillings.emplace_back("stored_column_axes", join_lines(columns.lines));
  if (stores_lines()) return fill_lines_of_pixels(scope, stored, place, at_once, fillings);
  fillings.emplace_back("place_column_axes", join_lines(columns.lines));
  fillings.emplace_back("store", stored.store);
}

/// Where statistics are left of the results, these take the place of the sums.
void TileStores::fill_lines_of_pixels(KernelScope& scope, const StoredSum& stored, const StoredPlace& place,
                                      int at_once, Fillings& fillings) const {
  constexpr std::size_t k_line_columns = 100;
  const bool keeps = statistics_ != nullptr, writes = !keeps || statistics_->stored, by_twos = at_once == 2;
  std::vector<std::string> store;
  if (by_twos) {
    if (keeps) store.push_back(fill_lines(pixels_section("keep_two")));
    if (writes) store.push_back(fill_lines(pixels_section("write_two"), fillings));
  } else if (keeps) {
    store.push_back(broken_statement(fmt::format("const float result = {};", stored.value), k_line_columns));
    store.emplace_back("kept_line[column_of_stored[j]] = result;");
    if (writes) store.push_back(store_text(out_.dtype, out_.name, stored.place, "result", scope.dialect()));
  } else {
    store.push_back(stored.store);
  }
  fillings.emplace_back("type", by_twos ? "float2" : "float");
  auto pixel = fillings;
  pixel.emplace_back("store", join_lines(store));
  fillings.emplace_back("store_place", fill_lines(pixels_section(by_twos ? "store_two_pixels" : "store_pixel"), pixel));
  const auto width = scope.extent(extent_of(patch_->run()));
  fillings.emplace_back("by_twos", by_twos && writes
                                       ? fmt::format("const bool by_twos = {};",
                                                     even_places_text(scope, *patch_, *place.address, width, out_.name))
                                       : "");
}

std::string TileStores::leave_parts(KernelScope& scope, const StoredSum& stored) const {
  const auto batches = scope.extent(extent_of(contraction_.batch));
  return fill_lines(kernel_text("program/statistics.cu", "leave_tile"),
                    {{"width", scope.extent(patch_->tile.back().extent)},
                     {"height", patch_->line ? scope.extent(patch_->tile[0].extent) : "1"},
                     {"row_count", scope.extent(extent_of(contraction_.rows))},
                     {"pixel_axes", pixel_axes(scope, "line", "across")},
                     {"stored_guard", guard_text(stored.guard)},
                     {"block", batches == "1" ? "block" : "block / " + batches},
                     {"batch", batches == "1" ? "(of_tile / tile_count)"
                                              : fmt::format("(of_tile / tile_count * {0} + block % {0})", batches)}});
}

/// A finished sum becomes part of `result`.
void TileStores::fill_gathered(KernelScope& scope, Fillings& fillings, const std::string& result) const {
  const auto stored = stored_sum(scope, contraction_, out_, "total", "0");
  fillings.emplace_back("stored_guard", guard_text(stored.guard));
  fillings.emplace_back("values", stored.values);
  fillings.emplace_back("neutral", tail_neutral(*tail_));
  fillings.emplace_back("gathered", tail_joined(scope, *tail_, result, stored.value));
  scope.forget_values();
}

void TileStores::fill_rows(KernelScope& scope, Fillings& fillings) const {
  fill_gathered(scope, fillings, "gathered[j]");
  fillings.emplace_back("gathered_row_axes",
                        join_lines(index_statements(scope, contraction_.rows, "m", scope.used_axes())));
  const auto place = place_of(scope, {});
  fillings.emplace_back("place", place.text.empty() ? stored_place(scope, contraction_) : place.text);
  fillings.emplace_back("count", scope.element_count(tail_->reduction.axes));
  const auto stored = columns_of(scope, scope.used_axes(), place, 0);
  const auto declared = fill_lines(tails_section("gathered"), fillings);
  fillings.emplace_back("stored_places", stored.before.empty() ? declared : stored.before + "\n" + declared);
  fillings.emplace_back("stored_column_axes", join_lines(stored.lines));
}

/// The indices of a pixel that the text so far has used, from those that the text around has.
std::string TileStores::pixel_axes(KernelScope& scope, const std::string& line, const std::string& across) const {
  std::vector<std::string> lines;
  const auto add_axis = [&](const std::optional<PatchAxis>& axis, const std::string& index) {
    if (!axis || scope.used_axes().count(axis->axis) == 0) return;
    lines.push_back(fmt::format("const int {} = {};", scope.axis(axis->axis), index));
  };
  add_axis(patch_->line, line);
  add_axis(patch_->across, across);
  return join_lines(lines);
}

/// The place in scratch memory is that of the row's number, and the tile among those that have some of it.
void TileStores::fill_pixels(KernelScope& scope, Fillings& fillings) const {
  fill_gathered(scope, fillings, "gathered");
  fillings.emplace_back("gathered_other", tail_joined(scope, *tail_, "gathered", "other"));
  fillings.emplace_back("pixel_axes", pixel_axes(scope, "line", "across"));
  fillings.emplace_back("place", stored_place(scope, contraction_));
  fillings.emplace_back("stored_row_axes",
                        join_lines(index_statements(scope, contraction_.rows, "m", scope.used_axes())));
  fillings.emplace_back("stored_places", "");
  const auto planes = scope.extent(extent_of(tail_->planes));
  const std::string tile = "tile % (tiles_wide * tiles_high)";
  fillings.emplace_back(
      "part", planes == "1" ? tile : fmt::format("outer % {} * (tiles_wide * tiles_high) + {}", planes, tile));
  fillings.emplace_back("part_count", planes == "1" ? "(tiles_wide * tiles_high)"
                                                    : fmt::format("(tiles_wide * tiles_high * {})", planes));
  fillings.emplace_back("width", scope.extent(patch_->tile.back().extent));
  fillings.emplace_back("height", patch_->line ? scope.extent(patch_->tile[0].extent) : "1");
}

void TileStores::fill_windows(KernelScope& scope, Fillings& fillings) const {
  fill_gathered(scope, fillings, "gathered");
  fillings.emplace_back("pixel_axes", pixel_axes(scope, "first_line + of_line", "first_place + of_column + part"));
  const auto result = tail_result(scope, out_, tail_->epilogue, stored_place(scope, contraction_));
  fillings.emplace_back("result_values", result.values);
  fillings.emplace_back("store", result.store);
  fillings.emplace_back("stored_row_axes",
                        join_lines(index_statements(scope, contraction_.rows, "m", scope.used_axes())));
  const auto& tail = *tail_;
  fillings.emplace_back("stored_places", "");
  const auto chunk = std::min<std::int64_t>(tail.columns, 4);
  fillings.emplace_back("chunk", std::to_string(chunk));
  fillings.emplace_back("chunk_type", chunk == 1 ? "float" : fmt::format("float{}", chunk));
  fillings.emplace_back("total", chunk == 1 ? "totals"
                                 : chunk == 2
                                     ? "part == 0 ? totals.x : totals.y"
                                     : "part == 0 ? totals.x : part == 1 ? totals.y : part == 2 ? totals.z : totals.w");
  fillings.emplace_back("window_lines", std::to_string(tail.lines));
  fillings.emplace_back("window_columns", std::to_string(tail.columns));
  fillings.emplace_back("window_items", std::to_string(tail.lines * tail.columns));
  fillings.emplace_back("window_line", tail.line.name.empty() ? "window_line" : scope.axis(tail.line.name));
  fillings.emplace_back("window_column", scope.axis(tail.column.name));
  fillings.emplace_back("windows_high", tail.line.name.empty() ? "1" : scope.extent(tail.line.extent));
  fillings.emplace_back("windows_across", scope.extent(tail.column.extent));
}

std::string TileStores::text(bool one_by_one, const Fillings& fillings) const {
  if (tail_ != nullptr) {
    const auto* section = tail_->kind == TailKind::rows     ? "gather_rows"
                          : tail_->kind == TailKind::pixels ? "gather_pixels"
                                                            : "store_windows";
    return fill_lines(tails_section(section), fillings);
  }
  if (stores_lines()) {
    const auto lines = fill_lines(pixels_section("store_lines"), fillings);
    return statistics_ == nullptr ? lines : lines + "\n" + fill_lines("${leave_parts}", fillings);
  }
  auto ones = fill_lines(stores_section("store_ones"), fillings);
  if (one_by_one || !stores_fours(contraction_, out_)) return ones;
  auto all = fillings;
  const bool floats = out_.dtype == DType::f32;
  all.emplace_back("store_four",
                   fill_lines(stores_section(floats ? "store_four_floats" : "store_four_halves"), fillings));
  all.emplace_back("store_ones", std::move(ones));
  return fill_lines(stores_section("store_fours"), all);
}

std::string TileStores::windows(KernelScope& scope, const std::vector<KernelBuffer>& buffers) const {
  std::string text;
  for (const auto& [contraction, tail] : statistics_->windows) {
    const TileStores windows(contraction, buffers[contraction.split.stage.buffer], patch_, patch_text_, &tail, nullptr);
    Fillings fillings = {{"row_count", scope.extent(extent_of(contraction_.rows))}};
    windows.fill(scope, fillings);
    text += fill_lines("\n{\n  ${windows}\n}", {{"windows", windows.text(true, fillings)}});
  }
  return text;
}

}  // namespace kw
