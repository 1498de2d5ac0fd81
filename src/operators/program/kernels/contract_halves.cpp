#include "operators/program/kernels/contract_halves.hpp"

#include <algorithm>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
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

class HalfTileTexts {
 public:
  HalfTileTexts(KernelScope& scope, const Contraction& contraction, const HalfFactors& factors)
      : scope_(scope), contraction_(contraction), factors_(factors) {}

  HalfTiles write() {
    const auto rows = copies_of(factors_.rows, contraction_.rows, {"m", "row", "TILE_M"});
    const auto columns = copies_of(factors_.columns, contraction_.columns, {"n", "column", "TILE_N"});
    HalfTiles tiles;
    tiles.tiles = fill_lines(half_section("tiles"), {{"element", element()}});
    tiles.places = join_lines({rows.places, columns.places});
    tiles.loop =
        fill_lines(half_section("loop"),
                   {{"load_rows", rows.load},
                    {"load_columns", columns.load},
                    {"begin_tile", factors_.columns.along_steps ? "begin_tile_by_rows" : "begin_tile_by_columns"}});
    return tiles;
  }

 private:
  struct Copies {
    std::string places, load;
  };

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
        {"whole", names.line + "s_whole"},
        {"count", scope_.extent(extent_of(axes))},
        {"axes", join_lines(index_statements(scope_, slow, slow_index, axes_in(factor.address)))},
        {"start", address_text(scope_, factor.address, joined_axes(contraction_.batch, slow), true)}};
    Copies copies;
    copies.places = fmt::format("const bool {}s_whole = {};", names.line, whole_text(factor, fast));
    if (factor.along_steps) copies.places += "\n" + fill_lines(half_section("places"), fillings);
    copies.load = fill_lines(half_section(factor.along_steps ? "load_steps" : "load_columns"), fillings);
    return copies;
  }

  /// The condition for runs of eight to begin at multiples of 16 bytes and to be in the tensor whole or not at all.
  std::string whole_text(const HalfFactor& factor, const StageAxes& fast) {
    std::set<std::string> conditions;
    const auto add = [&](const Extent& extent) {
      const bool known = extent.is_constant() && extent.value() % k_run == 0;
      if (!known) conditions.insert(fmt::format("{} % {} == 0", scope_.extent(extent), k_run));
    };
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

HalfTiles half_tiles(KernelScope& scope, const Contraction& contraction, const HalfFactors& factors) {
  return HalfTileTexts(scope, contraction, factors).write();
}

std::set<std::string> half_helpers(const HalfFactors& factors) {
  const std::string by = factors.columns.along_steps ? "by_rows" : "by_columns";
  const std::string type = factors.dtype == DType::f16 ? "f16" : "bf16";
  const std::string file = "contract_halves.cu/";
  return {file + type + "_" + by, file + "half_tile", file + "tile_" + by};
}

}  // namespace kw
