#include "operators/program/kernels/contract_scaled_halves.hpp"

#include <algorithm>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_boxes.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/factor_memory.hpp"
#include "operators/program/kernels/scratch_memory.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// SCALED_HALVES of the text, and its SCALED_STEPS.
constexpr int k_together = 64;
int steps_together(bool rounded) {
  return rounded ? k_together : k_together / 2;
}
/// SPLIT_THREADS and SPLIT_PARTS of the text.
constexpr int k_split_threads = 256, k_parts = 16;

/// Locals of the texts that split, which no axis may be called.
constexpr const char* k_splitting_locals =
    "thread line from steps runs whole kept largest to place lane warp lines chunks first_chunk end_chunk "
    "first next tiles numbers chunk part_chunks exponent load_steps batch i k run apart of_tile of_warp "
    "block numbers_of_warp scale j eight most halves exponents tile line_threads at together";

std::string_view scaled_section(const char* name) {
  return kernel_text("program/contract_scaled_halves.cu", name);
}

/// What kernels keep for each other is f32 too.
bool is_f32(const StageBuffer& buffer) {
  return scratch_type(buffer.type.dtype) == DType::f32 &&
         (buffer.use == BufferUse::scratch || buffer.type.dtype == ElementType::float32);
}

std::optional<ScaledFactor> scaled_factor(const Contraction& contraction, const ContractionFactor& factor,
                                          const StageAxes& lines, const StageProgram& program) {
  const auto& element = factor.element;
  if (element->op != StageOp::load || !factor.guards.empty() || !is_f32(program.buffers[element->tensor.buffer]))
    return std::nullopt;
  auto address = load_address(*element, contraction.split.phases);
  if (!address || !address->terms.empty()) return std::nullopt;
  const bool along_steps = is_one_run(*address, contraction.split.stage.inner);
  if (!along_steps && (lines.empty() || !is_one_run(*address, {lines.back()}))) return std::nullopt;
  ScaledFactor scaled{element->tensor.buffer, std::move(*address), along_steps, {}};
  for (const auto& axis : contraction.batch) {
    if (factor.axes.count(axis.name) > 0) scaled.batch.push_back(axis);
  }
  if (!has_extents(joined_axes(scaled.batch, lines))) return std::nullopt;
  // Windows of a convolution would be split once for each tap.
  double elements = 1.0;
  for (const auto& extent : element->tensor.type.shape) elements *= static_cast<double>(extent.value());
  if (count_of(scaled.batch) * count_of(lines) * count_of(contraction.inner) > elements) return std::nullopt;
  return scaled;
}

double bytes_of(const ScaledFactor& factor, const StageAxes& lines, const StageAxes& inner, bool rounded) {
  // Elements of a step that are neighbours are read twice: once to find the largest, once to be split.
  constexpr double k_float = 4.0, k_half = 2.0;
  const double bytes = (factor.along_steps ? k_float : 2.0 * k_float) + (rounded ? k_half : 2.0 * k_half);
  return bytes * count_of(factor.batch) * count_of(lines) * count_of(inner);
}

/// How the texts call a factor.
struct FactorNames {
  std::string lines, line;  ///< "rows", "row"
};
const FactorNames k_row_names = {"rows", "row"};
const FactorNames k_column_names = {"columns", "column"};

/// The number of a batch's first line among those of all its batches.
std::string first_line_text(KernelScope& scope, const ScaledFactor& factor, const StageAxes& lines) {
  return number_text(scope, factor.batch, extent_of(lines));
}

/// A factor by its lines, the rows or the columns of the contraction.
struct FactorLines {
  const ScaledFactor& factor;
  const StageAxes& axes;
  const FactorNames& names;
};

class SplitText {
 public:
  SplitText(const GroupContext& context, const Contraction& contraction)
      : context_(context), contraction_(contraction), out_(context.buffers[contraction.split.stage.buffer]) {}

