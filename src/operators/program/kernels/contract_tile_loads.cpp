#include "operators/program/kernels/contract_tile_loads.hpp"

#include <algorithm>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/factor_memory.hpp"
#include "program/stages/exact_extent.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {

/// How a factor is called in the texts.
struct TileLoads::Names {
  const char *index, *first, *tile, *registers, *tiles, *stride, *whole, *address, *steps, *places, *of, *inside, *taps,
      *tap;
};

/// One factor while its load is written.
struct TileLoads::Load {
  const ContractionFactor& factor;
  const StageAxes& axes;
  const Names& names;
  bool along_steps;                    ///< neighbouring threads have neighbouring steps of one row or column
  std::optional<AffineIndex> address;  ///< where the element is one load, of a place that is a sum over axes
  std::string step;                    ///< of an element, within the tile
  Fillings fillings;
};

namespace {

std::string_view tile_load_section(const char* name) {
  return kernel_text("program/contract.cu", name);
}

bool same_extent(const Extent& a, const Extent& b) {
  return a == b && a.text() == b.text();
}

/// Whether the axes, the last one fastest, are one run of neighbours in memory.
bool is_one_run(const AffineIndex& address, const StageAxes& axes) {
  Extent expected = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto found = address.coefficients.find(axes[i].name);
    if (found == address.coefficients.end() || !same_extent(found->second, expected)) return false;
    if (i == 0) break;
    const auto next = exact_product(expected, axes[i].extent);
    if (!next) return false;
    expected = *next;
  }
  return !axes.empty();
}

bool names_any(const std::set<std::string>& named, const StageAxes& axes) {
  return std::any_of(axes.begin(), axes.end(), [&](const StageAxis& axis) { return named.count(axis.name) > 0; });
}

std::set<std::string> names_of(const StageAxes& axes) {
  std::set<std::string> names;
  for (const auto& axis : axes) names.insert(axis.name);
  return names;
}

/// Fills arrays with a value for each of `places`, and does `more` there; `fillings` say which those are.
std::string kept_places(Fillings fillings, const std::string& count, const std::vector<KeptValue>& places,
                        const std::vector<std::string>& indices, const std::string& more = "") {
  if (places.empty()) return "";
  std::vector<std::string> declared;
  std::vector<std::string> values;
  for (const auto& place : places) {
    declared.push_back(fmt::format("{} {}[{}];", place.type, place.name, count));
    values.push_back(fmt::format("{}[i] = {};", place.name, place.value));
  }
  if (!more.empty()) values.push_back(more);
  fillings.emplace_back("places", count);
  fillings.emplace_back("declarations", join_lines(declared));
  fillings.emplace_back("axes", join_lines(indices));
  fillings.emplace_back("values", join_lines(values));
  return fill_lines(tile_load_section("places"), fillings);
}

}  // namespace

StoredColumns stored_columns(KernelScope& scope, const StageAxes& columns, const std::set<std::string>& used) {
  auto indices = index_statements(scope, columns, "n", used);
  if (columns.size() < 2) return {"", std::move(indices)};
  StoredColumns stored;
  std::vector<KeptValue> places;
  for (const auto& axis : columns) {
    if (used.count(axis.name) == 0) continue;
    const auto name = scope.axis(axis.name);
    places.push_back({"int", name + "_of_stored", name});
    stored.lines.push_back(fmt::format("const int {0} = {0}_of_stored[j % COLUMN_PLACES];", name));
  }
  const Fillings fillings = {{"index", "n"}, {"first", "first_column"}, {"tile", "TILE_N"}};
  stored.before = kept_places(fillings, "COLUMN_PLACES", places, indices);
  return stored;
}

TileLoad TileLoads::rows(KernelScope& scope) {
  static constexpr Names k_names = {"m",          "first_row",  "TILE_M",      "next_rows", "row_tiles",
                                    "ROW_STRIDE", "rows_whole", "row_address", "row_steps", "ROW_PLACES",
                                    "_of_row",    "row_inside", "row_taps",    "row_tap"};
  return load_of(scope, contraction_.first, contraction_.rows, k_names);
}

