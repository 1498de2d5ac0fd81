// Attention for CPUs with wide vectors: K packed into panels of float16 columns, register tiles of queries x keys and
// queries x value columns, online softmax with a polynomial exp2. Sq, Skv and the head counts are arguments, so one
// build serves every workload with the same head dimensions.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/attention_block_map.hpp"
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

/// A row's bounds, stored in `to`.
std::string bound_statement(const char* to, const char* function, const ScoreText& text) {
  std::vector<std::string> arguments = {"b", "h", "q_idx"};
  arguments.insert(arguments.end(), text.bound_arguments.begin(), text.bound_arguments.end());
  return parameter_list(fmt::format("    {}[t][r] = {}(", to, function), arguments) + ";";
}

/// Keys that each row, tile and group may attend to, where the mask says so.
std::string bounds(const ScoreText& text) {
  return fmt::format(R"(
// Keys each row may attend to, and the union of that over each tile and over the work-group.
int row_first[ROW_TILES][ROWS], row_last[ROW_TILES][ROWS], tile_first[ROW_TILES], tile_last[ROW_TILES];
int group_first = Skv, group_last = -1;
for (int t = 0; t < tiles; ++t) {{
  tile_first[t] = Skv;
  tile_last[t] = -1;
  for (int r = 0; r < ROWS; ++r) {{
    const int q_idx = min(first_row + t * ROWS + r, Sq - 1);
{}
{}
    if (row_first[t][r] > row_last[t][r]) continue;
    tile_first[t] = min(tile_first[t], row_first[t][r]);
    tile_last[t] = max(tile_last[t], row_last[t][r]);
  }}
  group_first = min(group_first, tile_first[t]);
  group_last = max(group_last, tile_last[t]);
}})",
                     bound_statement("row_first", "first_allowed", text),
                     bound_statement("row_last", "last_allowed", text));
}

/// The calls of finish_scores for `scores` of `vectors` from key `begin` on: masked and not.
struct FinishCalls {
  std::string plain, masked;
};
FinishCalls finish_calls(const ScoreText& text, const char* scores, const char* vectors) {
  std::vector<std::string> arguments = {"q_idx"};
  arguments.insert(arguments.end(), text.arguments.begin(), text.arguments.end());
  const std::string trailing = parameter_list(std::string(20, ' '), arguments);
  const auto call = [&](const char* masked) {
    return fmt::format("finish_scores({}, {}, begin, {}, allowed_first, allowed_last,\n{}", scores, vectors, masked,
                       trailing);
  };
  return {call("0"), call("1")};
}

/// What a tile does with a block's keys; which of them it has to look at decides all of it.
void fill_tile(const ScoreText& text, bool mapped, DType dtype, Fillings& fillings) {
  const bool bounded = !text.bound_functions.empty();
  const std::string last_key = bounded ? "group_last" : "Skv - 1";
  const std::string rows =
      is_16_bit_float(dtype)
          ? fmt::format(
                "// Rows past the last one repeat it; they are computed and not stored.\n"
                "float query[ROWS][HEAD_DIM];\n"
                "for (int r = 0; r < ROWS; ++r) {{\n"
                "  __global const {}* row = Q + (query_head * Sq + min(tile_row + r, Sq - 1)) * HEAD_DIM;\n"
                "  for (int d = 0; d < HEAD_DIM; ++d) query[r][d] = {};\n"
                "}}",
                element_type(dtype), element_text(dtype, "row", "d"))
          : "// Rows past the last one repeat it; they are computed and not stored.\n"
            "__global const float* query[ROWS];\n"
            "#pragma unroll\n"
            "for (int r = 0; r < ROWS; ++r) query[r] = Q + (query_head * Sq + min(tile_row + r, Sq - 1)) * HEAD_DIM;";
  const std::string range = bounded ? "const int begin = max(block, tile_first[t] / PANEL_KEYS * PANEL_KEYS);\n"
                                      "const int end = min(block + BLOCK_KV, tile_last[t] + 1);\n"
                                      "if (begin >= end) continue;"
                                    : "const int begin = block, end = min(block + BLOCK_KV, Skv);";
  const bool columns = !text.stages.columns.empty();
  const std::string vectors = fmt::format("(min(BLOCK_KV, {} - block) + PANEL_KEYS - 1) / PANEL_KEYS * PANELS",
                                          bounded ? "group_last + 1" : "Skv");
  const std::string declared = "// What depends on the key alone, for all rows.\n" + column_declarations(text.stages);
  std::string late;
  if (columns && mapped)
    late = fill("if (!columns_ready) {\n  ${loop}\n  columns_ready = 1;\n}",
                {{"loop", column_loop(text.stages, vectors)}});
  fillings.emplace_back("bounds", bounded ? bounds(text) : mapped ? codes_definition(*text.mask) : "");
  fillings.emplace_back("first_block", bounded ? "group_first / BLOCK_KV * BLOCK_KV" : "0");
  fillings.emplace_back("last_key", last_key);
  fillings.emplace_back("open_block", columns ? " {" : "");
  fillings.emplace_back("close_block", columns ? "}" : "");
  fillings.emplace_back("columns", !columns ? ""
                                   : mapped ? declared + "\nint columns_ready = 0;"
                                            : declared + "\n" + column_loop(text.stages, vectors));
  const Fillings inner = {{"tile_range", range},
                          {"query_rows", rows},
                          {"late_columns", late},
                          {"tile_codes", mapped ? tile_codes(*text.mask) : ""}};
  std::string tile_scores = fill(mapped ? k_scores_of_mapped_keys : k_scores_of_all_keys, inner);
  tile_scores.pop_back();  // the template's line ends itself
  fillings.emplace_back("tile_scores", std::move(tile_scores));
  fillings.emplace_back("tile_values", mapped ? k_values_of_mapped_keys : k_values_of_all_keys);
  fillings.emplace_back("row_range", bounded
                                         ? "const int allowed_first = row_first[t][r], allowed_last = row_last[t][r];"
                                         : "const int allowed_first = 0, allowed_last = Skv - 1;");
}

