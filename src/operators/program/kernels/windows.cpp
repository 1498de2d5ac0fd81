#include "operators/program/kernels/windows.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/int_math.hpp"
#include "base/text.hpp"
#include "codegen/text.hpp"
#include "operators/program/kernels/accumulator.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/row_batches.hpp"
#include "operators/program/kernels/row_coordinates.hpp"
#include "operators/program/kernels/row_fours.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "operators/program/kernels/window_columns.hpp"
#include "operators/program/kernels/window_tile_text.hpp"
#include "program/stages/access.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

constexpr double k_most_taps = 1024;
/// A shorter line keeps too few work-items of a warp busy.
constexpr std::int64_t k_shortest_line = 12;
constexpr double k_most_lines = 1 << 30;
/// Bytes of shared memory that the columns of a work-group may take.
constexpr std::int64_t k_most_column_bytes = 24576;

/// Tiles of convolutions took 1 to 4 % less on an H100 with fewer of them, those of a maximum 20 % more.
Tunable window_threads(bool fewer = false) {
  return {"WINDOW_THREADS", {128, 256}, fewer ? 128 : 256};
}
/// Outputs of a work-item, one below the other, where it visits its windows alone.
Tunable window_lines() {
  return {"WINDOW_LINES", {1, 2, 4, 8}, 4};
}
/// The same of pooling, whose lines have less in common where windows are apart, and whose sums of columns take more
/// registers. On an H100, 4 gained 6 % in 1-42 of KernelBench, and 1 gained 9 % in 1-46.
Tunable pool_lines(const WindowTile& tile) {
  const bool close = tile.line && tile.line->stride == 1;
  return {"POOL_LINES", {1, 2, 4}, tile.stage.op == ReduceOp::sum ? 1 : close ? 4 : 2};
}

/// Inner axes whose place in a tensor follows from the output's as well.
std::size_t window_axes(const Stage& stage) {
  std::set<std::string> found;
  for_each_load(stage, [&](const StageNode& load) {
    for (const auto& index : load.operands) {
      const auto used = axes_used(index);
      const auto is_used = [&](const StageAxis& axis) { return used.count(axis.name) > 0; };
      if (std::none_of(stage.axes.begin(), stage.axes.end(), is_used)) continue;
      for (const auto& axis : stage.inner) {
        if (is_used(axis)) found.insert(axis.name);
      }
    }
  });
  return found.size();
}

class WindowWriter {
 public:
  WindowWriter(const GroupContext& context, const Stage& stage)
      : context_(context),
        stage_(stage),
        tile_(window_tile(context, stage)),
        window_(tile_ ? std::nullopt : columns_within_memory(stage)),
        scope_(context.buffers, stages_of(stage_, tile_, window_), context.dialect),
        lines_(stage.axes.begin(), stage.axes.end() - 1),
        lanes_(tile_ ? lanes_of_tiles(stage, *tile_) : lanes_of(stage)),
        outputs_(tile_     ? tile_->outputs
                 : window_ ? outputs_per_item(*window_)
                           : 1) {
    scope_.divide_quickly(context.program);
    if (tile_) tile_text_.emplace(context, stage_, *tile_, scope_, lanes_, line_count().name);
    if (window_) fours_ = row_fours(window_->columns, window_->places.place, 4, nullptr, scope_);
    if (fours_) shift_ = shift_of(*window_);
  }

  GroupKernels write() {
    const auto x = scope_.axis(stage_.axes.back().name);
    if (tile_) {
      tile_text_->write(body_);
    } else if (window_) {
      write_columns();
      write_outputs(x);
    } else {
      write_alone(x);
    }
    return kernel();
  }

 private:
  static std::vector<const Stage*> stages_of(const Stage& stage, const std::optional<WindowTile>& tile,
                                             const std::optional<WindowColumns>& window) {
    if (tile) return {&stage, &tile->stage};
    return window ? std::vector{&stage, &window->columns} : std::vector{&stage};
  }

  /// Work-items for a stretch of a line, so that few have no output in the last stretch.
  static std::int64_t lanes_of(const Stage& stage) {
    const auto line = stage.axes.back().extent.value();
    std::int64_t best = 128;
    for (const std::int64_t lanes : {64, 32}) {
      if (ceil_div(line, lanes) * lanes < ceil_div(line, best) * best) best = lanes;
    }
    return best;
  }

  /// As many as leave few of them without outputs; where it is the same, lines are those of a warp, below which other
  /// warps have the next ones.
  static std::int64_t lanes_of_tiles(const Stage& stage, const WindowTile& tile) {
    const auto tiles = ceil_div(stage.axes.back().extent.value(), tile.outputs);
    std::int64_t best = 32;
    for (const std::int64_t lanes : {64, 128, 16, 8}) {
      if (ceil_div(tiles, lanes) * lanes < ceil_div(tiles, best) * best) best = lanes;
    }
    return best;
  }