TileLoad TileLoads::columns(KernelScope& scope) {
  static constexpr Names k_names = {"n",
                                    "first_column",
                                    "TILE_N",
                                    "next_columns",
                                    "column_tiles",
                                    "COLUMN_STRIDE",
                                    "columns_whole",
                                    "column_address",
                                    "column_steps",
                                    "COLUMN_PLACES",
                                    "_of_column",
                                    "column_inside",
                                    "column_taps",
                                    "column_tap"};
  return load_of(scope, contraction_.second, contraction_.columns, k_names);
}

TileLoad TileLoads::load_of(KernelScope& scope, const ContractionFactor& factor, const StageAxes& axes,
                            const Names& names) {
  Load load{factor, axes, names, steps_are_neighbours(factor, axes), address_of(factor), "", {}};
  const std::string tile = names.tile;
  load.step = load.along_steps ? "at % TILE_K" : "at / " + tile;
  load.fillings = {{"tile", tile},
                   {"index", names.index},
                   {"first", names.first},
                   {"place", load.along_steps ? "at / TILE_K" : "at % " + tile},
                   {"step", load.step},
                   {"count", scope.extent(extent_of(axes))},
                   {"registers", names.registers},
                   {"tiles", names.tiles},
                   {"stride", names.stride}};
  const auto whole = whole_text(scope, load);
  if (whole.empty()) return load_of_elements(scope, load);
  auto fours = load_of_fours(scope, load);
  fours.before = fmt::format("const bool {} = {};", names.whole, whole);
  return fours;
}

/// Whether neighbouring steps, rather than neighbours along `axes`, are neighbours in memory. Where both are, as in
/// an image, the threads of a tile keep their pixel, and compute its place once.
bool TileLoads::steps_are_neighbours(const ContractionFactor& factor, const StageAxes& axes) const {
  bool steps = false;
  bool others = false;
  for_each_load(factor.element, [&](const StageNode& load) {
    if (load.operands.empty()) return;
    const auto last = affine_index(load.operands.back(), contraction_.split.phases);
    if (!last) return;
    steps = steps || last->coefficients.count(inner_.back().name) > 0;
    others = others || last->coefficients.count(axes.back().name) > 0;
  });
  return steps && !others;
}

std::optional<AffineIndex> TileLoads::address_of(const ContractionFactor& factor) const {
  const auto& element = factor.element;
  if (element->op != StageOp::load || context_.buffers[element->tensor.buffer].dtype != DType::f32) return std::nullopt;
  return load_address(*element, contraction_.split.phases);
}

/// The condition for runs of four elements to be whole and to begin at multiples of 16 bytes; empty where neighbours
/// are none, or the factor is more than a tensor of floats.
std::string TileLoads::whole_text(KernelScope& scope, const Load& load) const {
  if (!load.address || !load.factor.guards.empty() || !load.address->terms.empty()) return "";
  const auto& fast = load.along_steps ? inner_ : load.axes;
  if (!is_one_run(*load.address, fast)) return "";
  std::vector<std::string> conditions;
  const auto add = [&](const Extent& extent) {
    const bool known = extent.is_constant() && extent.value() % 4 == 0;
    if (!known) conditions.push_back(scope.extent(extent) + " % 4 == 0");
  };
  add(load.address->constant);
  for (const auto& [axis, coefficient] : load.address->coefficients) {
    if (!names_any({axis}, fast)) add(coefficient);
  }
  return conditions.empty() ? "true" : fmt::format("{}", fmt::join(conditions, " && "));
}

TileLoad TileLoads::load_of_fours(KernelScope& scope, const Load& load) {
  const bool steps = load.along_steps;
  const auto& buffer = context_.buffers[load.factor.element->tensor.buffer];
  loaded_.insert(load.factor.element->tensor.buffer);
  // Along the run the flat index is the place itself.
  const auto& slow = steps ? load.axes : inner_;
  const auto others = joined_axes(contraction_.batch, slow);
  const auto start = address_text(scope, *load.address, others, true);
  const std::string run = steps ? "k" : load.names.index;
  auto fillings = load.fillings;
  fillings.emplace_back(
      "axes", join_lines(index_statements(scope, slow, steps ? load.names.index : "k", axes_in(*load.address))));
  fillings.emplace_back("memory", buffer.name);
  fillings.emplace_back("pointer", "float*");
  fillings.emplace_back("address", start == "0" ? run : start + " + " + run);
  fillings.emplace_back("aligned", load.names.whole);
  fillings.emplace_back("further_index", steps ? "0" : "3");
  fillings.emplace_back("further_step", steps ? "3" : "0");
  fillings.emplace_back("one_index", steps ? "0" : "j");
  fillings.emplace_back("one_step", steps ? "j" : "0");
  return {"", fill_lines(tile_load_section("load_four"), fillings),
          fill_lines(tile_load_section(steps ? "keep_four_steps" : "keep_four_rows"), fillings)};
}