/// Of all of a row's keys in the block.
std::string finish_all(const ScoreText& text) {
  const FinishCalls calls = finish_calls(text, "row_scores", "vectors");
  if (text.mask) return fmt::format("const float highest =\n    {};", calls.masked);
  return fmt::format(
      "const int all_allowed = allowed_first <= begin && begin + vectors * LANES - 1 <= allowed_last;\n"
      "const float highest = all_allowed\n"
      "    ? {}\n"
      "    : {};",
      calls.plain, calls.masked);
}

/// Run by run, and only where the map says so with the mask.
std::string finish_runs(const ScoreText& text) {
  const FinishCalls calls = finish_calls(text, "row_scores + c", "count");
  return fmt::format(
      "float highest = -INFINITY;\n"
      "for (int run = 0, c = 0; run < runs; ++run) {{\n"
      "  const int begin = run_first[run] * PANEL_KEYS, count = (run_end[run] - run_first[run]) * PANELS;\n"
      "  const float of_run = run_masked[run]\n"
      "    ? {}\n"
      "    : {};\n"
      "  highest = max(highest, of_run);\n"
      "  c += count;\n"
      "}}",
      calls.masked, calls.plain);
}

std::string finish_signature(const ScoreText& text) {
  std::vector<std::string> parameters = {"float16* scores",  "const int vectors",       "const int first_key",
                                         "const int masked", "const int allowed_first", "const int allowed_last",
                                         "const int q_idx"};
  parameters.insert(parameters.end(), text.parameters.begin(), text.parameters.end());
  return parameter_list("static inline float finish_scores(", parameters) + " {";
}

const char* store_elements(DType dtype) {
  if (dtype == DType::f16) return k_store_row_f16;
  return dtype == DType::bf16 ? k_store_row_bf16 : k_store_row_f32;
}

/// What stored elements need besides what mods do.
std::set<KernelHelper> with_stores(std::set<KernelHelper> helpers, DType dtype) {
  if (dtype == DType::bf16) helpers.insert({KernelHelper::to_bf16, KernelHelper::to_bf16_16});
  return helpers;
}

/// Reading and writing tensors of the problem's type; arithmetic is f32.
void fill_tensors(DType dtype, Fillings& fillings) {
  const bool narrow = is_16_bit_float(dtype);
  fillings.emplace_back("element", element_type(dtype));
  fillings.emplace_back("key_column",
                        narrow ? fill(k_key_column_16_bit, {{"element", element_type(dtype)},
                                                            {"key", element_text(dtype, "key", "i * HEAD_DIM")}})
                               : k_key_column_f32);
  fillings.emplace_back("value", element_text(dtype, "value", "d"));
  fillings.emplace_back(
      "pack_comment", narrow
                          ? "// Keys as panels [head][panel][HEAD_DIM][PANEL_KEYS], so that the score loop reads "
                            "memory in order; and V "
                            "in f32 with\n// its rows padded to whole float16s. One panel per work-group."
                          : "// Keys as panels [head][panel][HEAD_DIM][PANEL_KEYS], so that the score loop reads "
                            "memory in order; and V "
                            "with its rows\n// padded to whole float16s where they are not. One panel per work-group.");
  fillings.emplace_back("if_values_packed", narrow ? "" : "#if VALUE_STRIDE != VALUE_DIM");
  fillings.emplace_back("end_values_packed", narrow ? "" : "#endif");
  fillings.emplace_back("values", narrow ? "  __global const float* values = packed_values;"
                                         : "#if VALUE_STRIDE != VALUE_DIM\n"
                                           "  __global const float* values = packed_values;\n"
                                           "#else\n"
                                           "  __global const float* values = V;\n"
                                           "#endif");
  fillings.emplace_back("query_parameter",
                        narrow ? "const float (*query)[HEAD_DIM]" : "__global const float* const* query");
  fillings.emplace_back("store_elements", store_elements(dtype));
}

