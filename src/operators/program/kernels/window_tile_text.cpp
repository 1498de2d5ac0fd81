#include "operators/program/kernels/window_tile_text.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "operators/program/kernels/lane_loops.hpp"
#include "operators/program/kernels/row_fours.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

std::vector<std::string> output_indices(const Stage& stage, KernelScope& scope) {
  std::vector<std::string> indices;
  for (const auto& axis : stage.axes) indices.push_back(scope.text(axis_index(axis.name)));
  return indices;
}

void open_loop(BodyWriter& body, const std::string& index, const std::string& count, bool unrolled = true) {
  body.line(unrolled ? "#pragma unroll" : "#pragma unroll 1");
  body.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", index, count));
}

}  // namespace

void write_window_result(BodyWriter& body, KernelScope& scope, const GroupContext& context, const Stage& stage,
                         const std::string& result) {
  scope.call_result(result);
  const auto value = stage.epilogue ? stage.epilogue : reduction_result(stage.body->type);
  body.lines(scope.shared_values({stage.epilogue}, true));
  const auto& buffer = context.buffers[stage.buffer];
  body.line(store_text(buffer.dtype, buffer.name, scope.offset(output_indices(stage, scope), extents_of(stage.axes)),
                       without_parentheses(scope.text(value)), scope.dialect()));
}

WindowTileText::WindowTileText(const GroupContext& context, const Stage& stage, const WindowTile& tile,
                               KernelScope& scope, std::int64_t lanes, std::string lines)
    : context_(context), stage_(stage), tile_(tile), scope_(scope), lanes_(lanes), lines_(std::move(lines)) {
  auto sequential = stage;
  sequential.in_parts = false;  // windows are short
  accumulator_ = accumulator_of(sequential, "");
  for (const auto& helper : accumulator_.own_helpers) scope_.need_own(helper);
  for (std::size_t i = 0; i < tile.loads.size(); ++i) {
    values_.push_back(scope.new_name(fmt::format("values_{}", i)));
    pointers_.push_back(scope.new_name(fmt::format("from_{}", i)));
    lines_at_.push_back(scope.new_name(fmt::format("line_{}", i)));
  }
  if (tile.outputs == 4) find_fours();
}

/// What has to hold so that lines are read in fours: what row_fours() says, and bounds that no four is asked for then.
void WindowTileText::find_fours() {
  conditions_ = row_fours(tile_.stage, tile_.column.place, 4, nullptr, scope_)->conditions;
  fours_ = window_slots(tile_, 4);
  for (const auto& one : bound_fours(*fours_, tile_, stage_.axes.back().extent)) {
    conditions_.push_back(without_parentheses(scope_.text(one)));
  }
  if (stage_.axes.back().extent.value() % 4 != 0) return;
  const auto stored = stored_fours(place_of(stage_), stage_.axes.back().name, 4, scope_);
  stores_fours_ = stored.has_value();
  if (stored) conditions_.insert(conditions_.end(), stored->begin(), stored->end());
}

std::vector<std::string> WindowTileText::declarations(const std::string& threads) const {
  if (tile_.outputs == 1 || stores_fours_) return {};
  return {fmt::format("__shared__ __align__(16) float exchanged[{}][{}];", threads, tile_.outputs)};
}

void WindowTileText::write(BodyWriter& body) {
  write_places(body);
  write_states(body);
  body.open("if (live)");
  write_sums(body);
  body.close();
  write_stores(body);
}

/// Where the tile's lines and columns begin. A tile behind the last one of its line gathers what that one does.
void WindowTileText::write_places(BodyWriter& body) {
  const auto& column = tile_.column;
  body.line(tile_.outputs == 1
                ? fmt::format("const int last = {} - 1;", column_extent())
                : fmt::format("const int last = ({0} - 1) / {1} * {1};", column_extent(), tile_.outputs));
  const auto place = times_text(column.stride) + signed_text(column.start - tile_.shift());
  body.line(fmt::format("const int {} = min(first + lane{}, last){};", scope_.axis(column.place),
                        times_text(tile_.outputs), place));
  if (tile_.line) {
    const auto& line = *tile_.line;
    const auto first = scope_.axis(tile_.first_line);
    body.line(fmt::format("const int {} = top{}{};", first, times_text(line.stride), signed_text(line.start)));
    body.line(fmt::format("const int {} = {} + ({} - 1){}{};", scope_.axis(tile_.last_line), first, lines_,
                          times_text(line.stride), signed_text((line.taps - 1) * line.dilation)));
  }
  if (!fours_) return;
  body.line(fmt::format("const int {} = last{};", scope_.axis(tile_.last_column), place));
  body.line(fmt::format("const bool fours = {};", fmt::join(conditions_, " && ")));
}

std::string WindowTileText::state(const std::string& at) const {
  return (tile_.line ? "sums[item][" : "sums[") + at + "]";
}