  SplitContraction write() {
    auto factors = scaled_factors(contraction_, context_.program);
    KW_CHECK(factors.has_value(), "a contraction whose factors cannot be scaled is split");
    split_.factors = *std::move(factors);
    split_.buffers = context_.buffers;
    split_.rows = split_of({split_.factors.rows, contraction_.rows, k_row_names});
    split_.columns = split_of({split_.factors.columns, contraction_.columns, k_column_names});
    split_.splitting.own_helpers = {
        "contract_scaled_halves.cu/numbers", "contract_scaled_halves.cu/splitting",
        split_.factors.rounded ? "contract_scaled_halves.cu/parts_rounded" : "contract_scaled_halves.cu/parts_both"};
    return std::move(split_);
  }

 private:
  std::size_t add_scratch(const std::string& name, DType dtype, const std::string& elements) {
    split_.buffers.push_back({name, name, dtype});
    split_.splitting.scratch.push_back({name, dtype, elements});
    return split_.buffers.size() - 1;
  }

  SplitFactor split_of(const FactorLines& lines) {
    const auto count = bundle_operand(extent_of(joined_axes(lines.factor.batch, lines.axes)));
    const auto steps = extent_of(contraction_.split.stage.inner).text();
    const auto& line = lines.names.line;
    SplitFactor split;
    split.halves = add_scratch(
        fmt::format("{}_halves_of_{}", line, out_.name), DType::f16,
        fmt::format("{} * (ceil_div({}, {}) * {})", count, steps, steps_together(split_.factors.rounded), k_together));
    split.exponents = add_scratch(fmt::format("{}_exponents_of_{}", line, out_.name), DType::i32, count);
    if (!lines.factor.along_steps)
      split_.splitting.scratch.push_back({largest_of(lines), DType::f32, fmt::format("{} * {}", k_parts, count)});
    add_launch(lines, split);
    return split;
  }

  void add_launch(const FactorLines& lines, const SplitFactor& split) {
    const auto& factor = lines.factor;
    const auto& inner = contraction_.split.stage.inner;
    const auto all = joined_axes(factor.batch, lines.axes);
    KernelScope scope(context_.buffers, stage_over(all, inner), context_.dialect, names_in(k_splitting_locals));
    const auto used = axes_in(factor.address);
    Fillings fillings = {{"name", out_.name},
                         {"lines", lines.names.lines},
                         {"memory", scope.buffer(factor.buffer).name},
                         {"start", address_text(scope, factor.address, all, true)},
                         {"steps", scope.extent(extent_of(inner))}};
    if (factor.along_steps) {
      fillings.emplace_back("axes", join_lines(index_statements(scope, all, "line", used)));
      fillings.emplace_back("whole", whole_text(scope, factor));
      // A warp keeps 1024 elements, a block eight times as many.
      constexpr double k_kept_by_a_warp = 1024.0;
      const bool by_warps = count_of(inner) <= k_kept_by_a_warp;
      fillings.emplace_back("line_threads", by_warps ? "32" : "256");
      fillings.emplace_back("rest", by_warps ? fmt::format("if (line >= {}) return;", scope.element_count(all)) : "");
      fillings.emplace_back("largest_of_block", by_warps ? "" : fill_lines(scaled_section("largest_of_block")));
      const auto count = extent_of(all).text();
      return add_kernel(scope, "split_rows_of_steps", fillings, lines, split,
                        by_warps ? fmt::format("ceil_div({}, 8)", count) : count);
    }
    fill_lines_of_steps(scope, factor, lines.axes, fillings);
    const auto grid = fmt::format("ceil_div({}, 32) * {} * {}", extent_of(lines.axes).text(),
                                  bundle_operand(extent_of(factor.batch)), k_parts);
    add_kernel(scope, "largest_of_lines", fillings, lines, split, grid);
    add_kernel(scope, "split_lines", fillings, lines, split, grid);
  }