/// The natural logarithm of a row's sum, with what the scores were freed of.
std::string store_lse(const ScoreText& text) {
  const bool bounded = !text.bound_functions.empty();
  std::string lines = "// Peak and total are in units of log2.\n";
  std::string term;
  if (text.dropped) {
    if (text.dropped->anchored)
      lines += fmt::format("const int anchor = slope > 0.0f ? {} : {};\n", bounded ? "row_last[t][r]" : "Skv - 1",
                           bounded ? "row_first[t][r]" : "0");
    term = "\n    + " + text.dropped->call;
  }
  lines += "LSE[query_head * Sq + row] = total[t][r] > 0.0f\n    ? (peak[t][r] + log2(total[t][r])) / LOG2_E";
  return lines + term + "\n    : -INFINITY;";
}

/// Scratch buffers as the bundle names them.
struct ScratchNames {
  std::string keys, values, map;
};
ScratchNames scratch_names(const Problem& problem) {
  return {free_buffer_name(problem, "packed_keys"), free_buffer_name(problem, "packed_values"),
          free_buffer_name(problem, k_block_map)};
}

struct VectorKernels {
  KernelParameters pack, attention;
};

VectorKernels kernel_parameters(const Problem& problem, const ScoreText& text, bool mapped) {
  const AttentionSpec& attention = *problem.attention();
  const ScratchNames scratch = scratch_names(problem);
  VectorKernels kernels;
  kernels.pack.add_tensor(attention.dtype, false, "K");
  kernels.pack.add_tensor(attention.dtype, false, "V");
  kernels.pack.add_tensor(DType::f32, true, "packed_keys", scratch.keys);
  kernels.pack.add_tensor(DType::f32, true, "packed_values", scratch.values);
  kernels.pack.add_axis("Skv");
  kernels.attention.add_tensor(attention.dtype, false, "Q");
  kernels.attention.add_tensor(DType::f32, false, "packed_keys", scratch.keys);
  if (attention.dtype == DType::f32) kernels.attention.add_tensor(DType::f32, false, "V");
  kernels.attention.add_tensor(DType::f32, false, "packed_values", scratch.values);
  kernels.attention.add_captures(text.names.captures);
  if (mapped) kernels.attention.add_tensor(DType::i32, false, k_block_map, scratch.map);
  kernels.attention.add_tensor(attention.dtype, true, "O");
  if (attention.lse) kernels.attention.add_tensor(DType::f32, true, "LSE");
  for (const char* axis : {"Sq", "Skv", "Hq", "Hkv"}) kernels.attention.add_axis(axis);
  kernels.attention.add_axes(text.names.axes);
  return kernels;
}