/// The place of a tap in what a tile has of a line.
std::string WindowTileText::offset_text(const std::string& side, const std::string& tap) const {
  return fmt::format("{}{} + {}{}{}", side, times_text(tile_.column.stride), tap, times_text(tile_.column.dilation),
                     signed_text(tile_.shift()));
}

void WindowTileText::write_states(BodyWriter& body) {
  body.line(fmt::format("float sums{}[{}];", tile_.line ? "[" + lines_ + "]" : "", tile_.states()));
  if (tile_.line) open_loop(body, "item", lines_);
  open_loop(body, "at", std::to_string(tile_.states()));
  body.lines(accumulator_.declarations);
  body.line(fmt::format("{} = {};", state("at"), accumulator_.result));
  body.close();
  if (tile_.line) body.close();
}

void WindowTileText::write_sums(BodyWriter& body) {
  if (!fours_) {
    auto singles = window_slots(tile_, 1);
    bound_singles(singles, tile_, stage_.axes.back().extent);
    return write_whole_or_not(body, singles);
  }
  body.open("if (fours)");
  write_whole_or_not(body, *fours_);
  body.close();
  body.open("else");
  write_elements(body, {0, {}}, false);
  body.close();
}

void WindowTileText::write_whole_or_not(BodyWriter& body, const WindowSlots& slots) {
  if (!tile_.line) return write_elements(body, slots, true);
  body.open(fmt::format("if ({})", bounds_text(tile_.line_bounds, tile_.first_line, tile_.last_line)));
  write_elements(body, slots, true);
  body.close();
  body.open("else");
  write_elements(body, slots, false);
  body.close();
}

/// Bounds of a line from one place to another one.
std::string WindowTileText::bounds_text(const std::vector<PlaceBound>& bounds, const std::string& at_first,
                                        const std::string& at_last) {
  std::vector<StageExpr> all;
  for (const auto& bound : bounds) {
    const auto& at = bound.falls ? at_last : at_first;
    all.push_back(with_axes(bound.holds, {{tile_.line->place, axis_index(at)}}));
  }
  return all_text(all);
}

std::string WindowTileText::all_text(const std::vector<StageExpr>& bounds) {
  StageExpr all;
  for (const auto& one : bounds) all = both(all, one);
  return all ? without_parentheses(scope_.text(all)) : "true";
}

/// Adds all elements of the tile. `all_lines`: none of them is asked for.
void WindowTileText::write_elements(BodyWriter& body, const WindowSlots& slots, bool all_lines) {
  if (slots.asked()) {
    std::vector<std::string> inside;
    for (const auto& slot : slots.slots) inside.push_back(slot.count == 0 ? "false" : all_text(slot.bounds));
    body.line(fmt::format("const bool inside[{}] = {{{}}};", inside.size(), fmt::join(inside, ", ")));
  }
  for (const auto& axis : tile_.outer) {
    open_loop(body, scope_.axis(axis.name), scope_.extent(axis.extent), false);
  }
  if (tile_.guard) {
    body.lines(scope_.shared_values({tile_.guard}, false));
    body.open(fmt::format("if ({})", scope_.text(tile_.guard)));
  }
  write_lines(body, slots, all_lines);
  scope_.forget_values();
  if (tile_.guard) body.close();
  for (std::size_t i = 0; i < tile_.outer.size(); ++i) body.close();
}

/// Line by line, from one place of each tensor.
void WindowTileText::write_lines(BodyWriter& body, const WindowSlots& slots, bool all_lines) {
  for (std::size_t i = 0; i < tile_.loads.size(); ++i) {
    auto first = *tile_.loads[i];
    for (auto& index : first.operands) {
      if (tile_.line) index = with_axes(index, {{tile_.line->place, axis_index(tile_.first_line)}});
    }
    body.line(fmt::format("const auto* const {} = {} + ({});", pointers_[i], scope_.buffer(first.tensor.buffer).name,
                          scope_.place_text(first)));
  }
  if (!tile_.line) {
    write_reads(body, slots);
    write_steps(body, slots);
    return;
  }
  const auto& line = *tile_.line;
  // What takes the place of fours is to be short, and to take no registers that fours do not.
  open_loop(
      body, "from",
      fmt::format("({} - 1){}{}", lines_, times_text(line.stride), signed_text((line.taps - 1) * line.dilation + 1)),
      slots.width > 0);
  body.line(fmt::format("const int {} = {} + from;", scope_.axis(line.place), scope_.axis(tile_.first_line)));
  if (!all_lines) body.open(fmt::format("if ({})", bounds_text(tile_.line_bounds, line.place, line.place)));
  write_reads(body, slots);
  open_loop(body, "item", lines_);
  open_tap_of_line(body);
  write_steps(body, slots);
  body.close();
  body.close();
  if (!all_lines) body.close();
  body.close();
}