/// The indices that an element's text has, `used`. Those that do not change from tile to tile, or from element to
/// element of a step, are kept; where they are not, those that its place is `computed` of are needed too.
std::vector<std::string> TileLoads::index_lines(KernelScope& scope, const Load& load, const std::set<std::string>& used,
                                                const std::set<std::string>& computed, std::vector<KeptValue>& places) {
  std::vector<std::string> lines;
  if (load.along_steps) {
    lines = index_statements(scope, load.axes, load.names.index, computed);
  } else {
    for (const auto& axis : load.axes) {
      if (used.count(axis.name) == 0) continue;
      const auto name = scope.axis(axis.name);
      places.push_back({"int", name + load.names.of, name});
      lines.push_back(fmt::format("const int {} = {}{}[i % {}];", name, name, load.names.of, load.names.places));
    }
  }
  if (!has_step_tables()) {
    for (auto& line : index_statements(scope, inner_, "k", computed)) lines.push_back(std::move(line));
    return lines;
  }
  for (const auto& axis : inner_) {
    if (used.count(axis.name) == 0) continue;
    const auto name = scope.axis(axis.name);
    add_table({"int", name + "_of_step", name}, {axis.name});
    lines.push_back(fmt::format("const int {0} = {0}_of_step[stage][{1}];", name, load.step));
  }
  return lines;
}

/// The place of an element in its buffer.
std::string TileLoads::place_text(KernelScope& scope, const Load& load, std::vector<KeptValue>& places) {
  auto start = address_text(scope, *load.address, joined_axes(contraction_.batch, load.axes), true);
  auto step = address_text(scope, *load.address, inner_, false);
  if (!load.along_steps) {
    places.push_back({"long", load.names.address, start});
    start = fmt::format("{}[i % {}]", load.names.address, load.names.places);
  }
  if (has_step_tables()) {
    add_table({"long", load.names.steps, step}, axes_in(*load.address));
    step = fmt::format("{}[stage][{}]", load.names.steps, load.step);
  }
  return start == "0" ? step : start + " + " + step;
}

/// The inner axes that the guards name, where a bit for each of their indices fits an int.
StageAxes TileLoads::tap_axes(const std::vector<StageExpr>& guards) const {
  constexpr std::int64_t k_most_taps = 32;
  StageAxes taps;
  std::int64_t count = 1;
  for (const auto& axis : inner_) {
    const bool named = std::any_of(guards.begin(), guards.end(),
                                   [&](const StageExpr& guard) { return axes_named(guard).count(axis.name) > 0; });
    if (!named) continue;
    if (!axis.extent.is_constant() || axis.extent.value() > k_most_taps) return {};
    count *= axis.extent.value();
    taps.push_back(axis);
  }
  return count <= k_most_taps ? taps : StageAxes();
}

/// Which taps of the window at each place lie inside is found out once, as the bits of an int.
std::string TileLoads::taps_text(KernelScope& scope, const Load& load, const std::vector<StageExpr>& guards,
                                 const StageAxes& taps) {
  const auto named = names_of(taps);
  std::string tap;
  for (const auto& axis : taps) {
    const auto name = scope.axis(axis.name);
    tap = tap.empty() ? name : fmt::format("({}) * {} + {}", tap, axis.extent.value(), name);
  }
  add_table({"int", load.names.tap, tap}, named);
  return fill_lines(tile_load_section("taps"), {{"taps", load.names.taps},
                                                {"count", std::to_string(extent_of(taps).value())},
                                                {"axes", join_lines(index_statements(scope, taps, "tap", named))},
                                                {"guard", condition_text(scope, guards)}});
}