  void add_kernel(KernelScope& scope, const char* section, Fillings fillings, const FactorLines& lines,
                  const SplitFactor& split, const std::string& grid) {
    const bool finds = std::string_view(section) == "largest_of_lines";
    fillings.emplace_back(
        "qualifier", fill_lines(context_.dialect->kernel_qualifier, {{"threads", std::to_string(k_split_threads)}}));
    ContractArguments arguments(context_.dialect);
    const auto& held = context_.buffers[lines.factor.buffer];
    arguments.add(held.dtype, false, held.name, held.argument);
    if (!lines.factor.along_steps) arguments.add(DType::f32, finds, "largest", largest_of(lines));
    if (!finds) {
      arguments.add(DType::f16, true, "halves", split_.buffers[split.halves].argument);
      arguments.add(DType::i32, true, "exponents", split_.buffers[split.exponents].argument);
    }
    arguments.add_integers(scope);
    const auto kernel = fmt::format("{}_{}_of_{}", finds ? "largest" : "split", lines.names.lines, out_.name);
    fillings.emplace_back("signature", arguments.signature(kernel));
    auto& kernels = split_.splitting;
    kernels.source += (kernels.source.empty() ? "" : "\n") + with_short_lines(fill(scaled_section(section), fillings));
    kernels.launches.push_back({kernel, {grid}, {std::to_string(k_split_threads)}, "0", arguments.arguments()});
    kernels.helpers.insert(scope.helpers().begin(), scope.helpers().end());
  }

  /// Scratch for the largest numbers of each part of the steps.
  std::string largest_of(const FactorLines& lines) const {
    return fmt::format("{}_largest_of_{}", lines.names.line, out_.name);
  }

  void fill_lines_of_steps(KernelScope& scope, const ScaledFactor& factor, const StageAxes& lines,
                           Fillings& fillings) const {
    const auto& inner = contraction_.split.stage.inner;
    const auto used = axes_in(factor.address);
    auto axes = index_statements(scope, factor.batch, "batch", used);
    for (auto& statement : index_statements(scope, lines, "line", used)) axes.push_back(std::move(statement));
    const auto count = scope.extent(extent_of(lines));
    fillings.emplace_back("line_count", count);
    fillings.emplace_back("batch", factor.batch.empty() ? "" : "const int batch = tile / tiles;");
    fillings.emplace_back("axes", join_lines(axes));
    fillings.emplace_back("step_axes", join_lines(index_statements(scope, inner, "k", used)));
    fillings.emplace_back("step", address_text(scope, factor.address, inner, false));
    fillings.emplace_back("flat_line", factor.batch.empty() ? "line" : fmt::format("(long)batch * {} + line", count));
    fillings.emplace_back("all_lines", scope.extent(extent_of(joined_axes(factor.batch, lines))));
    fillings.emplace_back("lines_of_steps", fill_lines(scaled_section("lines_of_steps"), fillings));
  }

  /// The condition for rows to begin at multiples of 16 bytes and to have a multiple of eight steps.
  std::string whole_text(KernelScope& scope, const ScaledFactor& factor) const {
    std::set<std::string> conditions;
    const auto add = [&](const Extent& extent, int multiple) {
      if (!extent.is_constant() || extent.value() % multiple != 0)
        conditions.insert(fmt::format("{} % {} == 0", scope.extent(extent), multiple));
    };
    const auto& inner = contraction_.split.stage.inner;
    add(extent_of(inner), 8);
    add(factor.address.constant, 4);
    for (const auto& entry : factor.address.coefficients) {
      const auto is_its_axis = [&](const StageAxis& axis) { return axis.name == entry.first; };
      if (std::none_of(inner.begin(), inner.end(), is_its_axis)) add(entry.second, 4);
    }
    conditions.insert(fmt::format("(unsigned long){} % 16 == 0", scope.buffer(factor.buffer).name));
    return fmt::format("{}", fmt::join(conditions, " && "));
  }

  const GroupContext& context_;
  const Contraction& contraction_;
  const KernelBuffer& out_;
  SplitContraction split_;
};

}  // namespace

std::optional<ScaledFactors> scaled_factors(const Contraction& contraction, const StageProgram& program) {
  const auto& split = contraction.split;
  if (!split.stage.guards.empty() || !split.phases.empty()) return std::nullopt;
  if (split.stage.rounds_factors && count_of(contraction.inner) > k_most_half_steps) return std::nullopt;
  auto rows = scaled_factor(contraction, contraction.first, contraction.rows, program);
  auto columns = scaled_factor(contraction, contraction.second, contraction.columns, program);
  if (!rows || !columns) return std::nullopt;
  return ScaledFactors{*std::move(rows), *std::move(columns), split.stage.rounds_factors};
}

double splitting_bytes(const Contraction& contraction, const ScaledFactors& factors) {
  return bytes_of(factors.rows, contraction.rows, contraction.inner, factors.rounded) +
         bytes_of(factors.columns, contraction.columns, contraction.inner, factors.rounded);
}