/// Where the line `from` of the tile is one of the windows of its outputs' line `item`.
void WindowTileText::open_tap_of_line(BodyWriter& body) {
  const auto& line = *tile_.line;
  const auto tap = scope_.axis(line.tap);
  const auto stride = times_text(line.stride);
  if (line.dilation == 1) {
    body.line(fmt::format("const int {} = from - item{};", tap, stride));
    body.open(fmt::format("if (0 <= {0} && {0} < {1})", tap, line.taps));
  } else {
    body.line(fmt::format("const int {} = (from - item{}) / {};", tap, stride, line.dilation));
    body.open(fmt::format("if (from == item{0} + {1} * {2} && 0 <= {1} && {1} < {3})", stride, tap, line.dilation,
                          line.taps));
  }
}

/// What outputs need of a line, each in a variable, or where it is to be read.
void WindowTileText::write_reads(BodyWriter& body, const WindowSlots& slots) {
  for (std::size_t i = 0; i < tile_.loads.size(); ++i) {
    const auto& load = *tile_.loads[i];
    const auto dtype = scope_.buffer(load.tensor.buffer).dtype;
    const auto line = line_of(body, i);
    if (slots.width == 0) {
      scope_.call_value(&load, element_text(dtype, line, "at", scope_.dialect()));
      continue;
    }
    const auto& values = values_[i];
    body.line(fmt::format("{}float {}[{}];", slots.width == 4 ? "__align__(16) " : "", values,
                          static_cast<std::int64_t>(slots.slots.size()) * slots.width));
    for (std::size_t at = 0; at < slots.slots.size(); ++at) {
      const auto& slot = slots.slots[at];
      if (slot.count == 0) continue;
      const auto guard = slot.bounds.empty() ? "" : fmt::format("if (inside[{}]) ", at);
      const auto offset = std::to_string(slot.offset);
      body.line(guard + (slot.count == 4
                             ? fmt::format("*(float4*)&{0}[{1}] = *(const float4*)&{2}[{1}];", values, offset, line)
                             : fmt::format("{}[{}] = {};", values, offset,
                                           element_text(dtype, line, offset, scope_.dialect()))));
    }
    scope_.call_value(&load, values + "[at]");
  }
}

/// The name of the line at hand of a load's tensor.
std::string WindowTileText::line_of(BodyWriter& body, std::size_t load) {
  const auto& node = *tile_.loads[load];
  const auto& shape = node.tensor.type.shape;
  for (std::size_t axis = 0; tile_.line && axis < shape.size(); ++axis) {
    if (node.operands[axis]->op != StageOp::axis || node.operands[axis]->axis != tile_.line->place) continue;
    StageAxes behind;
    for (auto next = axis + 1; next < shape.size(); ++next) behind.push_back({"", shape[next]});
    body.line(fmt::format("const auto* const {} = {} + from * {};", lines_at_[load], pointers_[load],
                          scope_.element_count(behind)));
    return lines_at_[load];
  }
  return pointers_[load];
}

/// Adds what was read of a line to the outputs of one line.
void WindowTileText::write_steps(BodyWriter& body, const WindowSlots& slots) {
  if (tile_.apart) {
    open_loop(body, "at", std::to_string(tile_.span()));
    write_step(body, slots, state("at"));
    body.close();
    return;
  }
  const auto tap = scope_.axis(tile_.column.tap);
  open_loop(body, tap, std::to_string(tile_.column.taps), slots.width > 0);
  open_loop(body, "side", std::to_string(tile_.outputs));
  body.line(fmt::format("const int at = {};", offset_text("side", tap)));
  write_step(body, slots, state("side"));
  body.close();
  body.close();
}

void WindowTileText::write_step(BodyWriter& body, const WindowSlots& slots, const std::string& of_state) {
  const auto condition = condition_at(slots);
  if (!condition.empty()) body.open(fmt::format("if ({})", condition));
  body.line(fmt::format("float& {} = {};", accumulator_.state[0].name, of_state));
  body.lines(scope_.shared_values({tile_.stage.body}, true));
  body.lines(accumulator_.step(without_parentheses(scope_.text(tile_.stage.body)), ""));
  if (!condition.empty()) body.close();
}

/// Whether the element at `at` counts; empty where all do.
std::string WindowTileText::condition_at(const WindowSlots& slots) {
  if (slots.width > 0) {
    if (!slots.asked()) return "";
    return fmt::format("inside[at{}]", slots.width == 1 ? "" : fmt::format(" / {}", slots.width));
  }
  scope_.call_value(at_.get(), "at");
  std::vector<StageExpr> bounds;
  for (const auto& one : tile_.column_bounds) {
    bounds.push_back(with_axes(one.holds, {{tile_.column.place, axis_index(tile_.column.place) + at_}}));
  }
  return bounds.empty() ? "" : all_text(bounds);
}