std::string vector_source(const Problem& problem, const IntBindings& structure, const ScoreText& text, bool mapped) {
  const AttentionSpec& attention = *problem.attention();
  const bool lazy = choice(structure, "lazy_rescale") != 0;
  std::vector<std::string> notes = {
      "How: K is packed into panels of 16 * PANELS columns. A work-group takes ROW_TILES tiles of ROWS queries "
      "through\n"
      "the keys in blocks of BLOCK_KV with an online softmax; dot products and weighted sums are register tiles."};
  notes.insert(notes.end(), text.notes.begin(), text.notes.end());
  if (mapped)
    notes.emplace_back(
        "The mask is no interval of keys per row: a first kernel classifies panels of keys for each tile of\n"
        "rows; empty ones are skipped, full ones are not masked.");
  const VectorKernels kernels = kernel_parameters(problem, text, mapped);
  Fillings fillings = {
      {"comment", source_comment(problem, k_generator, notes)},
      {"helpers", helper_source(with_stores(text.helpers, attention.dtype))},
      {"exp2_function", exp2_function(choice(structure, "exp2_degree"))},
      {"bound_functions", text.bound_functions},
      {"dropped_term",
       text.dropped ? "// The same for all keys of a row, and so left out of its scores.\n" + text.dropped->definition
                    : ""},
      {"finish_signature", finish_signature(text)},
      {"row_statements", join_lines(text.stages.row)},
      {"element_statements", join_lines(text.stages.element)},
      {"allowed", text.allowed},
      {"classify", mapped ? classify_source(*text.mask) : ""},
      {"pack_signature", kernels.pack.signature("pack")},
      {"attention_signature", kernels.attention.signature("attention")},
      {"group_statements", join_lines(text.stages.group)},
      {"finish_call", mapped ? finish_runs(text) : finish_all(text)},
      {"store_lse", attention.lse ? store_lse(text) : ""},
      {"rescale_comment",
       lazy ? "// Weights may grow to 2^8 before the sums are rescaled: total and out share the base,\n"
              "// so any base near the peak gives the same quotient."
            : ""},
      {"rescale_condition", lazy ? "highest > peak[t][r] + 8.0f" : "highest > peak[t][r]"}};
  fill_tensors(attention.dtype, fillings);
  fill_tile(text, mapped, attention.dtype, fillings);
  return fill(k_attention_vector_source, fillings);
}

/// Rows of V padded to whole passes; the same arithmetic as VALUE_STRIDE in the source.
std::string value_stride() {
  const std::string vectors = "ceil_div(Dv, 16)";
  const std::string passes = fmt::format("ceil_div({}, VALUE_TILE)", vectors);
  return fmt::format("16 * {0} * ceil_div({1}, {0})", passes, vectors);
}

void describe_launches(const Problem& problem, const ScoreText& text, bool mapped, Bundle& bundle) {
  const ScratchNames scratch = scratch_names(problem);
  const std::string stride = value_stride();
  const VectorKernels kernels = kernel_parameters(problem, text, mapped);
  const std::string values = problem.attention()->dtype == DType::f32
                                 ? fmt::format("max(1, ({0} != Dv) * B * Hkv * Skv * {0})", stride)
                                 : fmt::format("B * Hkv * Skv * {}", stride);
  bundle.defines = {{"HEAD_DIM", "D"}, {"VALUE_DIM", "Dv"}};
  bundle.scratch = {{scratch.keys, DType::f32, "B * Hkv * D * round_up(Skv, 16 * PANELS)"},
                    {scratch.values, DType::f32, values}};
  if (mapped) bundle.scratch.push_back({scratch.map, DType::i32, block_map_elements(*text.mask)});
  bundle.launches = {
      {"pack", {"ceil_div(Skv, 16 * PANELS)", "Hkv", "B"}, {"1", "1", "1"}, "0", kernels.pack.arguments()}};
  if (mapped) bundle.launches.push_back(classify_launch(*text.mask, scratch.map));
  bundle.launches.push_back({"attention",
                             {"ceil_div(Sq, ROWS * ROW_TILES)", "Hq", "B"},
                             {"1", "1", "1"},
                             "0",
                             kernels.attention.arguments()});
}

}  // namespace

std::vector<Tunable> structure_attention_opencl_vector() {
  return {{"exp2_degree", {5, 6, 0}, 5},  // of the polynomial; 0: the built-in exp2
          {"lazy_rescale", {0, 1}, 0},    // rescale sums only when the peak has grown by 8
          {"row_bounds", {1, 0}, 1},      // masks that are intervals become loop bounds
          {"fast_tanh", {1, 0}, 1},       // rational tanh instead of the built-in
          {"block_map", {1, 0}, 1}};      // masks without row bounds: classify tiles first
}

Result<Bundle> emit_attention_opencl_vector(const Problem& problem, const DeviceFacts& device,
                                            const IntBindings& structure) {
  KW_TRY(const AttentionSpec* attention, float_attention(problem, "vector"));
  KW_TRY_VOID(check_structure(structure));
  const ScoreText text =
      score_text(*attention, {choice(structure, "row_bounds") != 0, choice(structure, "fast_tanh") != 0});
  const bool mapped = text.mask.has_value() && choice(structure, "block_map") != 0;
  Bundle bundle;
  bundle.target = "opencl";
  bundle.problem = problem.name;
  bundle.generator = k_generator;
  bundle.tunables = vector_tunables(device);
  bundle.constraints = vector_constraints(device);
  bundle.source = vector_source(problem, structure, text, mapped);
  describe_launches(problem, text, mapped, bundle);
  return bundle;
}

}  // namespace kw
