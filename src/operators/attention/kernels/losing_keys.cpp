#include "operators/attention/kernels/losing_keys.hpp"

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"

namespace kw {
namespace {

/// Row q_idx of the block's batch and head, as many of them as the term depends on.
std::string row_limit_definition(const MaskText& mask, Dialect dialect) {
  const char* head = dialect->has_vectors ? "((long)get_group_id(2) * get_num_groups(1) + get_group_id(1))"
                                          : "((long)blockIdx.z * gridDim.y + blockIdx.y)";
  return fmt::format("const float lost_below = row_limits[{}{}];", head, mask.inputs.query ? " * Sq + q_idx" : "");
}

KernelParameters limits_parameters(const MaskText& mask, const std::string& buffer, Dialect dialect) {
  KernelParameters parameters(dialect);
  parameters.add_captures(mask.names.captures);
  parameters.add_tensor(DType::f32, true, k_row_limits, buffer);
  for (const char* axis : {"Sq", "Skv"}) parameters.add_axis(axis);
  parameters.add_axes(mask.names.axes);
  return parameters;
}

std::string limit_indices(const MaskText& mask, Dialect dialect) {
  std::vector<std::string> lines;
  if (mask.inputs.head)
    lines.emplace_back(dialect->has_vectors ? "const int h = get_group_id(1);" : "const int h = blockIdx.y;");
  if (mask.inputs.batch)
    lines.emplace_back(dialect->has_vectors ? "const int b = get_group_id(2);" : "const int b = blockIdx.z;");
  return join_lines(lines);
}

}  // namespace

/// A term by which keys may lose: they are skipped by whole panels, and nothing else changes.
void print_losing_term(const LosingTerm& losing, const ScoreOptions& options, ScoreText& text) {
  const bool vector = options.dialect->has_vectors;
  const ModFunction& mod = losing.term;
  const std::vector<ExprRoot> roots = {{mod.root, ExprStage::element}};
  const KernelExpr printed(mod, roots, printing(options, "m", options.fast_tanh));
  KernelExprOptions by_row = printing(options, "m", options.fast_tanh);
  by_row.columns = false;
  const KernelExpr of_row(mod, roots, by_row);
  const std::string term = without_parentheses(printed.text(mod.root));
  // Not `term > lost_below`: what is no number has to be seen.
  const std::string allowed = fmt::format("{}({} <= lost_below)", vector ? '~' : '!', term);
  text.mask = {stages_of(printed),
               allowed,
               {},
               dependencies(mod)[node_index(mod.root)],
               RowLimitText{stages_of(of_row), without_parentheses(of_row.text(mod.root)), losing.distance}};
  text.mask->stages.row.push_back(row_limit_definition(*text.mask, options.dialect));
  for (const KernelExpr* one : {&printed, &of_row}) {
    text.mask->names.include(*one);
    text.helpers.insert(one->helpers().begin(), one->helpers().end());
  }
}

std::string row_limits_source(const MaskText& mask, Dialect dialect) {
  if (!mask.limits) return "";
  const bool by_row = mask.inputs.query;
  const bool vector = dialect->has_vectors;
  const std::string row = by_row ? "q_idx" : "0";
  const char* loop = by_row ? "#pragma unroll 1\nfor (int r = 0; r < ROWS; ++r) {" : "{";
  const char* query =
      vector ? "const int q_idx = min((int)get_group_id(0) * ROWS + r, Sq - 1);" : "const int q_idx = blockIdx.x;";
  return fill(kernel_text(vector ? "attention/block_mask.cl" : "attention/fused.cu", "row_limits"),
              {{"signature", limits_parameters(mask, k_row_limits, dialect).signature(k_row_limits)},
               {"indices", limit_indices(mask, dialect)},
               {"group_statements", join_lines(mask.limits->stages.group)},
               {"row_loop", loop},
               {"query_index", by_row ? query : ""},
               {"row_statements", join_lines(mask.limits->stages.row)},
               {"element_statements", join_lines(mask.limits->stages.element)},
               {"term", mask.limits->term},
               {"rows", by_row ? "Sq" : "1"},
               {"row", row},
               {"most", float_literal(k_ordinary_term)},
               {"distance", float_literal(mask.limits->distance)}});
}

void add_row_limits(const Problem& problem, const MaskText& mask, const std::string& rows, const std::string& items,
                    Dialect dialect, Bundle& bundle) {
  if (!mask.limits) return;
  const std::string buffer = free_buffer_name(problem, k_row_limits);
  std::string elements = mask.inputs.query ? "Sq" : "1";
  if (mask.inputs.head) elements += " * Hq";
  if (mask.inputs.batch) elements += " * B";
  bundle.scratch.push_back({buffer, DType::f32, elements});
  const std::string blocks = rows == "1" ? "Sq" : fmt::format("ceil_div(Sq, {})", rows);
  bundle.launches.push_back(
      {k_row_limits,
       {mask.inputs.query ? blocks : "1", mask.inputs.head ? "Hq" : "1", mask.inputs.batch ? "B" : "1"},
       {items, "1", "1"},
       "0",
       limits_parameters(mask, buffer, dialect).arguments()});
}

std::string block_mask_note(const MaskText& mask, const std::string& panels) {
  if (!mask.limits)
    return fmt::format(
        "The mask is no interval of keys per row: a first kernel classifies {}; empty ones are skipped, full ones are "
        "not masked.",
        panels);
  return "Keys that can only lose by a term of the score_mod count for nothing. A first kernel finds what the terms "
         "of\n"
         "each row must be above, and a second one classifies panels of keys for each tile of rows: those in which "
         "none\n"
         "is are skipped. A row of nothing else keeps all of its keys.";
}

}  // namespace kw
