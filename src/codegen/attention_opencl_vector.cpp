// Attention for CPUs with wide vectors: K packed into panels of float16 columns, register tiles of queries x keys and
// queries x value columns, online softmax with a polynomial exp2. Sq, Skv and the head counts are arguments, so one
// build serves every workload with the same head dimensions.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/attention_opencl.hpp"
#include "codegen/attention_scores.hpp"
#include "codegen/attention_text.hpp"
#include "codegen/attention_vector_shape.hpp"
#include "codegen/attention_vector_source.hpp"
#include "codegen/text.hpp"

namespace kw {
namespace {

constexpr const char* k_generator = "vector 1";

std::int64_t choice(const IntBindings& structure, std::string_view name) {
  if (const auto found = structure.find(name); found != structure.end()) return found->second;
  for (const Tunable& tunable : structure_attention_opencl_vector())
    if (tunable.name == name) return tunable.default_value;
  KW_CHECK(false, "no structural choice {}", name);
  return 0;
}

Result<void> check_structure(const IntBindings& structure) {
  const std::vector<Tunable> choices = structure_attention_opencl_vector();
  for (const auto& entry : structure) {
    const auto found =
        std::find_if(choices.begin(), choices.end(), [&](const Tunable& t) { return t.name == entry.first; });
    if (found == choices.end())
      return fail(errc::codegen_unsupported, "style \"vector\" has no structural choice \"{}\"", entry.first);
    if (std::find(found->values.begin(), found->values.end(), entry.second) == found->values.end())
      return fail(errc::codegen_unsupported, "structural choice {} of style \"vector\" cannot be {}; it is one of {}",
                  entry.first, entry.second, fmt::join(found->values, ", "));
  }
  return {};
}

/// Minimax fits of 2^f on [-1/2, 1/2] with the constant term held at 1, so that 2^0 is exactly 1. Relative error
/// 9.1e-8 (degree 5) and 2.0e-9 (degree 6) before rounding.
std::string exp2_function(std::int64_t degree) {
  if (degree == 0) return "static inline float16 exp2_16(const float16 x) { return exp2(x); }\n";
  const std::vector<const char*> coefficients =
      degree == 5 ? std::vector<const char*>{"1.32647518e-3f", "9.67151206e-3f", "5.55073358e-2f",
                                             "0.240222424f",   "0.693147004f",   "1.0f"}
                  : std::vector<const char*>{
                        "1.53532208e-4f", "1.3398868e-3f", "9.61843785e-3f", "5.55033237e-2f", "0.240226477f",
                        "0.693147182f",   "1.0f"};
  std::string polynomial = fmt::format("  float16 p = {};\n", coefficients.front());
  for (std::size_t i = 1; i < coefficients.size(); ++i)
    polynomial += fmt::format("  p = fma(p, f, (float16)({}));\n", coefficients[i]);
  return fmt::format(
      "// 2^x for x up to 127: x = n + f with |f| <= 1/2, a polynomial for 2^f, and n added to its exponent. Adding "
      "1.5 *\n"
      "// 2^23 rounds x to n and leaves n in the low bits. From -127 down the result is exactly 0: masked scores "
      "(-inf)\n"
      "// weigh nothing. Not to be compiled with fast-math, which would cancel the rounding.\n"
      "static inline float16 exp2_16(float16 x) {{\n"
      "  x = max(x, (float16)(-127.0f));\n"
      "  const float16 rounded = x + 12582912.0f;\n"
      "  const float16 f = x - (rounded - 12582912.0f);\n"
      "{}"
      "  return as_float16(as_int16(p) + (as_int16(rounded) << 23));\n"
      "}}\n",
      polynomial);
}

/// What differs between rows that are bounded by the mask and rows that see every key.
void fill_ranges(const ScoreText& text, Fillings& fillings) {
  const bool bounded = !text.bound_functions.empty();
  const std::string trailing = text.bound_axes.empty() ? "" : ", " + join_list(text.bound_axes);
  fillings.emplace_back("bounds", !bounded ? std::string()
                                           : fmt::format(R"(
// Keys each row may attend to, and the union of that over each tile and over the work-group.
int row_first[ROW_TILES][ROWS], row_last[ROW_TILES][ROWS], tile_first[ROW_TILES], tile_last[ROW_TILES];
int group_first = Skv, group_last = -1;
for (int t = 0; t < tiles; ++t) {{
  tile_first[t] = Skv;
  tile_last[t] = -1;
  for (int r = 0; r < ROWS; ++r) {{
    const int q_idx = min(first_row + t * ROWS + r, Sq - 1);
    row_first[t][r] = first_allowed(b, h, q_idx{0});
    row_last[t][r] = last_allowed(b, h, q_idx{0});
    if (row_first[t][r] > row_last[t][r]) continue;
    tile_first[t] = min(tile_first[t], row_first[t][r]);
    tile_last[t] = max(tile_last[t], row_last[t][r]);
  }}
  group_first = min(group_first, tile_first[t]);
  group_last = max(group_last, tile_last[t]);
}})",
                                                         trailing));
  fillings.emplace_back("first_block", bounded ? "group_first / BLOCK_KV * BLOCK_KV" : "0");
  fillings.emplace_back("last_key", bounded ? "group_last" : "Skv - 1");
  fillings.emplace_back("tile_range", bounded
                                          ? "const int begin = max(block, tile_first[t] / PANEL_KEYS * PANEL_KEYS);\n"
                                            "const int end = min(block + BLOCK_KV, tile_last[t] + 1);\n"
                                            "if (begin >= end) continue;"
                                          : "const int begin = block, end = min(block + BLOCK_KV, Skv);");
  fillings.emplace_back("row_range", bounded
                                         ? "const int allowed_first = row_first[t][r], allowed_last = row_last[t][r];"
                                         : "const int allowed_first = 0, allowed_last = Skv - 1;");
}

std::string finish_call(const ScoreText& text) {
  const auto call = [&](const char* masked) {
    return fmt::format(
        "finish_scores(row_scores, vectors, begin, {}, allowed_first, allowed_last,\n"
        "                    q_idx, {})",
        masked, join_list(text.arguments));
  };
  if (text.always_masked) return fmt::format("const float highest =\n    {};", call("1"));
  return fmt::format(
      "const int all_allowed = allowed_first <= begin && begin + vectors * LANES - 1 <= allowed_last;\n"
      "const float highest = all_allowed\n"
      "    ? {}\n"
      "    : {};",
      call("0"), call("1"));
}

std::string finish_signature(const ScoreText& text) {
  std::vector<std::string> parameters = {"float16* scores",  "const int vectors",       "const int first_key",
                                         "const int masked", "const int allowed_first", "const int allowed_last",
                                         "const int q_idx"};
  parameters.insert(parameters.end(), text.parameters.begin(), text.parameters.end());
  return parameter_list("static inline float finish_scores(", parameters) + " {";
}

std::string vector_source(const Problem& problem, const IntBindings& structure, const ScoreText& text) {
  const bool lazy = choice(structure, "lazy_rescale") != 0;
  std::vector<std::string> notes = {
      "How: K is packed into panels of 16 * PANELS columns. A work-group takes ROW_TILES tiles of ROWS queries "
      "through\n"
      "the keys in blocks of BLOCK_KV with an online softmax; dot products and weighted sums are register tiles."};
  notes.insert(notes.end(), text.notes.begin(), text.notes.end());
  Fillings fillings = {
      {"comment", source_comment(problem, k_generator, notes)},
      {"helpers", opencl_helper_source(text.helpers)},
      {"exp2_function", exp2_function(choice(structure, "exp2_degree"))},
      {"bound_functions", text.bound_functions},
      {"finish_signature", finish_signature(text)},
      {"row_statements", join_lines(text.row)},
      {"element_statements", join_lines(text.element)},
      {"allowed", text.allowed},
      {"batch_parameter", text.uses_batch_axis ? ", const int B" : ""},
      {"group_statements", join_lines(text.group)},
      {"finish_call", finish_call(text)},
      {"rescale_comment",
       lazy ? "// Weights may grow to 2^8 before the sums are rescaled: total and out share the base,\n"
              "// so any base near the peak gives the same quotient."
            : ""},
      {"rescale_condition", lazy ? "highest > peak[t][r] + 8.0f" : "highest > peak[t][r]"}};
  fill_ranges(text, fillings);
  return fill(k_attention_vector_source, fillings);
}

/// Rows of V padded to whole passes; the same arithmetic as VALUE_STRIDE in the source.
std::string value_stride() {
  const std::string vectors = "ceil_div(Dv, 16)";
  const std::string passes = fmt::format("ceil_div({}, VALUE_TILE)", vectors);
  return fmt::format("16 * {0} * ceil_div({1}, {0})", passes, vectors);
}

void describe_launches(bool uses_batch, Bundle& bundle) {
  const std::string stride = value_stride();
  bundle.defines = {{"HEAD_DIM", "D"}, {"VALUE_DIM", "Dv"}};
  bundle.scratch = {{"packed_keys", DType::f32, "B * Hkv * D * round_up(Skv, 16 * PANELS)"},
                    {"packed_values", DType::f32, fmt::format("max(1, ({0} != Dv) * B * Hkv * Skv * {0})", stride)}};
  Launch attention{"attention",
                   {"ceil_div(Sq, ROWS * ROW_TILES)", "Hq", "B"},
                   {"1", "1", "1"},
                   "0",
                   {"Q", "packed_keys", "V", "packed_values", "O", "Sq", "Skv", "Hq", "Hkv"}};
  if (uses_batch) attention.args.emplace_back("B");
  bundle.launches = {{"pack",
                      {"ceil_div(Skv, 16 * PANELS)", "Hkv", "B"},
                      {"1", "1", "1"},
                      "0",
                      {"K", "V", "packed_keys", "packed_values", "Skv"}},
                     attention};
}

}  // namespace

std::vector<Tunable> structure_attention_opencl_vector() {
  return {{"exp2_degree", {5, 6, 0}, 5},  // of the polynomial; 0: the built-in exp2
          {"lazy_rescale", {0, 1}, 0},    // rescale sums only when the peak has grown by 8
          {"row_bounds", {1, 0}, 1},      // masks that are intervals become loop bounds
          {"fast_tanh", {1, 0}, 1}};      // rational tanh instead of the built-in
}

Result<Bundle> emit_attention_opencl_vector(const Problem& problem, const DeviceFacts& device,
                                            const IntBindings& structure) {
  KW_TRY(const AttentionSpec* attention, f32_attention(problem, "vector"));
  KW_TRY_VOID(check_structure(structure));
  const ScoreText text =
      score_text(*attention, {choice(structure, "row_bounds") != 0, choice(structure, "fast_tanh") != 0});
  Bundle bundle;
  bundle.target = "opencl";
  bundle.problem = problem.name;
  bundle.generator = k_generator;
  bundle.tunables = vector_tunables(device);
  bundle.constraints = vector_constraints(device);
  bundle.source = vector_source(problem, structure, text);
  describe_launches(text.uses_batch_axis, bundle);
  return bundle;
}

}  // namespace kw