/// Whether there is an output at this column, of the line at hand.
std::string WindowTileText::exists(const std::string& column) {
  std::string text = "live && ";
  if (tile_.line) text += fmt::format("{} < {} && ", scope_.axis(line_axis().name), scope_.extent(line_axis().extent));
  return text + fmt::format("{} < {}", column, column_extent());
}

/// A variable for what was gathered for an output.
void WindowTileText::write_gathered(BodyWriter& body, const std::string& side) {
  if (!tile_.apart) {
    body.line(fmt::format("const float {} = {};", accumulator_.state[0].name, state(side)));
    return;
  }
  body.lines(accumulator_.declarations);
  open_loop(body, "tap", std::to_string(tile_.column.taps));
  body.lines(accumulator_.step(state(offset_text(side, "tap")), ""));
  body.close();
}

void WindowTileText::write_stores(BodyWriter& body) {
  if (stores_fours_) {
    body.line(fmt::format("float* const stored = {} + ({});", context_.buffers[stage_.buffer].name, first_stored()));
  }
  if (tile_.line) {
    open_loop(body, "item", lines_);
    body.line(fmt::format("const int {} = top + item;", scope_.axis(line_axis().name)));
  }
  if (stores_fours_) {
    write_four_results(body);
  } else if (tile_.outputs > 1) {
    write_exchanged(body);
  } else {
    write_one_result(body, "first + lane", [&] { write_gathered(body, "0"); });
  }
  if (tile_.line) body.close();
}

/// The result of the output in this column, if there is one.
void WindowTileText::write_one_result(BodyWriter& body, const std::string& column,
                                      const std::function<void()>& gather) {
  const auto x = scope_.axis(stage_.axes.back().name);
  body.line(fmt::format("const int {} = {};", x, column));
  body.open(fmt::format("if ({})", exists(x)));
  gather();
  write_window_result(body, scope_, context_, stage_, accumulator_.state[0].name);
  scope_.forget_values();
  body.close();
}

/// Sixteen bytes of neighbours. Where these are none, there may be fewer than four outputs: what stands for the others
/// is not stored.
void WindowTileText::write_four_results(BodyWriter& body) {
  const auto x = scope_.axis(stage_.axes.back().name);
  body.open(fmt::format("if ({})", exists("first + lane * 4")));
  body.line("float results[4];");
  open_loop(body, "side", "4");
  body.line(fmt::format("const int {} = min(first + lane * 4 + side, {} - 1);", x, column_extent()));
  write_gathered(body, "side");
  scope_.call_result(accumulator_.state[0].name);
  const auto value = stage_.epilogue ? stage_.epilogue : reduction_result(stage_.body->type);
  body.lines(scope_.shared_values({stage_.epilogue}, true));
  body.line(fmt::format("results[side] = {};", without_parentheses(scope_.text(value))));
  scope_.forget_values();
  body.close();
  const auto line = tile_.line ? fmt::format("item * (long){}", column_extent()) : "0";
  body.open("if (fours)");
  body.line(fmt::format("*(float4*)&stored[{}] = make_float4(results[0], results[1], results[2], results[3]);", line));
  body.close();
  body.open("else");
  open_loop(body, "side", "4");
  body.line(fmt::format("if (first + lane * 4 + side < {}) stored[{} + side] = results[side];", column_extent(), line));
  body.close();
  body.close();
  body.close();
}

/// The place of the first output of a tile.
std::string WindowTileText::first_stored() {
  auto indices = output_indices(stage_, scope_);
  indices.back() = "first + lane * 4";
  if (tile_.line) indices[indices.size() - 2] = "top";
  return scope_.offset(indices, extents_of(stage_.axes));
}

/// Where lines are not of fours, lanes store outputs that are neighbours: what lanes have is exchanged in their warp.
void WindowTileText::write_exchanged(BodyWriter& body) {
  const auto sync = scope_.dialect()->lanes_are_fixed ? "__syncwarp();" : "__syncthreads();";
  const auto lanes = std::min<std::int64_t>(lanes_, 32);
  open_loop(body, "side", "4");
  write_gathered(body, "side");
  body.line(fmt::format("exchanged[threadIdx.x][side] = {};", accumulator_.state[0].name));
  body.close();
  body.line(sync);
  open_loop(body, "side", "4");
  body.line(fmt::format("const int at = {}side * {} + lane % {};",
                        lanes_ == lanes ? "" : fmt::format("lane / {0} * {1} + ", lanes, lanes * 4), lanes, lanes));
  write_one_result(body, "first + at", [&] {
    body.line(
        fmt::format("const float {} = exchanged[threadIdx.x - lane + at / 4][at % 4];", accumulator_.state[0].name));
  });
  body.close();
  body.line(sync);
}

}  // namespace kw
