#include "operators/program/kernels/contract_halves.hpp"

#include <algorithm>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_boxes.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/factor_memory.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// Eight neighbours are 16 bytes, which is what a thread copies at a time.
constexpr int k_run = 8;

std::string_view half_section(const std::string& name) {
  return kernel_text("program/contract_halves.cu", name);
}

std::optional<DType> half_type(const StageBuffer& buffer) {
  if (buffer.use == BufferUse::scratch) return std::nullopt;
  if (buffer.type.dtype == ElementType::float16) return DType::f16;
  if (buffer.type.dtype == ElementType::bfloat16) return DType::bf16;
  return std::nullopt;
}

std::optional<HalfFactor> half_factor(const Contraction& contraction, const ContractionFactor& factor,
                                      const StageAxes& columns) {
  const auto& element = factor.element;
  if (element->op != StageOp::load || !factor.guards.empty()) return std::nullopt;
  auto address = load_address(*element, contraction.split.phases);
  if (!address || !address->terms.empty()) return std::nullopt;
  const bool along_steps = is_one_run(*address, contraction.split.stage.inner);
  if (!along_steps && (columns.empty() || !is_one_run(*address, columns))) return std::nullopt;
  return HalfFactor{element->tensor.buffer, std::move(*address), along_steps};
}

/// How the texts call a factor.
struct HalfNames {
  std::string index, line, tile;  ///< "m", "row", "TILE_M"
};

/// The axes of a factor by which the copy engine has it: `fast` are neighbours in memory.
struct BoxAxes {
  StageAxes fast, slow, outer;
  Extent stride;        ///< along slow ones, in elements
  Extent outer_stride;  ///< likewise; of no outer ones that of slow ones
};

std::optional<BoxAxes> box_axes(const Contraction& contraction, const HalfFactor& factor, const StageAxes& lines) {
  const auto& inner = contraction.split.stage.inner;
  BoxAxes axes{factor.along_steps ? inner : lines, factor.along_steps ? lines : inner, {}, {}, {}};
  for (const auto& axis : contraction.batch) {
    if (factor.address.coefficients.count(axis.name) > 0) axes.outer.push_back(axis);
  }
  const auto stride = stride_along(factor.address, axes.slow);
  const auto outer = axes.outer.empty() ? stride : stride_along(factor.address, axes.outer);
  if (!stride || !outer || !has_extents(axes.outer)) return std::nullopt;
  axes.stride = *stride;
  axes.outer_stride = *outer;
  const auto is_whole = [](const Extent& extent) { return extent.value() % k_run == 0; };
  const bool positive = stride->value() > 0 && outer->value() > 0;
  if (!positive || !is_whole(*stride) || !is_whole(*outer) || !is_whole(factor.address.constant)) return std::nullopt;
  return axes;
}

void add_unless_known(KernelScope& scope, const Extent& extent, std::set<std::string>& conditions) {
  const bool known = extent.is_constant() && extent.value() % k_run == 0;
  if (!known) conditions.insert(fmt::format("{} % {} == 0", scope.extent(extent), k_run));
}

/// The condition for the copy engine to read the factor, as parts of a conjunction.
void add_boxed(KernelScope& scope, const HalfFactor& factor, const BoxAxes& axes, std::set<std::string>& conditions) {
  for (const auto& extent : {axes.stride, axes.outer_stride, factor.address.constant})
    add_unless_known(scope, extent, conditions);
}

std::string boxed_text(KernelScope& scope, const Contraction& contraction, const HalfFactors& factors) {
  std::set<std::string> conditions;
  add_boxed(scope, factors.rows, *box_axes(contraction, factors.rows, contraction.rows), conditions);
  add_boxed(scope, factors.columns, *box_axes(contraction, factors.columns, contraction.columns), conditions);
  return fmt::format("{}", fmt::join(conditions, " && "));
}

