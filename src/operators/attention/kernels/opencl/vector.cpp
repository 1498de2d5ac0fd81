// Attention for CPUs with wide vectors: K packed into panels of float16 columns, register tiles of queries x keys and
// queries x value columns, online softmax with a polynomial exp2. Sq, Skv and the head counts are arguments, so one
// build serves every workload with the same head dimensions.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/group_functions.hpp"
#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/block_mask.hpp"
#include "operators/attention/kernels/losing_keys.hpp"
#include "operators/attention/kernels/opencl/styles.hpp"
#include "operators/attention/kernels/opencl/vector_shape.hpp"
#include "operators/attention/kernels/scores.hpp"
#include "operators/attention/kernels/text.hpp"

namespace kw {
namespace {

constexpr const char* k_vector_generator = "vector 2";

std::int64_t vector_choice(const IntBindings& structure, std::string_view name) {
  return choice_of(structure_attention_opencl_vector(), structure, name);
}

std::string_view vector_section(const char* name) {
  return kernel_text("attention/vector.cl", name);
}

/// Minimax fits of 2^f on [-1/2, 1/2] with the constant term held at 1, so that 2^0 is exactly 1. Relative error
/// 9.1e-8 (degree 5) and 2.0e-9 (degree 6) before rounding.
std::string exp2_function(std::int64_t degree) {
  if (degree == 0) return std::string(vector_section("exp2_16_built_in"));
  const std::vector<const char*> coefficients =
      degree == 5 ? std::vector<const char*>{"1.32647518e-3f", "9.67151206e-3f", "5.55073358e-2f",
                                             "0.240222424f",   "0.693147004f",   "1.0f"}
                  : std::vector<const char*>{
                        "1.53532208e-4f", "1.3398868e-3f", "9.61843785e-3f", "5.55033237e-2f", "0.240226477f",
                        "0.693147182f",   "1.0f"};
  std::vector<std::string> lines = {fmt::format("float16 p = {};", coefficients.front())};
  for (std::size_t i = 1; i < coefficients.size(); ++i)
    lines.push_back(fmt::format("p = fma(p, f, (float16)({}));", coefficients[i]));
  return fill(vector_section("exp2_16"), {{"polynomial", join_lines(lines)}});
}

/// A row's bounds, stored in `to`.
std::string bound_statement(const char* to, const char* function, const ScoreText& text) {
  std::vector<std::string> arguments = {"b", "h", "q_idx"};
  arguments.insert(arguments.end(), text.bound_arguments.begin(), text.bound_arguments.end());
  constexpr std::size_t k_columns = 106;
  return parameter_list(fmt::format("{}[t][r] = {}(", to, function), arguments, k_columns) + ";";
}

/// Keys that each row, tile and group may attend to, where the mask says so.
std::string bounds(const ScoreText& text) {
  return "\n" + fill_lines(vector_section("row_bounds"),
                           {{"first_allowed", bound_statement("row_first", "first_allowed", text)},
                            {"last_allowed", bound_statement("row_last", "last_allowed", text)}});
}

/// The calls of finish_scores for `scores` of `vectors` from key `begin` on: masked and not.
struct FinishCalls {
  std::string plain, masked;
};
FinishCalls finish_calls(const ScoreText& text, const char* scores, const char* vectors) {
  std::vector<std::string> arguments = {"q_idx"};
  arguments.insert(arguments.end(), text.arguments.begin(), text.arguments.end());
  const std::string trailing = parameter_list(std::string(16, ' '), arguments, 106);
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
          ? fill_lines(vector_section("query_rows_16_bit"),
                       {{"element", element_type(dtype)}, {"query", element_text(dtype, "row", "d")}})
          : fill_lines(vector_section("query_rows_f32"));
  const std::string range = fill_lines(vector_section(bounded ? "tile_range_bounded" : "tile_range"));
  const bool columns = !text.stages.columns.empty();
  const std::string vectors = fmt::format("(min(BLOCK_KV, {} - block) + PANEL_KEYS - 1) / PANEL_KEYS * PANELS",
                                          bounded ? "group_last + 1" : "Skv");
  const std::string declared = "// What depends on the key alone, for all rows.\n" + column_declarations(text.stages);
  std::string late;
  if (columns && mapped) late = fill(vector_section("late_columns"), {{"loop", column_loop(text.stages, vectors)}});
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
  fillings.emplace_back("tile_scores",
                        fill_lines(vector_section(mapped ? "scores_of_mapped_keys" : "scores_of_all_keys"), inner));
  fillings.emplace_back("tile_values",
                        fill_lines(vector_section(mapped ? "values_of_mapped_keys" : "values_of_all_keys")));
  fillings.emplace_back("row_range", bounded
                                         ? "const int allowed_first = row_first[t][r], allowed_last = row_last[t][r];"
                                         : "const int allowed_first = 0, allowed_last = Skv - 1;");
}

/// Of all of a row's keys in the block.
std::string finish_all(const ScoreText& text) {
  const FinishCalls calls = finish_calls(text, "row_scores", "vectors");
  return fill_lines(vector_section(text.mask ? "finish_masked" : "finish_all"),
                    {{"plain", calls.plain}, {"masked", calls.masked}});
}

/// Run by run, and only where the map says so with the mask.
std::string finish_runs(const ScoreText& text) {
  const FinishCalls calls = finish_calls(text, "row_scores + c", "count");
  return fill_lines(vector_section("finish_runs"), {{"plain", calls.plain}, {"masked", calls.masked}});
}

std::string finish_signature(const ScoreText& text) {
  std::vector<std::string> parameters = {"float16* scores",  "const int vectors",       "const int first_key",
                                         "const int masked", "const int allowed_first", "const int allowed_last",
                                         "const int q_idx"};
  parameters.insert(parameters.end(), text.parameters.begin(), text.parameters.end());
  return parameter_list("static inline float finish_scores(", parameters) + " {";
}

std::string store_elements(DType dtype) {
  return fill_lines(vector_section(dtype == DType::f16    ? "store_row_f16"
                                   : dtype == DType::bf16 ? "store_row_bf16"
                                                          : "store_row_f32"));
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
  fillings.emplace_back("key_column", narrow ? fill(vector_section("key_column_16_bit"),
                                                    {{"element", element_type(dtype)},
                                                     {"key", element_text(dtype, "key", "i * HEAD_DIM")}})
                                             : std::string(vector_section("key_column_f32")));
  fillings.emplace_back("value", element_text(dtype, "value", "d"));
  fillings.emplace_back("pack_comment",
                        fill_lines(vector_section(narrow ? "pack_comment_16_bit" : "pack_comment_f32")));
  fillings.emplace_back("if_values_packed", narrow ? "" : "#if VALUE_STRIDE != VALUE_DIM");
  fillings.emplace_back("end_values_packed", narrow ? "" : "#endif");
  fillings.emplace_back("values", fill_lines(vector_section(narrow ? "values_16_bit" : "values_f32")));
  fillings.emplace_back("query_parameter",
                        narrow ? "const float (*query)[HEAD_DIM]" : "__global const float* const* query");
  fillings.emplace_back("store_elements", store_elements(dtype));
}

/// The natural logarithm of a row's sum, with what the scores were freed of.
std::string store_lse(const ScoreText& text) {
  const bool bounded = !text.bound_functions.empty();
  std::string anchor;
  if (text.dropped && text.dropped->anchored)
    anchor = fmt::format("const int anchor = slope > 0.0f ? {} : {};", bounded ? "row_last[t][r]" : "Skv - 1",
                         bounded ? "row_first[t][r]" : "0");
  return fill_lines(
      vector_section("store_lse"),
      {{"anchor", anchor},
       {"units", score_units(text)},
       {"log_of_sum", text.natural ? "peak[t][r] + log(total[t][r])" : "(peak[t][r] + log2(total[t][r])) / LOG2_E"},
       {"dropped", text.dropped ? "+ " + text.dropped->call : ""}});
}

std::string rescale_condition(const ScoreText& text, bool lazy) {
  if (!lazy) return "highest > peak[t][r]";
  return text.natural ? "highest > peak[t][r] + 8.0f / LOG2_E" : "highest > peak[t][r] + 8.0f";
}

/// Scratch buffers as the bundle names them.
struct ScratchNames {
  std::string keys, values, map;
};
ScratchNames scratch_names(const Problem& problem) {
  return {free_buffer_name(problem, "packed_keys"), free_buffer_name(problem, "packed_values"),
          free_buffer_name(problem, k_block_mask)};
}

struct VectorKernels {
  KernelParameters pack, attention;
};

VectorKernels kernel_parameters(const Problem& problem, const ScoreText& text, bool mapped) {
  const AttentionSpec& attention = *attention_of(problem);
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
  if (mapped) kernels.attention.add_tensor(DType::i32, false, k_block_mask, scratch.map);
  kernels.attention.add_tensor(attention.dtype, true, "O");
  if (attention.lse) kernels.attention.add_tensor(DType::f32, true, "LSE");
  for (const char* axis : {"Sq", "Skv", "Hq", "Hkv"}) kernels.attention.add_axis(axis);
  kernels.attention.add_axes(text.names.axes);
  return kernels;
}

/// The kernels that find out which keys are needed.
std::string masking_kernels(const MaskText& mask) {
  const std::string limits = row_limits_source(mask, opencl_dialect());
  return limits.empty() ? classify_source(mask) : limits + "\n" + classify_source(mask);
}

std::string vector_source(const Problem& problem, const IntBindings& structure, const ScoreText& text, bool mapped) {
  const AttentionSpec& attention = *attention_of(problem);
  const bool lazy = vector_choice(structure, "lazy_rescale") != 0;
  std::vector<std::string> notes = {
      "How: K is packed into panels of 16 * PANELS columns. A work-group takes ROW_TILES tiles of ROWS queries "
      "through\n"
      "the keys in blocks of BLOCK_KV with an online softmax; dot products and weighted sums are register tiles."};
  notes.insert(notes.end(), text.notes.begin(), text.notes.end());
  if (mapped) notes.push_back(block_mask_note(*text.mask, "panels of keys for each tile of\nrows"));
  const VectorKernels kernels = kernel_parameters(problem, text, mapped);
  Fillings fillings = {
      {"comment", source_comment(problem, k_vector_generator, notes)},
      {"helpers", helper_source(with_stores(text.helpers, attention.dtype))},
      {"exp2_function", exp2_function(vector_choice(structure, "exp2_degree"))},
      {"bound_functions", text.bound_functions},
      {"dropped_term",
       text.dropped ? "// The same for all keys of a row, and so left out of its scores.\n" + text.dropped->definition
                    : ""},
      {"units", score_units(text)},
      {"base_number", text.natural ? "e" : "2"},
      {"exponent", text.natural ? "(scores[c] - base) * LOG2_E" : "scores[c] - base"},
      {"shrink_exponent", text.natural ? "(peak[t][r] - highest) * LOG2_E" : "peak[t][r] - highest"},
      {"finish_signature", finish_signature(text)},
      {"row_statements", join_lines(text.stages.row)},
      {"element_statements", join_lines(text.stages.element)},
      {"allowed", text.allowed},
      {"classify", mapped ? masking_kernels(*text.mask) : ""},
      {"pack_signature", kernels.pack.signature("pack")},
      {"attention_signature", kernels.attention.signature("attention")},
      {"group_statements", join_lines(text.stages.group)},
      {"finish_call", mapped ? finish_runs(text) : finish_all(text)},
      {"store_lse", attention.lse ? store_lse(text) : ""},
      {"rescale_comment", lazy ? fill_lines(vector_section("lazy_rescale")) : ""},
      {"rescale_condition", rescale_condition(text, lazy)}};
  fill_tensors(attention.dtype, fillings);
  fill_tile(text, mapped, attention.dtype, fillings);
  return with_group_functions(fill(vector_section("kernels"), fillings));
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
  const std::string values = attention_of(problem)->dtype == DType::f32
                                 ? fmt::format("max(1, ({0} != Dv) * B * Hkv * Skv * {0})", stride)
                                 : fmt::format("B * Hkv * Skv * {}", stride);
  bundle.defines = {{"HEAD_DIM", "D"}, {"VALUE_DIM", "Dv"}};
  bundle.scratch = {{scratch.keys, DType::f32, "B * Hkv * D * round_up(Skv, 16 * PANELS)"},
                    {scratch.values, DType::f32, values}};
  bundle.launches = {
      {"pack", {"ceil_div(Skv, 16 * PANELS)", "Hkv", "B"}, {"1", "1", "1"}, "0", kernels.pack.arguments()}};
  if (mapped) {
    bundle.scratch.push_back({scratch.map, DType::i32, block_mask_elements(*text.mask)});
    add_row_limits(problem, *text.mask, "ROWS", "1", opencl_dialect(), bundle);
    bundle.launches.push_back(classify_launch(*text.mask, mask_buffers(problem)));
  }
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
          {"block_mask", {1, 0}, 1}};     // masks without row bounds: classify tiles first
}

Result<Bundle> emit_attention_opencl_vector(const Problem& problem, const DeviceFacts& device,
                                            const IntBindings& structure) {
  KW_TRY(const AttentionSpec* attention, float_attention(problem, "vector"));
  KW_TRY_VOID(check_choices("vector", structure_attention_opencl_vector(), structure));
  const bool block_mask = vector_choice(structure, "block_mask") != 0;
  const ScoreText text = score_text(*attention, {.row_bounds = vector_choice(structure, "row_bounds") != 0,
                                                 .fast_tanh = vector_choice(structure, "fast_tanh") != 0,
                                                 .block_mask = block_mask});
  const bool mapped = text.mask.has_value() && block_mask;
  Bundle bundle;
  bundle.target = "opencl";
  bundle.problem = problem.name;
  bundle.generator = k_vector_generator;
  bundle.tunables = vector_tunables(device);
  bundle.constraints = vector_constraints(device);
  bundle.source = vector_source(problem, structure, text, mapped);
  describe_launches(problem, text, mapped, bundle);
  return bundle;
}

}  // namespace kw
