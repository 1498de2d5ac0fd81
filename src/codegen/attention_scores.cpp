#include "codegen/attention_scores.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "codegen/attention_text.hpp"
#include "codegen/text.hpp"

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
  void add_leaves(const OpenClExpr& printed) {
    for (const std::string& name : printed.inner_names()) add("const int " + name, name);
    for (std::size_t i = 0; i < printed.group_names().size(); ++i)
      add(printed.group_parameters()[i], printed.group_names()[i]);
  }

 private:
  ScoreText& text_;
  std::set<std::string> seen_;
};

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void take_statements(const OpenClExpr& printed, Parameters& parameters, ScoreText& text) {
  append(text.group, printed.statements(ExprStage::group));
  append(text.row, printed.statements(ExprStage::row));
  append(text.element, printed.statements(ExprStage::element));
  text.helpers.insert(printed.helpers().begin(), printed.helpers().end());
  text.uses_batch_axis = text.uses_batch_axis || printed.axes().count("B") > 0;
  parameters.add_leaves(printed);
}

/// Can `node` be left out of a whole row? Softmax does not see what is added to every score of a row, unless it is
/// infinite: a row of -inf is a masked row.
bool surely_finite(const ModFunction& mod, ExprId node) {
  std::vector<ExprId> open = {node};
  std::set<ExprId> seen;
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    const ModExpr& expr = mod.nodes[static_cast<std::size_t>(id)];
    if (expr.op == ExprOp::constant && expr.type == ScalarType::real && !std::isfinite(expr.real)) return false;
    if (expr.op == ExprOp::log || expr.op == ExprOp::log2) return false;
    open.insert(open.end(), expr.args.begin(), expr.args.end());
  }
  return true;
}

/// Where a statement that uses a text of `stage` belongs.
std::vector<std::string>& place(ScoreText& text, ExprStage stage) {
  if (stage == ExprStage::group) return text.group;
  return stage == ExprStage::row ? text.row : text.element;
}

const char* real_type(ExprStage stage) {
  return stage == ExprStage::element ? "float16" : "float";
}

/// score_mod = multiplier * score + offset, with both folded into one fused multiply-add per score.
class AffineScores {
 public:
  AffineScores(ModFunction mod, const AffineInScore& form, const ScoreOptions& options, bool bounded_rows)
      : mod_(std::move(mod)), form_(form), options_(options) {
    if (form_.offset < 0) return;
    const Dependencies inputs = dependencies(mod_)[static_cast<std::size_t>(form_.offset)];
    drop_offset_ = !inputs.key && surely_finite(mod_, form_.offset);
    if (!inputs.key || !bounded_rows) return;
    const auto linear = linear_in_key(mod_, form_.offset);
    // The analysis may append nodes, and what follows it must see them: keep its answer, not a second call.
    if (linear && linear->slope >= 0 && (linear->intercept < 0 || surely_finite(mod_, linear->intercept)))
      slope_ = linear->slope;
  }

  void print(Parameters& parameters, ScoreText& text) const {
    const std::vector<Dependencies> inputs = dependencies(mod_);
    const auto stage = [&](ExprId id) { return stage_of(inputs[static_cast<std::size_t>(id)]); };
    std::vector<ExprRoot> roots;
    const ExprId addend = slope_ >= 0 ? slope_ : (drop_offset_ ? -1 : form_.offset);
    for (const ExprId id : {form_.multiplier, addend})
      if (id >= 0) roots.push_back({id, stage(id)});
    const OpenClExpr printed(mod_, roots, {true, "t", options_.fast_tanh});
    take_statements(printed, parameters, text);

    std::string factor = "scale";
    if (form_.multiplier >= 0) {
      factor = "factor";
      define(stage(form_.multiplier), "factor", "scale * " + printed.text(form_.multiplier), parameters, text);
    }
    if (addend < 0) {
      text.element.push_back(fmt::format("float16 s = scores[c] * {};", factor));
      return;
    }
    define(stage(addend), slope_ >= 0 ? "slope" : "bias", "LOG2_E * " + printed.text(addend), parameters, text);
    if (slope_ >= 0) print_slope(text);
    const bool vector_bias = slope_ >= 0 || stage(addend) == ExprStage::element;
    text.element.push_back(fmt::format("float16 s = fma(scores[c], (float16)({}), {});", factor,
                                       vector_bias ? "bias" : "(float16)(bias)"));
  }

  [[nodiscard]] bool drops_offset() const { return drop_offset_; }
  [[nodiscard]] bool has_slope() const { return slope_ >= 0; }

 private:
  static void define(ExprStage stage, const char* name, const std::string& value, Parameters& parameters,
                     ScoreText& text) {
    place(text, stage).push_back(fmt::format("const {} {} = {};", real_type(stage), name, value));
    if (stage == ExprStage::group) parameters.add(fmt::format("const float {}", name), name);
  }

  /// Only differences along the row matter, so the term is counted from the allowed end of the row where it is
  /// largest: near the largest scores it is then near zero, where floats are densest.
  static void print_slope(ScoreText& text) {
    text.row.emplace_back("const int anchor = slope > 0.0f ? allowed_last : allowed_first;");
    text.row.emplace_back("const float16 lane_bias = slope * convert_float16(LANE_INDEX);");
    text.element.emplace_back("const float16 bias = slope * (float)(key - anchor) + lane_bias;");
  }