BoxTensor box_tensor(KernelScope& scope, const HalfFactor& factor, const BoxAxes& axes, const std::string& rows) {
  const auto count = [&](const StageAxes& counted) { return scope.extent(extent_of(counted)); };
  const auto& name = scope.buffer(factor.buffer).name;
  const auto start = scope.extent(factor.address.constant);
  return {start == "0" ? name : name + " + " + start,
          {count(axes.fast), count(axes.slow), count(axes.outer)},
          {scope.extent(axes.stride), scope.extent(axes.outer_stride)},
          rows};
}

class HalfTileTexts {
 public:
  HalfTileTexts(KernelScope& scope, const Contraction& contraction, const HalfFactors& factors, bool boxed)
      : scope_(scope), contraction_(contraction), factors_(factors), boxed_(boxed) {}

  HalfTiles write() {
    const auto whole = boxed_ ? boxed_text(scope_, contraction_, factors_) : "";
    const auto arrival = !boxed_ ? by_threads() : whole.empty() ? by_boxes("") : by_either(whole);
    const auto* begin = factors_.columns.along_steps ? "begin_tile_by_rows" : "begin_tile_by_columns";
    HalfTiles tiles;
    tiles.tiles = fill_lines(half_section("tiles"), {{"element", element()}});
    tiles.places = arrival.places;
    tiles.loop =
        fill_lines(half_section("loop"),
                   {{"copy_tile", arrival.copy_tile},
                    {"part_sums", fill_lines(half_section("part_sums"))},
                    {"wait_for_tile", arrival.wait},
                    {"begin_tile", fmt::format("{}(row_tiles[stage], column_tiles[stage], thread, part_sum);", begin)},
                    {"next_phase", boxed_ ? k_next_phase : ""},
                    {"end_tile", "wait_for_tiles();"},
                    {"end_tiles", "end_tiles(part_sum, sum);"}});
    return tiles;
  }

 private:
  struct Copies {
    std::string places, load;
  };
  /// How tiles come to shared memory.
  struct Arrival {
    std::string places, copy_tile, wait;
  };

  Arrival by_threads() {
    scope_.need_own("contract_halves.cu/half_copies");
    const auto rows = row_copies(), columns = column_copies();
    return {join_lines({rows.places, columns.places}),
            fill_lines(half_section("copies"), {{"load_rows", rows.load}, {"load_columns", columns.load}}),
            fill_lines(half_section("wait_for_copies"))};
  }

  Arrival by_boxes(const std::string& whole) {
    scope_.need_own(k_box_helpers);
    const auto rows = *box_axes(contraction_, factors_.rows, contraction_.rows);
    const auto columns = *box_axes(contraction_, factors_.columns, contraction_.columns);
    const bool by_rows = factors_.columns.along_steps;
    return {box_arrivals_text(box_tensor(scope_, factors_.rows, rows, "TILE_M"),
                              box_tensor(scope_, factors_.columns, columns, by_rows ? "TILE_N" : "TILE_K"), whole),
            box_copies_text({"next", "first_row", number_text(scope_, rows.outer, 1)},
                            {"next", "first_column", number_text(scope_, columns.outer, 1), !by_rows}),
            k_wait_for_boxes};
  }

  /// By boxes where the factors are `whole`, element by element otherwise.
  Arrival by_either(const std::string& whole) {
    scope_.need_own("contract_halves.cu/half_copies");
    const auto rows = row_copies(), columns = column_copies();
    const auto boxes = by_boxes("whole");
    return {join_lines({rows.places, columns.places, fmt::format("const bool whole = {};", whole), boxes.places}),
            fill_lines(half_section("copies_or_boxes"),
                       {{"load_rows", rows.load}, {"load_columns", columns.load}, {"copy_boxes", boxes.copy_tile}}),
            fill_lines(half_section("wait_for_either"), {{"wait_for_boxes", boxes.wait}})};
  }

  Copies row_copies() { return copies_of(factors_.rows, contraction_.rows, {"m", "row", "TILE_M"}); }
  Copies column_copies() { return copies_of(factors_.columns, contraction_.columns, {"n", "column", "TILE_N"}); }

  [[nodiscard]] std::string element() const { return element_type(factors_.dtype, cuda_dialect()); }