/// The conditions under which there is an element, each found out as seldom as can be.
TileLoads::Conditions TileLoads::conditions_of(KernelScope& scope, const Load& load) {
  Conditions conditions;
  std::vector<StageExpr> of_steps;   // alone
  std::vector<StageExpr> of_places;  // and steps
  for (const auto& guard : load.factor.guards) {
    (names_any(axes_named(guard), load.axes) || !has_step_tables() ? of_places : of_steps).push_back(guard);
  }
  if (!of_steps.empty()) {
    std::set<std::string> named;
    for (const auto& guard : of_steps) named.merge(axes_named(guard));
    add_table({"bool", load.names.inside, condition_text(scope, of_steps)}, named);
    conditions.texts.push_back(fmt::format("{}[stage][{}]", load.names.inside, load.step));
  }
  if (of_places.empty()) return conditions;
  std::set<std::string> named;
  for (const auto& guard : of_places) named.merge(axes_named(guard));
  const auto taps = load.along_steps || !has_step_tables() ? StageAxes() : tap_axes(of_places);
  if (taps.empty()) {
    conditions.texts.push_back(condition_text(scope, of_places));
    conditions.used = named;
  } else {
    conditions.kept = named;
    conditions.taps = taps_text(scope, load, of_places, taps);
    conditions.texts.push_back(fmt::format("({}[i % {}] >> {}[stage][{}] & 1) != 0", load.names.taps, load.names.places,
                                           load.names.tap, load.step));
  }
  return conditions;
}

TileLoad TileLoads::load_of_elements(KernelScope& scope, const Load& load) {
  auto conditions = conditions_of(scope, load);
  auto used = conditions.used;
  if (!load.address) used.insert(load.factor.axes.begin(), load.factor.axes.end());
  auto computed = used;
  computed.merge(conditions.kept);
  if (load.address) computed.merge(axes_in(*load.address));
  std::vector<KeptValue> places;
  if (!conditions.taps.empty()) places.push_back({"unsigned", load.names.taps, "0"});
  const auto lines = index_lines(scope, load, used, computed, places);
  std::string element;
  if (load.address) {
    const auto buffer = load.factor.element->tensor.buffer;
    loaded_.insert(buffer);
    element = fmt::format("{}[{}]", context_.buffers[buffer].name, place_text(scope, load, places));
  } else {
    element = without_parentheses(scope.text(load.factor.element));
  }
  element = fmt::format("element = {};", element);
  if (!conditions.texts.empty()) element = fmt::format("if ({}) {}", fmt::join(conditions.texts, " && "), element);
  auto fillings = load.fillings;
  fillings.emplace_back("axes", join_lines(lines));
  fillings.emplace_back("element", broken_statement(element, 96));
  const auto indices = index_statements(scope, load.axes, load.names.index, computed);
  return {kept_places(load.fillings, load.names.places, places, indices, conditions.taps),
          fill_lines(tile_load_section("load"), fillings), fill_lines(tile_load_section("keep"), fillings)};
}

void TileLoads::add_table(const KeptValue& table, const std::set<std::string>& axes) {
  step_axes_.insert(axes.begin(), axes.end());
  const bool known =
      std::any_of(tables_.begin(), tables_.end(), [&](const KeptValue& one) { return one.name == table.name; });
  if (!known) tables_.push_back(table);
}

std::string TileLoads::step_tables() const {
  std::vector<std::string> lines;
  for (const auto& table : tables_) {
    lines.push_back(fmt::format("__shared__ {} {}[2][TILE_K];", table.type, table.name));
  }
  return join_lines(lines);
}

std::string TileLoads::steps_text(KernelScope& scope, const char* first, const char* stage) const {
  if (tables_.empty()) return "";
  std::vector<std::string> values;
  for (const auto& table : tables_) {
    values.push_back(fmt::format("{}[{}][thread] = {};", table.name, stage, table.value));
  }
  return fill_lines(tile_load_section("steps"), {{"first", first},
                                                 {"axes", join_lines(index_statements(scope, inner_, "k", step_axes_))},
                                                 {"values", join_lines(values)}});
}

std::string TileLoads::first_steps(KernelScope& scope) const {
  const auto text = steps_text(scope, "begin", "0");
  return text.empty() ? "" : text + "\n__syncthreads();";
}

std::string TileLoads::next_steps(KernelScope& scope) const {
  return steps_text(scope, "next + TILE_K", "stage ^ 1");
}

}  // namespace kw
