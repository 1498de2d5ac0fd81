#include "operators/program/kernels/contract_tile_loads.hpp"

#include <algorithm>
#include <array>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_taps.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/factor_memory.hpp"
#include "program/stages/exact_extent.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {

/// How a factor is called in the texts.
struct TileLoads::Names {
  std::string index, tile;  ///< "m", "TILE_M"
  std::string line, macro;  ///< "row", "ROW"
  [[nodiscard]] std::string first() const { return "first_" + line; }
  [[nodiscard]] std::string of(const std::string& name) const { return name + "_of_" + line; }
  [[nodiscard]] std::string with(const char* suffix) const { return line + suffix; }
  [[nodiscard]] std::string macro_with(const char* suffix) const { return macro + suffix; }
};

/// One factor while its load is written.
struct TileLoads::Load {
  const ContractionFactor& factor;
  const StageAxes& axes;
  Names names;
  bool along_steps;                    ///< neighbouring threads have neighbouring steps of one row or column
  std::optional<AffineIndex> address;  ///< where the element is one load, of a place that is a sum over axes
  TileOrder order;
  Fillings fillings;
};

namespace {

std::string_view tile_load_section(const char* name) {
  return kernel_text("program/contract_loads.cu", name);
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

StoredColumns stored_columns(KernelScope& scope, const StageAxes& columns, const std::set<std::string>& used,
                             const KeptValue& place, const std::set<std::string>& place_axes) {
  if (columns.size() < 2) return {"", index_statements(scope, columns, "n", used)};
  StoredColumns stored;
  std::vector<KeptValue> places;
  for (const auto& axis : columns) {
    if (used.count(axis.name) == 0) continue;
    const auto name = scope.axis(axis.name);
    places.push_back({"int", name + "_of_stored", name});
    stored.lines.push_back(fmt::format("const int {0} = {0}_of_stored[j % COLUMN_PLACES];", name));
  }
  auto computed = used;
  if (!place.name.empty()) {
    places.push_back(place);
    computed.insert(place_axes.begin(), place_axes.end());
  }
  const Fillings fillings = {{"index", "n"}, {"first", "first_column"}, {"tile", "TILE_N"}};
  stored.before = kept_places(fillings, "COLUMN_PLACES", places, index_statements(scope, columns, "n", computed));
  return stored;
}

TileLoad TileLoads::rows(KernelScope& scope) {
  return load_of(scope, contraction_.first, contraction_.rows, {"m", "TILE_M", "row", "ROW"});
}

TileLoad TileLoads::columns(KernelScope& scope) {
  return load_of(scope, contraction_.second, contraction_.columns, {"n", "TILE_N", "column", "COLUMN"});
}

TileLoad TileLoads::load_of(KernelScope& scope, const ContractionFactor& factor, const StageAxes& axes,
                            const Names& names) {
  Load load{factor, axes, names, steps_are_neighbours(factor, axes), address_of(factor), {}, {}};
  load.fillings = {{"tile", names.tile},
                   {"index", names.index},
                   {"first", names.first()},
                   {"count", scope.extent(extent_of(axes))},
                   {"tiles", names.with("_tiles")},
                   {"registers", "next_" + names.with("s")},
                   {"stride", names.macro_with("_STRIDE")}};
  const auto whole = whole_text(scope, load);
  fill_order(load, whole.empty() ? TileRun::one : load.along_steps ? TileRun::steps : TileRun::lines);
  if (whole.empty()) return load_of_elements(scope, load);
  auto fours = load_of_fours(scope, load);
  fours.before = fmt::format("const bool {} = {};", names.with("s_whole"), whole);
  return fours;
}

void TileLoads::fill_order(Load& load, TileRun run) const {
  load.order = tile_order(products_, run, load.along_steps, load.names.tile, load.names.macro_with("_PLACES"));
  // Rows of filters and matrices have many addresses, which would take the registers of a second block.
  const bool again = rounded_ && products_ == TileProducts::wgmma && load.names.line == "row";
  load.fillings.emplace_back(
      "at", again ? "computed_again(thread)" + load.order.at.substr(std::string("thread").size()) : load.order.at);
  load.fillings.emplace_back("valid",
                             load.order.valid.empty() ? "" : fmt::format("if (!({})) continue;", load.order.valid));
  const bool by_blocks = !load.order.valid.empty();
  load.fillings.emplace_back("loads", by_blocks ? fmt::format("AT_LEAST_A_RUN({})", load.names.macro_with("_LOADS"))
                                                : load.names.macro_with("_LOADS"));
  load.fillings.emplace_back("place", load.order.place);
  load.fillings.emplace_back("step", load.order.step);
  load.fillings.emplace_back("chunk", load.order.chunk);
  fill_kept(load);
}

/// Registers as shared memory is given them; warpgroups' tiles are made by functions.
void TileLoads::fill_kept(Load& load) const {
  constexpr std::array k_holes = {"kept_0", "kept_1", "kept_2", "kept_3"};
  for (std::size_t i = 0; i < k_holes.size(); ++i) {
    const auto value = fmt::format("next_{}[i{}]", load.names.with("s"), i == 0 ? "" : fmt::format(" + {}", i));
    load.fillings.emplace_back(k_holes[i], rounded_ ? fmt::format("__uint_as_float(rounded_bits({}))", value) : value);
  }
}

const char* TileLoads::keep_section(const Load& load, TileRun run) const {
  if (products_ == TileProducts::wgmma) {
    if (rounded_) return run == TileRun::lines ? "keep_rounded_rows" : "keep_rounded";
    return run == TileRun::lines ? "keep_split_rows" : "keep_split";
  }
  if (run == TileRun::one) return "keep";
  return load.along_steps ? "keep_four_steps" : "keep_four_rows";
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
  fillings.emplace_back("aligned", load.names.with("s_whole"));
  fillings.emplace_back("further_index", steps ? "0" : "3");
  fillings.emplace_back("further_step", steps ? "3" : "0");
  fillings.emplace_back("one_index", steps ? "0" : "j");
  fillings.emplace_back("one_step", steps ? "j" : "0");
  const auto* keep = keep_section(load, steps ? TileRun::steps : TileRun::lines);
  return {"", fill_lines(tile_load_section("load_four"), fillings), fill_lines(tile_load_section(keep), fillings)};
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
      places.push_back({"int", load.names.of(name), name});
      lines.push_back(fmt::format("const int {} = {}[{}];", name, load.names.of(name), load.order.kept));
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
    lines.push_back(fmt::format("const int {} = {};", name, step_value(name + "_of_step", load)));
  }
  return lines;
}

/// Whether all steps of a row or column lie in a part of the tensor that an int counts: the kernel is given, as an int,
/// how far apart two such parts are.
bool TileLoads::steps_fit_an_int(const Load& load) const {
  const auto& indices = load.factor.element->operands;
  const auto first = std::find_if(indices.begin(), indices.end(),
                                  [&](const StageExpr& index) { return names_any(axes_named(index), inner_); });
  return std::any_of(indices.begin(), first, [](const StageExpr& index) { return !axes_named(index).empty(); });
}

/// The element, where it lies in memory. What its row or column owes to the place is a pointer; what its step does is
/// read ahead of the conditions, so that neighbouring steps are read together.
std::string TileLoads::element_text(KernelScope& scope, const Load& load, ElementText& text) {
  const auto buffer = load.factor.element->tensor.buffer;
  loaded_.insert(buffer);
  const auto& memory = context_.buffers[buffer].name;
  const auto start = address_text(scope, *load.address, joined_axes(contraction_.batch, load.axes), true);
  auto step = address_text(scope, *load.address, inner_, false);
  if (has_step_tables()) {
    const std::string type = steps_fit_an_int(load) ? "int" : "long";
    add_table({type, load.names.with("_steps"), type == "int" ? fmt::format("(int)({})", step) : step},
              axes_in(*load.address));
    text.reads.push_back(fmt::format("const {} step_place = {};", type, step_value(load.names.with("_steps"), load)));
    step = "step_place";
  }
  if (load.along_steps) return fmt::format("{}[{}]", memory, start == "0" ? step : start + " + " + step);
  text.places.push_back(
      {"const float*", load.names.with("_from"), start == "0" ? memory : fmt::format("{} + ({})", memory, start)});
  return fmt::format("{}[{}][{}]", load.names.with("_from"), load.order.kept, step);
}

/// The conditions under which there is an element, each found out as seldom as can be.
void TileLoads::add_conditions(KernelScope& scope, const Load& load, ElementText& text) {
  std::vector<StageExpr> of_steps;   // alone
  std::vector<StageExpr> of_places;  // and steps
  for (const auto& guard : load.factor.guards) {
    (names_any(axes_named(guard), load.axes) || !has_step_tables() ? of_places : of_steps).push_back(guard);
  }
  std::set<std::string> named_of_steps;
  for (const auto& guard : of_steps) named_of_steps.merge(axes_named(guard));
  std::set<std::string> named_of_places;
  for (const auto& guard : of_places) named_of_places.merge(axes_named(guard));
  const auto taps =
      of_places.empty() || load.along_steps || !has_step_tables() ? StageAxes() : window_taps(inner_, of_places);
  if (!taps.empty()) {
    text.kept = named_of_places;
    const auto inside = fmt::format("{} < {}", load.names.index, scope.extent(extent_of(load.axes)));
    text.taps = taps_statements(scope, taps, of_places, inside, load.names.with("_taps"));
    text.places.push_back({"unsigned", load.names.with("_taps"), "0"});
    named_of_steps.merge(names_of(taps));
    add_table({"unsigned", load.names.with("_tap"), tap_bits(scope, taps, condition_text(scope, of_steps))},
              named_of_steps);
    text.reads.push_back("const unsigned step_tap = " + step_value(load.names.with("_tap"), load) + ";");
    text.inside = fmt::format("({}[{}] & step_tap) == step_tap", load.names.with("_taps"), load.order.kept);
    return;
  }
  text.inside = fmt::format("{} < {} && k < end", load.names.index, scope.extent(extent_of(load.axes)));
  std::vector<std::string> more;
  if (!of_steps.empty()) {
    add_table({"bool", load.names.with("_inside"), condition_text(scope, of_steps)}, named_of_steps);
    more.push_back(step_value(load.names.with("_inside"), load));
  }
  if (!of_places.empty()) more.push_back(condition_text(scope, of_places));
  text.used = named_of_places;
  text.condition = fmt::format("{}", fmt::join(more, " && "));
}

TileLoad TileLoads::load_of_elements(KernelScope& scope, const Load& load) {
  ElementText text;
  add_conditions(scope, load, text);
  auto used = text.used;
  if (!load.address) used.insert(load.factor.axes.begin(), load.factor.axes.end());
  auto computed = used;
  computed.merge(text.kept);
  if (load.address) computed.merge(axes_in(*load.address));
  const auto lines = index_lines(scope, load, used, computed, text.places);
  auto element = load.address ? element_text(scope, load, text) : without_parentheses(scope.text(load.factor.element));
  element = fmt::format("element = {};", element);
  if (!text.condition.empty()) element = fmt::format("if ({}) {}", text.condition, element);
  auto fillings = load.fillings;
  // Taps know which places and steps there are.
  fillings.emplace_back("indices", text.taps.empty()
                                       ? fmt::format("const int {} = {} + {}, k = next + {};", load.names.index,
                                                     load.names.first(), load.order.place, load.order.step)
                                       : "");
  fillings.emplace_back("reads", join_lines(text.reads));
  fillings.emplace_back("inside", text.inside);
  fillings.emplace_back("axes", join_lines(lines));
  fillings.emplace_back("element", broken_statement(element, 96));
  const auto indices = index_statements(scope, load.axes, load.names.index, computed);
  return {kept_places(load.fillings, load.names.macro_with("_PLACES"), text.places, indices, text.taps),
          fill_lines(tile_load_section("load"), fillings),
          fill_lines(tile_load_section(keep_section(load, TileRun::one)), fillings)};
}

std::string TileLoads::step_value(const std::string& table, const Load& load) const {
  return fmt::format("{}[{}][{}]", table, stage_of_tables(), load.order.step);
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
    lines.push_back(fmt::format("__shared__ __align__(16) {} {}[2][TILE_K];", table.type, table.name));
  }
  return join_lines(lines);
}

std::string TileLoads::steps_text(KernelScope& scope, const std::string& first, const std::string& stage) const {
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
  return steps_text(scope, "next + TILE_K", std::string(stage_of_tables()) + " ^ 1");
}

}  // namespace kw
