#include "operators/attention/kernels/cuda/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "codegen/codegen.hpp"
#include "language/kernel_texts.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/block_mask.hpp"
#include "operators/attention/kernels/losing_keys.hpp"

namespace kw {
namespace {

/// Text that the fused styles share. Each style places it around its own tiles.
std::string fused(const char* section, const Fillings& fillings) {
  return fill_lines(kernel_text("attention/fused.cu", section), fillings);
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_character(line[at - 1])) && (end == line.size() || !is_word_character(line[end])))
      return true;
  }
  return false;
}

/// Every text that could name `word` as an identifier of ours.
bool mentions(const ScoreText& text, std::string_view word) {
  const auto has = [&](const std::string& line) { return has_word(line, word); };
  return std::any_of(text.stages.row.begin(), text.stages.row.end(), has) ||
         std::any_of(text.stages.element.begin(), text.stages.element.end(), has) || has(text.allowed);
}

/// What tells a row of a tile of packed heads: the first head, and the rows of all of them.
constexpr const char* k_packed_names[] = {"first_head", "group_rows"};

/// Definitions of q_idx and h, those that are `used`, for row `row` of a tile of packed heads.
std::string packed_indices(const std::string& row, bool query, bool head) {
  if (!query && !head) return "";
  std::string lines = fmt::format("const int packed_row = min({}, group_rows - 1);", row);
  if (query) lines += "\nconst int q_idx = packed_row % Sq;";
  if (head) lines += "\nconst int h = first_head + packed_row / Sq;";
  return lines;
}

/// Parameters of finish_scores that come before the mod's.
std::vector<std::string> finish_parameters(const ScoreText& text, const CudaTile& tile, const DecodePlan& plan,
                                           bool bounded) {
  std::vector<std::string> parameters = {tile.scores, "float (&highest)[THREAD_ROWS]", "const bool masked",
                                         "const int thread_query", "const int thread_key"};
  if (bounded)
    for (const char* name : {"row_first", "row_last"})
      parameters.push_back(fmt::format("const int (&{})[THREAD_ROWS]", name));
  if (plan.pack_gqa)
    for (const char* name : k_packed_names) parameters.push_back(fmt::format("const int {}", name));
  for (const char* axis : {"Sq", "Skv"})
    if (std::find(text.arguments.begin(), text.arguments.end(), axis) == text.arguments.end())
      parameters.push_back(fmt::format("const int {}", axis));
  parameters.insert(parameters.end(), text.parameters.begin(), text.parameters.end());
  return parameters;
}

std::string finish_call(const ScoreText& text, const DecodePlan& plan, bool bounded, const char* masked) {
  std::vector<std::string> arguments = {"scores", "highest", masked, "first_row + thread_row",
                                        "first_key + thread_key"};
  if (bounded) arguments.insert(arguments.end(), {"row_first", "row_last"});
  if (plan.pack_gqa) arguments.insert(arguments.end(), std::begin(k_packed_names), std::end(k_packed_names));
  for (const char* axis : {"Sq", "Skv"})
    if (std::find(text.arguments.begin(), text.arguments.end(), axis) == text.arguments.end())
      arguments.emplace_back(axis);
  arguments.insert(arguments.end(), text.arguments.begin(), text.arguments.end());
  return parameter_list("finish_scores(", arguments, 100) + ";";
}

}  // namespace

std::string cuda_preamble(const Problem& problem, const std::string& generator, const std::vector<std::string>& notes,
                          Dialect dialect) {
  std::string includes = dialect->includes;
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const auto is_of_type = [&](const TensorSpec& tensor) { return tensor.dtype == dtype; };
    if (std::any_of(problem.inputs.begin(), problem.inputs.end(), is_of_type))
      includes += fmt::format("#include <{}>\n", cuda_16_bit_float(dtype, dialect).header);
  }
  return fused("preamble", {{"comment", source_comment(problem, generator, notes)}, {"includes", includes}});
}

std::vector<Tunable> cuda_mask_choices() {
  return {{"row_bounds", {1, 0}, 1},   // masks that are intervals become loop bounds
          {"fast_tanh", {1, 0}, 1},    // rational tanh instead of the library's
          {"block_mask", {1, 0}, 1}};  // masks without row bounds: classify tiles first
}