  Copies copies_of(const HalfFactor& factor, const StageAxes& axes, const HalfNames& names) {
    const auto& inner = contraction_.split.stage.inner;
    const auto& slow = factor.along_steps ? axes : inner;
    const auto& fast = factor.along_steps ? inner : axes;
    const std::string slow_index = factor.along_steps ? names.index : "k";
    const Fillings fillings = {
        {"element", element()},
        {"memory", scope_.buffer(factor.buffer).name},
        {"index", names.index},
        {"first", "first_" + names.line},
        {"tiles", names.line + "_tiles"},
        {"from", names.line + "_from"},
        {"runs", names.line == "row" ? "ROW_RUNS" : "COLUMN_RUNS"},
        {"whole", boxed_ ? "false" : names.line + "s_whole"},
        {"count", scope_.extent(extent_of(axes))},
        {"axes", join_lines(index_statements(scope_, slow, slow_index, axes_in(factor.address)))},
        {"start", address_text(scope_, factor.address, joined_axes(contraction_.batch, slow), true)}};
    Copies copies;
    std::vector<std::string> places;
    if (!boxed_) places.push_back(fmt::format("const bool {}s_whole = {};", names.line, whole_text(factor, fast)));
    if (factor.along_steps) places.push_back(fill_lines(half_section("places"), fillings));
    copies.places = join_lines(places);
    copies.load = fill_lines(half_section(factor.along_steps ? "load_steps" : "load_columns"), fillings);
    return copies;
  }

  /// The condition for runs of eight to begin at multiples of 16 bytes and to be in the tensor whole or not at all.
  std::string whole_text(const HalfFactor& factor, const StageAxes& fast) {
    std::set<std::string> conditions;
    const auto add = [&](const Extent& extent) { add_unless_known(scope_, extent, conditions); };
    add(extent_of(fast));
    add(factor.address.constant);
    for (const auto& entry : factor.address.coefficients) {
      const auto is_its_axis = [&](const StageAxis& axis) { return axis.name == entry.first; };
      if (std::none_of(fast.begin(), fast.end(), is_its_axis)) add(entry.second);
    }
    return conditions.empty() ? "true" : fmt::format("{}", fmt::join(conditions, " && "));
  }

  KernelScope& scope_;
  const Contraction& contraction_;
  const HalfFactors& factors_;
  bool boxed_;
};

}  // namespace

std::optional<HalfFactors> half_factors(const Contraction& contraction, const StageProgram& program) {
  const auto& stage = contraction.split.stage;
  if (!stage.rounds_factors || !stage.guards.empty() || count_of(contraction.inner) > k_most_half_steps)
    return std::nullopt;
  auto rows = half_factor(contraction, contraction.first, {});
  auto columns = half_factor(contraction, contraction.second, contraction.columns);
  if (!rows || !columns) return std::nullopt;
  const auto type = half_type(program.buffers[rows->buffer]);
  if (!type || type != half_type(program.buffers[columns->buffer])) return std::nullopt;
  return HalfFactors{*type, std::move(*rows), std::move(*columns)};
}

HalfTiles half_tiles(KernelScope& scope, const Contraction& contraction, const HalfFactors& factors, bool boxed) {
  return HalfTileTexts(scope, contraction, factors, boxed).write();
}

bool are_boxed(const Contraction& contraction, const HalfFactors& factors, WayUse boxes) {
  const bool can = boxes != WayUse::never && box_axes(contraction, factors.rows, contraction.rows) &&
                   box_axes(contraction, factors.columns, contraction.columns);
  // Some microseconds on an H100, of which describing them takes one.
  constexpr double k_least_products = 5e8;
  const double products = count_of(contraction.batch) * count_of(contraction.rows) * count_of(contraction.columns) *
                          count_of(contraction.inner);
  return can && (boxes == WayUse::always || products >= k_least_products);
}

std::set<std::string> half_helpers(const HalfFactors& factors) {
  const std::string by = factors.columns.along_steps ? "by_rows" : "by_columns";
  const std::string type = factors.dtype == DType::f16 ? "f16" : "bf16";
  const std::string file = "contract_halves.cu/";
  return {file + type + "_" + by, file + "half_tile", file + "tile_" + by};
}

}  // namespace kw