  ModFunction mod_;
  AffineInScore form_;
  ScoreOptions options_;
  bool drop_offset_ = false;
  ExprId slope_ = -1;
};

void print_general(const ModFunction& mod, const ScoreOptions& options, Parameters& parameters, ScoreText& text) {
  const OpenClExpr printed(mod, {{mod.root, ExprStage::element}}, {true, "t", options.fast_tanh});
  text.element.emplace_back("const float16 score = scores[c] * scale;");
  take_statements(printed, parameters, text);
  text.element.push_back(fmt::format("float16 s = LOG2_E * ({});", without_parentheses(printed.text(mod.root))));
}

void print_score_mod(const AttentionSpec& attention, const ScoreOptions& options, bool bounded_rows,
                     Parameters& parameters, ScoreText& text) {
  const std::string scale = without_parentheses(scale_text(attention));
  // A mod that is not affine needs the score in its own units first.
  ModFunction mod = attention.score_mod.value_or(ModFunction{});
  const auto affine = attention.score_mod ? affine_in_score(mod) : AffineInScore{};
  text.group.push_back(affine ? fmt::format("const float scale = LOG2_E * ({});", scale)
                              : fmt::format("const float scale = {};", scale));
  parameters.add("const float scale", "scale");
  if (!affine) {
    print_general(*attention.score_mod, options, parameters, text);
    text.notes.emplace_back("The score_mod is not affine in the score: it is applied as written, then log2(e).");
    return;
  }
  const AffineScores scores(std::move(mod), *affine, options, bounded_rows);
  scores.print(parameters, text);
  if (scores.drops_offset())
    text.notes.emplace_back("The score_mod's term is the same for all keys of a row; softmax does not see it.");
  if (scores.has_slope())
    text.notes.emplace_back(
        "The score_mod's term is linear in the key: one multiply-add per score; what is constant\n"
        "along a row is left out, since softmax does not see it.");
}

/// max(a, max(b, ...)) of the printed nodes and a last text.
std::string nested(const char* function, const OpenClExpr& printed, const std::vector<ExprId>& ids, std::string last) {
  for (std::size_t i = ids.size(); i-- > 0;)
    last = fmt::format("{}({}, {})", function, without_parentheses(printed.text(ids[i])), last);
  return last;
}

void print_bounds(const ModFunction& mask, const RowInterval& interval, ScoreText& text) {
  const auto print = [&](const std::vector<ExprId>& ids, const char* combine, const char* limit) {
    std::vector<ExprRoot> roots;
    for (const ExprId id : ids) roots.push_back({id, ExprStage::element});
    const OpenClExpr printed(mask, roots, {});
    text.helpers.insert(printed.helpers().begin(), printed.helpers().end());
    text.uses_batch_axis = text.uses_batch_axis || printed.axes().count("B") > 0;
    std::string body;
    for (const std::string& statement : printed.statements(ExprStage::element)) body += "  " + statement + "\n";
    return std::pair{printed.axes(), fmt::format("{}  return {};\n", body, nested(combine, printed, ids, limit))};
  };
  auto [axes, first] = print(interval.first, "max", "0");
  const auto [last_axes, last] = print(interval.last, "min", "Skv - 1");
  axes.insert(last_axes.begin(), last_axes.end());
  axes.insert("Skv");
  text.bound_axes = axis_parameters(axes);
  std::vector<std::string> parameters = {"const int b", "const int h", "const int q_idx"};
  append(parameters, as_int_parameters(text.bound_axes));
  const auto define = [&](const char* name, const std::string& body) {
    return parameter_list(fmt::format("static inline int {}(", name), parameters) + " {\n" + body + "}\n";
  };
  text.bound_functions =
      "// The mask allows exactly the keys from first_allowed to last_allowed; none if first is after last.\n" +
      define("first_allowed", first) + define("last_allowed", last);
}

void print_mask_by_element(const ModFunction& mask, Parameters& parameters, ScoreText& text) {
  const OpenClExpr printed(mask, {{mask.root, ExprStage::element}}, {true, "m", false});
  take_statements(printed, parameters, text);
  std::string condition = printed.text(mask.root);
  const Dependencies inputs = dependencies(mask)[static_cast<std::size_t>(mask.root)];
  if (stage_of(inputs) != ExprStage::element) condition = fmt::format("(int16)(-{})", condition);
  text.allowed = fmt::format("{} & (kv_idx <= allowed_last)", condition);
  text.always_masked = true;
}

}  // namespace

ScoreText score_text(const AttentionSpec& attention, const ScoreOptions& options) {
  ScoreText text;
  Parameters parameters(text);
  std::optional<RowInterval> interval;
  std::optional<ModFunction> mask = attention.mask_mod;
  if (mask && options.row_bounds) interval = row_interval(*mask);
  text.allowed = "(kv_idx >= allowed_first) & (kv_idx <= allowed_last)";
  print_score_mod(attention, options, !mask || interval, parameters, text);
  if (interval) {
    print_bounds(*mask, *interval, text);
    text.notes.emplace_back(
        "The mask allows an interval of keys per row: blocks outside it are never touched, and only\n"
        "the interval's ends are masked.");
  } else if (mask) {
    print_mask_by_element(*mask, parameters, text);
  }
  return text;
}

}  // namespace kw