CudaAttention::CudaAttention(const Problem& problem, const std::vector<Tunable>& choices, const IntBindings& structure,
                             CudaTile tile, Dialect dialect)
    : problem_(problem),
      attention_(*attention_of(problem)),
      dialect_(dialect),
      tile_(std::move(tile)),
      plan_(decode_plan(problem, choices, structure)),
      text_(score_text(attention_, {.row_bounds = choice_of(choices, structure, "row_bounds") != 0,
                                    .fast_tanh = choice_of(choices, structure, "fast_tanh") != 0,
                                    .dialect = dialect,
                                    .block_mask = choice_of(choices, structure, "block_mask") != 0,
                                    .unit_later = attention_.scale.value_or(1.0) > 0.0,
                                    .pack_gqa = plan_.pack_gqa})),
      mapped_(text_.mask.has_value() && choice_of(choices, structure, "block_mask") != 0),
      buffers_(mask_buffers(problem)) {}

KernelParameters CudaAttention::attention_parameters() const {
  KernelParameters parameters(dialect_);
  for (const char* tensor : {"Q", "K", "V"}) parameters.add_tensor(attention_.dtype, false, tensor);
  parameters.add_captures(text_.names.captures);
  if (mapped_) parameters.add_tensor(DType::i32, false, k_block_mask, buffers_.map);
  if (plan_.split_kv) {
    for (const char* buffer : {k_part_values, k_part_sums})
      parameters.add_tensor(DType::f32, true, buffer, free_buffer_name(problem_, buffer));
  } else {
    parameters.add_tensor(attention_.dtype, true, "O");
  }
  if (attention_.lse) parameters.add_tensor(DType::f32, true, "LSE");
  for (const char* axis : {"Sq", "Skv", "Hq", "Hkv"}) parameters.add_axis(axis);
  parameters.add_axes(text_.names.axes);
  if (plan_.split_kv) parameters.add("const int parts", key_parts(plan_, tile_.rows, tile_.keys));
  return parameters;
}

std::string CudaAttention::softmax() const {
  const auto line_if = [&](const char* word, const std::string& line) { return mentions(text_, word) ? line : ""; };
  const char* first = bounded() ? "row_first[r]" : "0";
  const char* last = bounded() ? "row_last[r]" : "Skv - 1";
  std::string range = line_if("allowed_first", fmt::format("const int allowed_first = {};\n", first)) +
                      line_if("allowed_last", fmt::format("const int allowed_last = {};", last));
  if (!range.empty() && range.back() == '\n') range.pop_back();
  const std::string opening = fmt::format("{} void finish_scores(", dialect_->function_qualifier);
  Fillings fillings = dialect_->warp;
  const Fillings own = {
      {"helpers", helper_source(text_.helpers, dialect_)},
      {"bound_functions", text_.bound_functions},
      {"dropped_term",
       text_.dropped ? "// The same for all keys of a row, and so left out of its scores.\n" + text_.dropped->definition
                     : ""},
      {"scores", tile_.scores},
      {"finish_signature", parameter_list(opening, finish_parameters(text_, tile_, plan_, bounded())) + " {"},
      {"query_index",
       plan_.pack_gqa ? packed_indices("thread_query + r * ROW_STEP", mentions(text_, "q_idx"), mentions(text_, "h"))
                      : line_if("q_idx", "const int q_idx = min(thread_query + r * ROW_STEP, Sq - 1);")},
      {"row_range", range},
      {"row_statements", join_lines(text_.stages.row)},
      {"key_offset", tile_.key_offset},
      {"key_index", line_if("kv_idx", "const int kv_idx = masked ? min(key, Skv - 1) : key;")},
      {"element_statements", join_lines(text_.stages.element)},
      {"allowed", text_.allowed},
      {"probability", text_.natural ? "e^(score - peak)" : "2^(score * unit - peak)"},
      {"shrink_exponent", text_.natural ? "(peak[r] - base) * LOG2_E" : "peak[r] - base"},
      {"exponent", text_.natural ? "(SCORE(r, c) - base) * LOG2_E" : "fmaf(SCORE(r, c), unit, -base)"}};
  fillings.insert(fillings.end(), own.begin(), own.end());
  return fused("softmax", fillings);
}