  /// Work-items with few elements to read have several outputs: as many reads are under way, and where the work-group
  /// is takes fewer instructions of each.
  static std::int64_t outputs_per_item(const WindowColumns& window) {
    constexpr double k_reads = 16.0;
    const double reads = count_of(window.columns.inner) * static_cast<double>(window.places.stride);
    const auto line = window.columns.axes.back().extent.value();
    std::int64_t outputs = 1;
    while (static_cast<double>(outputs) * reads < k_reads && outputs * 128 < line) outputs *= 2;
    return outputs;
  }

  /// Columns of a stretch before the first one that an output has: stretches begin at multiples of four.
  static std::int64_t shift_of(const WindowColumns& window) { return (window.places.start % 4 + 4) % 4; }

  static std::int64_t span_of(const WindowColumns& window, std::int64_t outputs) {
    return ceil_div(window.places.span(outputs) + shift_of(window), 4) * 4;
  }

  static std::optional<WindowColumns> columns_within_memory(const Stage& stage) {
    auto window = window_columns(stage);
    if (!window) return std::nullopt;
    const auto lanes = lanes_of(stage);
    const auto lines = window_threads().values.back() / lanes;
    const auto bytes = lines * span_of(*window, lanes * outputs_per_item(*window)) * 4;
    return bytes <= k_most_column_bytes ? window : std::nullopt;
  }

  [[nodiscard]] std::int64_t span() const { return span_of(*window_, lanes_ * outputs_); }

  [[nodiscard]] std::string line_extent() { return scope_.extent(stage_.axes.back().extent); }

  /// Each column of the stretch into shared memory.
  void write_columns() {
    body_.open("if (live)");
    // Columns behind those of the line's last output may lie outside of the tensor.
    body_.line(fmt::format("const int behind = ({} - 1 - first) * {} + {};", line_extent(), window_->places.stride,
                           (window_->places.taps - 1) * window_->places.dilation + 1 + shift_));
    if (fours_) {
      body_.open(fmt::format("if ({})", fmt::join(fours_->conditions, " && ")));
      write_four_columns();
      body_.close();
      body_.open("else");
    }
    const auto accumulator = plain_accumulator(window_->columns);
    open_columns(1);
    body_.line("const " + column_text());
    body_.lines(accumulator.declarations);
    write_taps(window_->columns, accumulator);
    body_.line(fmt::format("columns[line][at] = {};", accumulator.result));
    body_.close();
    body_.close();
    if (fours_) body_.close();
    body_.close();
    body_.line("__syncthreads();");
    scope_.forget_values();
  }

  void open_columns(int at_once) {
    const auto times = at_once == 1 ? std::string() : fmt::format(" * {}", at_once);
    body_.line("#pragma unroll");
    body_.open(fmt::format("for (int at = lane{}; at < {}; at += {})", times, span(), lanes_ * at_once));
    body_.open("if (at < behind)");
  }

  /// The place in the tensor of the column `at`.
  [[nodiscard]] std::string column_text() {
    return fmt::format("int {} = first * {} + at{};", scope_.axis(window_->places.place), window_->places.stride,
                       signed_text(window_->places.start - shift_));
  }

  /// Four neighbouring columns at a time: the window's other axes are the same for them, and so are guards.
  void write_four_columns() {
    const auto accumulator = plain_accumulator(window_->columns);
    const auto& state = accumulator.state[0].name;
    const auto column = scope_.axis(window_->places.place);
    const auto first = scope_.new_name("first_" + column);
    open_columns(4);
    body_.line("float fours[4];");
    open_items();
    body_.lines(accumulator.declarations);
    body_.line(fmt::format("fours[item] = {};", accumulator.result));
    body_.close();
    body_.line(column_text());
    body_.line(fmt::format("const int {} = {};", first, column));
    write_guarded(window_->columns, [&] {
      const auto reads = four_reads(*fours_, "item", scope_);
      auto statements = reads.loads;
      const auto add = [&](const std::vector<std::string>& more, const char* margin) {
        for (const auto& line : more) statements.push_back(margin + line);
      };
      add({"#pragma unroll", "for (int item = 0; item < 4; ++item) {"}, "");
      add({fmt::format("float& {} = fours[item];", state), fmt::format("{} = {} + item;", column, first)}, "  ");
      add(reads.elements, "  ");
      add(scope_.shared_values({window_->columns.body}, true), "  ");
      add(accumulator.step(without_parentheses(scope_.text(window_->columns.body)), ""), "  ");
      add({"}", fmt::format("{} = {};", column, first)}, "");
      return statements;
    });
    body_.line("*(float4*)&columns[line][at] = make_float4(fours[0], fours[1], fours[2], fours[3]);");
    body_.close();
    body_.close();
  }