SplitContraction split_contraction(const GroupContext& context, const Contraction& contraction) {
  return SplitText(context, contraction).write();
}

namespace {

/// What the splitting leaves of a factor is a matrix of halves: a row for each line of all batches.
BoxTensor split_tensor(KernelScope& scope, const Contraction& contraction, const SplitContraction& split,
                       const SplitFactor& of, const FactorLines& lines, const char* rows) {
  const int together = steps_together(split.factors.rounded);
  const auto width = fmt::format("(({0} + {1}) / {2} * {3})", scope.extent(extent_of(contraction.split.stage.inner)),
                                 together - 1, together, k_together);
  const auto count = scope.extent(extent_of(joined_axes(lines.factor.batch, lines.axes)));
  return {split.buffers[of.halves].name, {width, count, "1"}, {width, width}, rows};
}

}  // namespace

HalfTiles scaled_tiles(KernelScope& scope, const Contraction& contraction, const SplitContraction& split) {
  const bool rounded = split.factors.rounded;
  const auto row_line = first_line_text(scope, split.factors.rows, contraction.rows);
  const auto column_line = first_line_text(scope, split.factors.columns, contraction.columns);
  const auto first_of = [](const std::string& line, const char* first) {
    return line == "0" ? std::string(first) : fmt::format("(int)({}) + {}", line, first);
  };
  const std::string step = rounded ? "next" : "2 * next";
  HalfTiles tiles;
  scope.need_own(k_box_helpers);
  tiles.tiles = fill_lines(scaled_section("scaled_tiles"));
  tiles.places = box_arrivals_text(split_tensor(scope, contraction, split, split.rows,
                                                {split.factors.rows, contraction.rows, k_row_names}, "TILE_M"),
                                   split_tensor(scope, contraction, split, split.columns,
                                                {split.factors.columns, contraction.columns, k_column_names}, "TILE_N"),
                                   "");
  Fillings fillings = {{"copy_tile", box_copies_text({step, first_of(row_line, "first_row")},
                                                     {step, first_of(column_line, "first_column")})},
                       {"wait_for_tile", k_wait_for_boxes},
                       {"next_phase", k_next_phase},
                       {"row_count", scope.extent(extent_of(contraction.rows))},
                       {"column_count", scope.extent(extent_of(contraction.columns))},
                       {"row_line", row_line},
                       {"column_line", column_line},
                       {"row_exponents", split.buffers[split.rows.exponents].name},
                       {"column_exponents", split.buffers[split.columns.exponents].name}};
  const auto add = [&](const char* name, const std::string& text) { fillings.emplace_back(name, text); };
  if (rounded) {
    add("part_sums", fill_lines(kernel_text("program/contract_halves.cu", "part_sums")));
    add("begin_tile", "begin_tile_by_rows(row_tiles[stage], column_tiles[stage], thread, part_sum);");
    add("end_tile", "wait_for_tiles();");
    add("end_tiles", "end_tiles(part_sum, sum);");
    add("total", "sum[i][j]");
  } else {
    add("part_sums", fill_lines(scaled_section("scaled_sums")));
    add("begin_tile", "begin_scaled_tile(row_tiles[stage], column_tiles[stage], thread, part_sum, small_sum);");
    add("end_tile", "add_part(part_sum, sum);");
    add("end_tiles", "wait_products<0>(small_sum);");
    add("total", "sum[i][j] + small_sum[j / 2][2 * i + j % 2] * (1.0f / SMALL_SCALE)");
  }
  tiles.loop = join_lines({fill_lines(kernel_text("program/contract_halves.cu", "loop"), fillings),
                           fill_lines(scaled_section("scaled_end"), fillings)});
  return tiles;
}

std::set<std::string> scaled_helpers(bool rounded) {
  std::set<std::string> helpers = {"contract_functions.cu/group_tile", "contract_halves.cu/f16_by_rows",
                                   "contract_scaled_halves.cu/numbers"};
  if (rounded) {
    helpers.insert({"contract_halves.cu/half_tile", "contract_halves.cu/tile_by_rows"});
  } else {
    helpers.insert("contract_scaled_halves.cu/scaled_tile");
  }
  return helpers;
}

}  // namespace kw