std::string CudaAttention::classify() const {
  if (!mapped_) return "";
  const MaskText& mask = *text_.mask;
  std::vector<std::string> indices;
  if (mask.inputs.head) indices.emplace_back("const int h = blockIdx.y;");
  if (mask.inputs.batch) indices.emplace_back("const int b = blockIdx.z;");
  const bool by_row = mask.inputs.query;
  const char* const query = plan_.pack_gqa ? "const int q_idx = min(first_row + i / BN, Sq * (Hq / Hkv) - 1) % Sq;"
                                           : "const int q_idx = min(first_row + i / BN, Sq - 1);";
  const std::string limits = row_limits_source(mask, dialect_);
  return (limits.empty() ? "" : limits + "\n") +
         fused(
             "classify",
             {{"map_comment", map_comment(mask)},
              {"signature",
               classify_parameters(mask, {k_block_mask, k_row_limits}, dialect_, plan_.pack_gqa).signature("classify")},
              {"indices", join_lines(indices)},
              {"group_statements", join_lines(mask.stages.group)},
              {"first_row", by_row ? "const int first_row = (int)blockIdx.x / panels * BM;" : ""},
              {"scores_of_tile", by_row ? "BM * BN" : "BN"},
              // Terms that are read from tables take registers: four at a time, as NVRTC 13.0 has it, spill.
              {"unroll", mask.limits ? "#pragma unroll 2" : ""},
              {"query_index", by_row ? query : ""},
              {"row_statements", join_lines(mask.stages.row)},
              {"element_statements", join_lines(mask.stages.element)},
              {"allowed", mask.allowed}});
}

std::string CudaAttention::bounds() const {
  const std::string panels = "const int panels = (Skv + BN - 1) / BN, end_panel = panels;";
  if (mapped_) return panels + "\n" + codes_definition(*text_.mask, "BM", all_rows(), dialect_);
  if (!bounded()) return "const int end_panel = (Skv + BN - 1) / BN;";
  std::vector<std::string> arguments = {"b", "h", "q_idx"};
  arguments.insert(arguments.end(), text_.bound_arguments.begin(), text_.bound_arguments.end());
  return fused("bounds", {{"query_index", plan_.pack_gqa ? packed_indices("first_row + i", true, true)
                                                         : "const int q_idx = min(first_row + i, Sq - 1);"},
                          {"first_allowed", parameter_list("first_allowed(", arguments, 90)},
                          {"last_allowed", parameter_list("last_allowed(", arguments, 90)}});
}

std::string CudaAttention::part() const {
  if (!plan_.split_kv) return "";
  return fused("part", {{"panels", bounded() ? "end_panel - first_panel" : "end_panel"},
                        {"first_panel", bounded() ? "first_panel + " : ""}});
}

std::string CudaAttention::first_needed() const {
  const std::string first = plan_.split_kv ? "part_first" : bounded() ? "first_panel" : "0";
  return mapped_ ? fmt::format("needed_panel(codes, {}, {})", first, end_panel()) : first;
}

std::string CudaAttention::next_needed(const std::string& panel) const {
  return mapped_ ? fmt::format("needed_panel(codes, {} + 1, {})", panel, end_panel()) : panel + " + 1";
}

std::string CudaAttention::finish() const {
  std::string masked = finish_call(text_, plan_, bounded(), "true");
  if (text_.mask && !mapped_) return masked;
  std::string condition = "codes[panel] == SOME_KEYS";
  if (!mapped_)
    condition = bounded() ? "first_key < every_first || first_key + BN - 1 > every_last" : "first_key + BN > Skv";
  return fused(
      "finish",
      {{"condition", condition}, {"masked", masked}, {"plain", finish_call(text_, plan_, bounded(), "false")}});
}