  void open_items() {
    body_.line("#pragma unroll");
    body_.open("for (int item = 0; item < 4; ++item)");
  }

  void write_outputs(const std::string& x) {
    const auto accumulator = plain_accumulator(stage_);
    body_.line("#pragma unroll");
    body_.open(fmt::format("for (int at = lane; at < {}; at += {})", lanes_ * outputs_, lanes_));
    body_.line(fmt::format("const int {} = first + at;", x));
    body_.open(fmt::format("if (live && {} < {})", x, line_extent()));
    body_.lines(accumulator.declarations);
    if (window_->places.taps <= 32) body_.line("#pragma unroll");
    body_.open(fmt::format("for (int tap = 0; tap < {}; ++tap)", window_->places.taps));
    body_.lines(accumulator.step(fmt::format("columns[line][at * {} + tap * {}{}]", window_->places.stride,
                                             window_->places.dilation, signed_text(shift_)),
                                 ""));
    body_.close();
    write_result(accumulator);
    body_.close();
    body_.close();
  }

  /// Each output by itself. Where all lines of a stack are there, none is asked for, so that the compiler reads once
  /// what several of them need.
  void write_alone(const std::string& x) {
    body_.line(fmt::format("const int {} = first + lane;", x));
    body_.open(fmt::format("if (live && {} < {})", x, line_extent()));
    if (!stacked()) {
      write_output();
    } else {
      const auto lines = scope_.extent(lines_.back().extent);
      body_.open(fmt::format("if (top + WINDOW_LINES <= {})", lines));
      write_stack("");
      body_.close();
      body_.open("else");
      write_stack(lines);
      body_.close();
    }
    body_.close();
  }

  /// `lines`: how many there are; empty where the stack has all of its own.
  void write_stack(const std::string& lines) {
    const auto y = scope_.axis(lines_.back().name);
    body_.line("#pragma unroll");
    body_.open("for (int item = 0; item < WINDOW_LINES; ++item)");
    body_.line(fmt::format("const int {} = top + item;", y));
    if (!lines.empty()) body_.open(fmt::format("if ({} < {})", y, lines));
    write_output();
    if (!lines.empty()) body_.close();
    body_.close();
  }

  void write_output() {
    const auto accumulator = plain_accumulator(stage_);
    body_.lines(accumulator.declarations);
    write_taps(stage_, accumulator);
    scope_.forget_values();
    write_result(accumulator);
  }

  /// Whether a work-item has outputs of several lines.
  [[nodiscard]] bool stacked() const { return tile_ ? tile_->line.has_value() : !window_ && !lines_.empty(); }

  [[nodiscard]] Tunable line_count() const { return tile_ && tile_->pools ? pool_lines(*tile_) : window_lines(); }

  Accumulator plain_accumulator(const Stage& stage) {
    auto sequential = stage;
    sequential.in_parts = false;  // windows are short
    auto accumulator = accumulator_of(sequential, "");
    own_helpers_.insert(accumulator.own_helpers.begin(), accumulator.own_helpers.end());
    return accumulator;
  }

  void write_taps(const Stage& stage, const Accumulator& accumulator) {
    write_guarded(stage, [&] {
      auto statements = scope_.shared_values({stage.body}, true);
      const auto step = accumulator.step(without_parentheses(scope_.text(stage.body)), "");
      statements.insert(statements.end(), step.begin(), step.end());
      return statements;
    });
  }

  /// The statements that `print` gives, for every tap that counts. What guards name is known to them.
  template <typename Print>
  void write_guarded(const Stage& stage, const Print& print) {
    StageExpr guard;
    for (const auto& one : stage.guards) guard = both(guard, one);
    std::vector<std::string> statements;
    if (guard) {
      statements = scope_.shared_values({guard}, false);
      statements.push_back(fmt::format("if ({}) {{", scope_.text(guard)));
    }
    for (const auto& one : print()) statements.push_back((guard ? "  " : "") + one);
    if (guard) statements.emplace_back("}");
    write_nested_loops(body_, stage.inner, scope_, statements);
    scope_.forget_values();
  }

  void write_result(const Accumulator& accumulator) {
    write_window_result(body_, scope_, context_, stage_, accumulator.result);
  }

