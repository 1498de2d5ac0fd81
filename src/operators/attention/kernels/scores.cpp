#include "operators/attention/kernels/scores.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/text.hpp"
#include "codegen/kernel_expr.hpp"
#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/losing_keys.hpp"
#include "operators/attention/kernels/score_sizes.hpp"
#include "operators/attention/kernels/text.hpp"

namespace kw {
namespace {

/// Parameters and arguments of the score function, without repeats and in order of first use.
class Parameters {
 public:
  explicit Parameters(ScoreText& text) : text_(text) {}
  void add(const std::string& declaration, const std::string& argument) {
    if (!seen_.insert(argument).second) return;
    text_.parameters.push_back(declaration);
    text_.arguments.push_back(argument);
  }
  void add_leaves(const KernelExpr& printed) {
    for (const auto& [name, capture] : printed.inner_captures()) add(capture.declaration(name), kernel_name(name));
    for (const std::string& name : printed.inner_names()) add("const int " + name, name);
    for (const NamedValue& value : printed.group_values()) add(value.declaration(), value.name);
    for (const NamedValue& value : printed.column_values()) {
      const std::string array = column_array(value);
      add(fmt::format("const {}* {}", value.type, array), fmt::format("{} + (begin - block) / LANES", array));
    }
  }

 private:
  ScoreText& text_;
  std::set<std::string> seen_;
};

void append_lines(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void take_statements(const KernelExpr& printed, Parameters& parameters, ScoreText& text) {
  text.stages.append(stages_of(printed));
  text.helpers.insert(printed.helpers().begin(), printed.helpers().end());
  text.names.include(printed);
  parameters.add_leaves(printed);
}

/// Where a statement that uses a text of `stage` belongs.
std::vector<std::string>& place(ScoreText& text, ExprStage stage) {
  if (stage == ExprStage::group) return text.stages.group;
  return stage == ExprStage::row ? text.stages.row : text.stages.element;
}

/// score_mod = multiplier * score + offset, with both folded into one fused multiply-add per score.
class AffineScores {
 public:
  AffineScores(ModFunction mod, const AffineInScore& form, const ScoreOptions& options, bool bounded_rows, bool lse)
      : mod_(std::move(mod)), form_(form), options_(options), lse_(lse) {
    if (form_.offset < 0) return;
    const Dependencies inputs = dependencies(mod_)[static_cast<std::size_t>(form_.offset)];
    drop_offset_ = !inputs.key && can_be_left_out(mod_, form_.offset);
    natural_ = !drop_offset_ && may_be_large(mod_, form_.offset);
    if (!inputs.key || !bounded_rows) return;
    const auto linear = linear_in_key(mod_, form_.offset);
    // The analysis may append nodes, and what follows it must see them: keep its answer, not a second call.
    if (!linear || linear->slope < 0 || (linear->intercept >= 0 && !can_be_left_out(mod_, linear->intercept))) return;
    // LSE needs the key from which the term is counted, and the kernel knows that of slopes it has itself.
    const Dependencies of_slope = dependencies(mod_)[static_cast<std::size_t>(linear->slope)];
    if (lse_ && stage_of(of_slope, options_.pack_gqa) != ExprStage::group) return;
    slope_ = linear->slope;
    natural_ = false;  // counted from the largest, the term is exact where it matters
  }

  void print(Parameters& parameters, ScoreText& text) const {
    const std::vector<Dependencies> inputs = dependencies(mod_);
    const auto stage = [&](ExprId id) { return stage_of(inputs[static_cast<std::size_t>(id)], options_.pack_gqa); };
    std::vector<ExprRoot> roots;
    const ExprId addend = slope_ >= 0 ? slope_ : (drop_offset_ ? -1 : form_.offset);
    for (const ExprId id : {form_.multiplier, addend})
      if (id >= 0) roots.push_back({id, stage(id)});
    const KernelExpr printed(mod_, roots, printing(options_, "t", options_.fast_tanh));
    take_statements(printed, parameters, text);

    std::string factor = "scale";
    if (form_.multiplier >= 0) {
      factor = "factor";
      define(stage(form_.multiplier), "factor", "scale * " + printed.text(form_.multiplier), parameters, text);
    }
    if (addend < 0) {
      if (lse_ && drop_offset_) keep_for_lse(text);
      if (!is_vector() && form_.multiplier < 0 && options_.unit_later) {
        text.unit = "scale";
        text.stages.element.emplace_back("float s = dot_product;");
        return;
      }
      text.stages.element.push_back(is_vector() ? fmt::format("float16 s = scores[c] * {};", factor)
                                                : fmt::format("float s = dot_product * {};", factor));
      return;
    }
    define(stage(addend), slope_ >= 0 ? "slope" : "bias", (natural_ ? "" : "LOG2_E * ") + printed.text(addend),
           parameters, text);
    if (slope_ >= 0) print_slope(text);
    if (lse_ && slope_ >= 0) keep_for_lse(text);
    const bool vector_bias = slope_ >= 0 || stage(addend) == ExprStage::element;
    text.stages.element.push_back(is_vector() ? fmt::format("float16 s = fma(scores[c], (float16)({}), {});", factor,
                                                            vector_bias ? "bias" : "(float16)(bias)")
                                              : fmt::format("float s = fmaf(dot_product, {}, bias);", factor));
  }

  [[nodiscard]] bool drops_offset() const { return drop_offset_; }
  [[nodiscard]] bool has_slope() const { return slope_ >= 0; }
  [[nodiscard]] bool natural() const { return natural_; }

 private:
  [[nodiscard]] bool is_vector() const { return options_.dialect->has_vectors; }

  void define(ExprStage stage, const char* name, const std::string& value, Parameters& parameters,
              ScoreText& text) const {
    const char* type = stage == ExprStage::element && is_vector() ? "float16" : "float";
    place(text, stage).push_back(fmt::format("const {} {} = {};", type, name, value));
    if (stage == ExprStage::group) parameters.add(fmt::format("const float {}", name), name);
  }

  /// Only differences along the row matter, so the term is counted from the allowed end of the row where it is
  /// largest: near the largest scores it is then near zero, where floats are densest.
  void print_slope(ScoreText& text) const {
    text.stages.row.emplace_back("const int anchor = slope > 0.0f ? allowed_last : allowed_first;");
    if (!is_vector()) {
      text.stages.element.emplace_back("const float bias = slope * (float)(key - anchor);");
      return;
    }
    text.stages.row.emplace_back("const float16 lane_bias = slope * convert_float16(LANE_INDEX);");
    text.stages.element.emplace_back("const float16 bias = slope * (float)(key - anchor) + lane_bias;");
  }

  /// The term at the anchor: what a slope counted from there leaves out, and for a term without a key all of it.
  void keep_for_lse(ScoreText& text) const {
    const bool keyed = slope_ >= 0;
    const ModFunctionText function =
        mod_function(mod_, form_.offset, {"dropped_term", "float", false, keyed, options_.dialect});
    std::vector<std::string> arguments = {"b", "h", "row"};
    if (options_.pack_gqa) arguments = {"b", "first_head + row / Sq", "row % Sq"};
    if (keyed) arguments.emplace_back("anchor");
    append_lines(arguments, function.names.arguments());
    text.names.include(function.names);
    text.helpers.insert(function.helpers.begin(), function.helpers.end());
    text.dropped = {function.definition, keyed, fmt::format("dropped_term({})", join(arguments))};
  }

  ModFunction mod_;
  AffineInScore form_;
  ScoreOptions options_;
  bool lse_ = false;
  bool drop_offset_ = false;
  bool natural_ = false;  ///< ScoreText::natural
  ExprId slope_ = -1;
};

/// A mod that is a positive constant times something, such as c * tanh(score / c).
struct ConstantTimes {
  double factor = 1.0;
  ExprId rest = -1;
};
std::optional<ConstantTimes> constant_times(const ModFunction& mod) {
  const auto node = [&](ExprId id) -> const ModExpr& { return mod.nodes[static_cast<std::size_t>(id)]; };
  if (node(mod.root).op != ExprOp::multiply) return std::nullopt;
  const auto& args = node(mod.root).args;
  for (const std::size_t i : {0U, 1U}) {
    const ModExpr& constant = node(args[i]);
    if (constant.op != ExprOp::constant || constant.type != ScalarType::real) continue;
    constexpr double k_most = 1e6;  // far from where floats end, whatever the rest is
    if (constant.real > 1.0 / k_most && constant.real < k_most) return ConstantTimes{constant.real, args[1 - i]};
  }
  return std::nullopt;
}

void print_general(const ModFunction& mod, const ScoreOptions& options, Parameters& parameters, ScoreText& text) {
  text.natural = may_be_large(mod, mod.root);
  const auto outer = options.unit_later && !text.natural ? constant_times(mod) : std::nullopt;
  const ExprId root = outer ? outer->rest : mod.root;
  const KernelExpr printed(mod, {{root, ExprStage::element}}, printing(options, "t", options.fast_tanh));
  const bool vector = options.dialect->has_vectors;
  text.stages.element.emplace_back(vector ? "const float16 score = scores[c] * scale;"
                                          : "const float score = dot_product * scale;");
  take_statements(printed, parameters, text);
  const std::string value = without_parentheses(printed.text(root));
  if (outer) {
    text.unit = fmt::format("LOG2_E * {}", float_literal(outer->factor));
    text.stages.element.push_back(fmt::format("float s = {};", value));
    return;
  }
  const char* type = vector ? "float16" : "float";
  text.stages.element.push_back(text.natural ? fmt::format("{} s = {};", type, value)
                                             : fmt::format("{} s = LOG2_E * ({});", type, value));
}

void print_score_mod(const AttentionSpec& attention, const ScoreOptions& options, bool bounded_rows,
                     Parameters& parameters, ScoreText& text) {
  const std::string scale = without_parentheses(scale_text(attention));
  ModFunction mod = attention.apart.score_mod.value_or(ModFunction{});
  const auto affine = attention.apart.score_mod ? affine_in_score(mod) : AffineInScore{};
  parameters.add("const float scale", "scale");
  if (!affine) {
    // The mod needs the score in its own units first.
    text.stages.group.push_back(fmt::format("const float scale = {};", scale));
    print_general(*attention.apart.score_mod, options, parameters, text);
    text.notes.emplace_back(text.natural ? "The score_mod is not affine in the score: it is applied as written."
                                         : "The score_mod is not affine in the score: it is applied as written, then "
                                           "log2(e).");
    return;
  }
  const AffineScores scores(std::move(mod), *affine, options, bounded_rows, attention.lse);
  text.natural = scores.natural();
  text.stages.group.push_back(text.natural ? fmt::format("const float scale = {};", scale)
                                           : fmt::format("const float scale = LOG2_E * ({});", scale));
  scores.print(parameters, text);
  if (scores.drops_offset())
    text.notes.emplace_back("The score_mod's term is the same for all keys of a row; softmax does not see it.");
  if (scores.has_slope())
    text.notes.emplace_back(
        "The score_mod's term is linear in the key: one multiply-add per score; what is constant\n"
        "along a row is left out, since softmax does not see it.");
}

/// max(a, max(b, ...)) of the printed nodes and a last text.
std::string nested(const char* function, const KernelExpr& printed, const std::vector<ExprId>& ids, std::string last) {
  for (std::size_t i = ids.size(); i-- > 0;)
    last = fmt::format("{}({}, {})", function, without_parentheses(printed.text(ids[i])), last);
  return last;
}

/// The body of a function that computes one of a row's bounds, from nodes of single indices.
std::string bound_body(const ModFunction& mask, const std::vector<ExprId>& ids, const char* combine, const char* limit,
                       const ScoreOptions& options, OuterNames& names, ScoreText& text) {
  std::vector<ExprRoot> roots;
  for (const ExprId id : ids) roots.push_back({id, ExprStage::element});
  const KernelExpr printed(mask, roots, {false, "t", false, false, options.dialect});
  text.helpers.insert(printed.helpers().begin(), printed.helpers().end());
  names.include(printed);
  std::string body;
  for (const std::string& statement : printed.statements(ExprStage::element)) body += "  " + statement + "\n";
  return fmt::format("{}  return {};\n", body, nested(combine, printed, ids, limit));
}

void print_bounds(const ModFunction& mask, const RowInterval& interval, const ScoreOptions& options, ScoreText& text) {
  OuterNames names;
  names.axes.insert("Skv");
  const std::string first = bound_body(mask, interval.first, "max", "0", options, names, text);
  const std::string last = bound_body(mask, interval.last, "min", "Skv - 1", options, names, text);
  text.names.include(names);
  text.bound_arguments = names.arguments();
  std::vector<std::string> parameters = {"const int b", "const int h", "const int q_idx"};
  append_lines(parameters, names.parameters());
  const auto define = [&](const char* name, const std::string& body) {
    return parameter_list(fmt::format("{} int {}(", options.dialect->function_qualifier, name), parameters) + " {\n" +
           body + "}\n";
  };
  text.bound_functions =
      "// The mask allows exactly the keys from first_allowed to last_allowed; none if first is after last.\n" +
      define("first_allowed", first) + define("last_allowed", last);
}

void print_mask_by_element(const ModFunction& mask, const ScoreOptions& options, Parameters& parameters,
                           ScoreText& text) {
  const bool vector = options.dialect->has_vectors;
  const KernelExpr printed(mask, {{mask.root, ExprStage::element}}, printing(options, "m", false));
  take_statements(printed, parameters, text);
  std::string condition = printed.text(mask.root);
  const Dependencies inputs = dependencies(mask)[static_cast<std::size_t>(mask.root)];
  if (vector && stage_of(inputs) != ExprStage::element) condition = fmt::format("(int16)(-{})", condition);
  text.mask = {stages_of(printed), condition, {}, inputs, {}};
  constexpr std::size_t k_short = 30;
  if (condition.size() > k_short) {
    text.stages.element.push_back(
        fmt::format("const {} attend = {};", vector ? "int16" : "int", without_parentheses(condition)));
    condition = "attend";
  }
  text.allowed = vector ? fmt::format("{} & (kv_idx <= allowed_last)", condition)
                        : fmt::format("{} && key <= allowed_last", condition);
  text.mask->names.include(printed);
}

}  // namespace

StageText stages_of(const KernelExpr& printed) {
  StageText stages;
  stages.group = printed.statements(ExprStage::group);
  stages.row = printed.statements(ExprStage::row);
  stages.column = printed.statements(ExprStage::column);
  stages.columns = printed.column_values();
  stages.element = column_loads(stages);
  append_lines(stages.element, printed.statements(ExprStage::element));
  return stages;
}

KernelExprOptions printing(const ScoreOptions& options, const char* prefix, bool fast_tanh) {
  const bool vector = options.dialect->has_vectors;
  return {vector, prefix, fast_tanh, vector, options.dialect, true, options.pack_gqa};
}

void StageText::append(const StageText& other) {
  append_lines(group, other.group);
  append_lines(row, other.row);
  append_lines(column, other.column);
  columns.insert(columns.end(), other.columns.begin(), other.columns.end());
  append_lines(element, other.element);
}

std::string column_array(const NamedValue& column) {
  return column.name + "_column";
}

std::string column_declarations(const StageText& text) {
  std::vector<std::string> lines;
  for (const NamedValue& column : text.columns)
    lines.push_back(fmt::format("{} {}[BLOCK_VECTORS];", column.type, column_array(column)));
  return join_lines(lines);
}

std::string column_loop(const StageText& text, const std::string& vectors) {
  std::vector<std::string> stores;
  for (const NamedValue& column : text.columns)
    stores.push_back(fmt::format("{}[c] = {};", column_array(column), column.name));
  return fill_lines(kernel_text("attention/vector.cl", "column_loop"),
                    {{"vectors", vectors}, {"statements", join_lines(text.column)}, {"stores", join_lines(stores)}});
}

std::vector<std::string> column_loads(const StageText& text) {
  std::vector<std::string> loads;
  for (const NamedValue& column : text.columns)
    loads.push_back(fmt::format("{} = {}[c];", column.declaration(), column_array(column)));
  return loads;
}

const char* score_units(const ScoreText& text) {
  return text.natural ? "natural units" : "units of log2";
}

ScoreText score_text(const AttentionSpec& attention, const ScoreOptions& options) {
  ScoreText text;
  Parameters parameters(text);
  std::optional<RowInterval> interval;
  std::optional<ModFunction> mask = attention.apart.mask_mod;
  if (mask && options.row_bounds) interval = row_interval(*mask);
  text.allowed = options.dialect->has_vectors ? "(kv_idx >= allowed_first) & (kv_idx <= allowed_last)"
                                              : "key >= allowed_first && key <= allowed_last";
  print_score_mod(attention, options, !mask || interval, parameters, text);
  if (attention.apart.taken_out)
    text.notes.emplace_back("The score_mod holds a mask: scores that can only lose, where a row has others.");
  if (text.natural)
    text.notes.emplace_back(
        "Scores stay in natural units until the row's largest is subtracted: some may be so large that\n"
        "log2(e) times them is no float.");
  if (interval) {
    print_bounds(*mask, *interval, options, text);
    text.notes.emplace_back(
        "The mask allows an interval of keys per row: blocks outside it are never touched, and only\n"
        "the interval's ends are masked.");
  } else if (mask) {
    print_mask_by_element(*mask, options, parameters, text);
  }
  if (attention.losing && options.block_mask) print_losing_term(*attention.losing, options, text);
  return text;
}

}  // namespace kw