/// Of keys in parts, LSE takes what was left out of the scores, and "merge" adds the rest.
std::string CudaAttention::store_lse() const {
  if (!attention_.lse) return "";
  std::string anchor;
  if (text_.dropped && text_.dropped->anchored)
    anchor = fmt::format("const int anchor = slope > 0.0f ? {} : {};", bounded() ? "row_last[r]" : "Skv - 1",
                         bounded() ? "row_first[r]" : "0");
  const std::string dropped = text_.dropped ? text_.dropped->call : "";
  if (plan_.split_kv)
    return fused("store_lse_of_part", {{"anchor", anchor}, {"dropped", dropped.empty() ? "0.0f" : dropped}});
  return fused("store_lse", {{"anchor", anchor},
                             {"units", score_units(text_)},
                             {"log_of_sum", text_.natural ? "peak[r] + logf(sum)" : "(peak[r] + log2f(sum)) / LOG2_E"},
                             {"dropped", dropped.empty() ? "" : "+ " + dropped}});
}

std::string CudaAttention::indices() const {
  std::string tile = "(int)blockIdx.x", part;
  if (plan_.split_kv) {
    tile = "(int)blockIdx.x / parts";
    part = "const int part = (int)blockIdx.x % parts;";
  } else if (bounded()) {
    // Long rows first where rows differ: with causal masks those are the last, and they should not start last.
    tile = "(int)(gridDim.x - 1 - blockIdx.x)";
  }
  return fused(plan_.pack_gqa ? "packed_indices" : "indices",
               {{"row_tile", tile}, {"part", part}, {"group_statements", join_lines(text_.stages.group)}});
}

Fillings CudaAttention::fillings(const std::string& generator, const std::vector<std::string>& notes) const {
  std::vector<std::string> all_notes = notes;
  all_notes.insert(all_notes.end(), text_.notes.begin(), text_.notes.end());
  if (mapped_) all_notes.push_back(block_mask_note(*text_.mask, "panels of BN keys for each tile of\nBM rows"));
  if (plan_.pack_gqa)
    all_notes.emplace_back("The rows of a tile are of all heads that share a key head, one head after the other.");
  if (plan_.split_kv)
    all_notes.emplace_back(
        "There are few queries, so the keys are cut into parts of whole panels, as many as keep the device busy;\n"
        "a last kernel merges the parts.");
  Fillings fillings = dialect_->warp;
  const Fillings own = {
      {"preamble", cuda_preamble(problem_, generator, all_notes, dialect_)},
      {"softmax", softmax()},
      {"classify", classify()},
      {"signature", attention_parameters().signature("attention")},
      {"indices", indices()},
      {"rows", all_rows()},
      {"bounds", bounds()},
      {"part", part()},
      {"first_needed", first_needed()},
      {"end_panel", end_panel()},
      {"next_needed", next_needed("panel")},
      {"finish", finish()},
      {"online_softmax", fmt::format("online_softmax(scores, highest, {}, peak, total, shrink);", text_.unit)},
      {"store_lse", store_lse()},
      {"element", element_type(attention_.dtype, dialect_)}};
  fillings.insert(fillings.end(), own.begin(), own.end());
  return fillings;
}

Bundle CudaAttention::bundle(const std::string& generator, const std::string& shared_bytes) const {
  Bundle bundle;
  bundle.target = target_of(dialect_);
  bundle.problem = problem_.name;
  bundle.generator = generator;
  bundle.defines = {{"HEAD_DIM", "D"}, {"VALUE_DIM", "Dv"}};
  const MapTile tile = {tile_.rows, tile_.keys, plan_.pack_gqa, true};
  if (mapped_) {
    bundle.scratch = {{buffers_.map, DType::i32, block_mask_elements(*text_.mask, tile)}};
    add_row_limits(problem_, *text_.mask, "1", tile_.threads, dialect_, bundle);
    bundle.launches.push_back(classify_launch(*text_.mask, buffers_, tile, tile_.threads));
  }
  std::string tiles = row_tiles(plan_, tile_.rows);
  const std::string parts = key_parts(plan_, tile_.rows, tile_.keys);
  if (plan_.split_kv) tiles += " * " + parts;
  bundle.launches.push_back({"attention",
                             {tiles, tile_heads(plan_), "B"},
                             {tile_.threads, "1", "1"},
                             shared_bytes,
                             attention_parameters().arguments()});
  if (plan_.split_kv) add_merge(problem_, parts, bundle);
  return bundle;
}

}  // namespace kw