  /// Lines that a work-group has one below the other: so many of the last of their axes are one for a work-item.
  [[nodiscard]] std::string opening() {
    const auto threads = window_threads().name;
    const auto stretch = lanes_ * outputs_;
    BodyWriter text;
    if (tile_) text.lines(tile_text_->declarations(threads));
    if (window_)
      text.line(fmt::format("__shared__ __align__(16) float columns[{} / {}][{}];", threads, lanes_, span()));
    text.line(fmt::format("const int lane = threadIdx.x % {};", lanes_));
    text.line(fmt::format("const int line = threadIdx.x / {};", lanes_));
    text.line(fmt::format("const int tiles = ({0} + {1} - 1) / {1};", line_extent(), stretch));
    text.line(fmt::format("const int first = blockIdx.x % tiles * {};", stretch));
    const auto place = fmt::format("blockIdx.x / tiles * ({} / {}) + line", threads, lanes_);
    StageAxes rows = lines_;
    const auto lines = line_count().name;
    if (stacked()) {
      rows.pop_back();
      text.line(fmt::format("const int stacks = ({0} + {1} - 1) / {1};", scope_.extent(lines_.back().extent), lines));
      text.line(fmt::format("const int place = {};", place));
      text.line("const int row = place / stacks;");
      text.line(fmt::format("const int top = place % stacks * {};", lines));
    } else {
      text.line(fmt::format("const int row = {};", place));
    }
    text.line(fmt::format("const bool live = row < {};", scope_.element_count(rows)));
    text.lines(row_coordinates(rows, scope_));
    return text.text();
  }

  /// Blocks that a unit is to hold. Columns of a tile are so many registers that the compiler, left alone, keeps other
  /// values in memory rather than have fewer blocks.
  [[nodiscard]] std::string resident_blocks() const {
    if (!tile_ || !tile_->apart) return "";
    const auto blocks = fmt::format(", 1024 / {}", window_threads().name);
    return stacked() ? fmt::format("{} / ({} < 4 ? 1 : 2)", blocks, line_count().name) : blocks;
  }

  [[nodiscard]] GroupKernels kernel() {
    const auto start = opening();
    const auto threads = window_threads(tile_ && !tile_->pools);
    const KernelSignature signature(context_, scope_, {stage_.buffer});
    auto kernels = signature.kernels(kernel_of_buffer(context_, stage_.buffer), threads.name + resident_blocks(),
                                     start + body_.text());
    kernels.launches[0].block = {threads.name};
    Shape outer;
    for (const auto& axis : lines_) outer.push_back(axis.extent);
    std::string places = outer.empty() ? "1" : count_expression(outer);
    if (stacked()) {
      const auto last = outer.back().text();
      outer.pop_back();
      places = fmt::format("ceil_div({}, {})", last, line_count().name);
      if (!outer.empty()) places = fmt::format("({}) * {}", count_expression(outer), places);
      kernels.tunables.push_back(line_count());
    }
    kernels.tunables.push_back(threads);
    kernels.launches[0].grid = {fmt::format("ceil_div({}, {}) * ceil_div({}, {} / {})",
                                            stage_.axes.back().extent.text(), lanes_ * outputs_, places, threads.name,
                                            lanes_)};
    kernels.own_helpers.insert(own_helpers_.begin(), own_helpers_.end());
    return kernels;
  }

  const GroupContext& context_;
  const Stage& stage_;
  std::optional<WindowTile> tile_;
  std::optional<WindowColumns> window_;  ///< where there are no tiles
  KernelScope scope_;
  StageAxes lines_;       ///< of the output but the last one
  std::int64_t lanes_;    ///< work-items of a line
  std::int64_t outputs_;  ///< of a work-item in its line
  std::optional<WindowTileText> tile_text_;
  std::optional<RowFours> fours_;  ///< of the columns
  std::int64_t shift_ = 0;         ///< of an output's first column in its stretch
  BodyWriter body_;
  std::set<std::string> own_helpers_;
};

}  // namespace

bool is_window(const Stage& stage, Dialect dialect) {
  if (dialect->warp.empty() || stage.kind != StageKind::reduce || stage.axes.empty() || stage.inner.empty())
    return false;
  const bool simple = stage.op == ReduceOp::sum || stage.op == ReduceOp::product || stage.op == ReduceOp::maximum ||
                      stage.op == ReduceOp::minimum;
  if (!simple || stage.position || stage.place || stage.body->type != StageType::real) return false;
  const bool constant = std::all_of(stage.inner.begin(), stage.inner.end(),
                                    [](const StageAxis& axis) { return axis.extent.is_constant(); });
  return constant && count_of(stage.inner) <= k_most_taps && stage.axes.back().extent.value() >= k_shortest_line &&
         count_of(stage.axes) / static_cast<double>(stage.axes.back().extent.value()) <= k_most_lines &&
         (slides(stage) ? window_axes(stage) > 0 : window_axes(stage) > 1);
}

bool windows_take(const GroupContext& context, const StageGroup& group) {
  return group.rows == 0 && group.stages.size() == 1 &&
         is_window(context.program.stages[group.stages[0]], context.dialect);
}

GroupKernels windows_kernels(const GroupContext& context, const StageGroup& group) {
  return WindowWriter(context, context.program.stages[group.stages[0]]).write();
}

}  // namespace kw
