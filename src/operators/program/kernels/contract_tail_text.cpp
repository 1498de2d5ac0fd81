#include "operators/program/kernels/contract_tail_text.hpp"

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_patch_shape.hpp"
#include "operators/program/kernels/contract_products.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

/// How many tiles have some of a row's pixels, in the kernel and in the bundle.
std::string tiles_text(KernelScope& scope, const Contraction& contraction, const PatchContraction& patch,
                       const ContractTail& tail) {
  auto text = patch_tiles_text(scope, contraction, patch, false);
  if (!tail.planes.empty()) text += " * " + scope.extent(extent_of(tail.planes));
  return text;
}

std::string tiles_expression(const Contraction& contraction, const PatchContraction& patch, const ContractTail& tail) {
  auto text = patch_tiles_expression(contraction, patch, false);
  if (!tail.planes.empty()) text += " * " + bundle_operand(extent_of(tail.planes));
  return text;
}

}  // namespace

std::string patch_tiles_text(KernelScope& scope, const Contraction& contraction, const PatchContraction& patch,
                             bool wide) {
  auto size = patch_size(contraction, patch);
  size.wide = wide;
  const auto tiles = [&](const Extent& pixels, const std::string& width) {
    return fmt::format("(({} + {} - 1) / ({}))", scope.extent(pixels), width, width);
  };
  auto text = tiles(patch.tile.back().extent, tile_width_text(size));
  if (patch.line) text += " * " + tiles(patch.tile[0].extent, tile_lines_text(size));
  return text;
}

std::string patch_tiles_expression(const Contraction& contraction, const PatchContraction& patch, bool wide) {
  auto size = patch_size(contraction, patch);
  size.wide = wide;
  auto text = fmt::format("ceil_div({}, {})", patch.tile.back().extent.text(), tile_width_text(size));
  if (patch.line) text += fmt::format(" * ceil_div({}, {})", patch.tile[0].extent.text(), tile_lines_text(size));
  return text;
}

std::string tail_neutral(const ContractTail& tail) {
  const auto op = tail.reduction.op;
  return op == ReduceOp::sum ? "0.0f" : op == ReduceOp::maximum ? "-INFINITY" : "INFINITY";
}

std::string tail_joined(KernelScope& scope, const ContractTail& tail, const std::string& a, const std::string& b) {
  const auto op = tail.reduction.op;
  if (op == ReduceOp::sum) return fmt::format("{} + ({})", a, b);
  const std::string function = op == ReduceOp::maximum ? "larger" : "smaller";
  scope.need_own(function);
  return fmt::format("{}({}, {})", function, a, b);
}

StoredSum tail_result(KernelScope& scope, const KernelBuffer& out, const StageExpr& epilogue,
                      const std::string& place) {
  constexpr std::size_t k_columns = 100;
  scope.call_result("gathered");
  StoredSum stored;
  std::vector<std::string> values;
  if (epilogue) values = scope.shared_values({epilogue}, true);
  for (auto& statement : values) statement = broken_statement(statement, k_columns);
  stored.values = join_lines(values);
  stored.value = epilogue ? without_parentheses(scope.text(epilogue)) : "gathered";
  stored.place = place;
  stored.store = broken_statement(store_text(out.dtype, out.name, place, stored.value, scope.dialect()), k_columns);
  return stored;
}

GroupKernels joined_tiles(const GroupContext& context, const Contraction& contraction, const PatchContraction* patch,
                          const ContractTail& tail, const std::string& parts) {
  constexpr int k_threads = 256;
  const auto& stage = tail.reduction;
  const auto& out = context.buffers[stage.buffer];
  const bool of_rows = tail.kind == TailKind::rows;
  auto names = tail_locals();
  names.insert(names.end(), {"id", "part", "parts", "lane"});
  KernelScope scope(context.buffers, stage, context.dialect, names);
  scope.divide_quickly(context.program);
  const auto count = scope.element_count(stage.axes);
  const auto joined =
      tail_joined(scope, tail, "gathered", of_rows ? fmt::format("parts[part * ({}) + id]", count) : "other");
  const auto result = tail_result(scope, out, stage.epilogue, "id");
  const auto part_count = of_rows
                              ? fmt::format("(({} + TILE_M - 1) / TILE_M)", scope.extent(extent_of(contraction.rows)))
                              : tiles_text(scope, contraction, *patch, tail);
  const auto axes = index_statements(scope, stage.axes, "id", scope.used_axes());
  ContractArguments arguments(context.dialect);
  arguments.add(DType::f32, false, "parts", parts);
  arguments.add_loaded(scope, context.buffers, stage.buffer);
  arguments.add(out.dtype, true, out.name, out.argument);
  arguments.add_integers(scope);
  const auto kernel = kernel_of_buffer(context, stage.buffer);
  GroupKernels kernels;
  kernels.source = with_short_lines(
      fill(kernel_text("program/tails.cu", of_rows ? "join_rows" : "join_pixels"),
           {{"name", out.name},
            {"qualifier", fill_lines(context.dialect->kernel_qualifier, {{"threads", std::to_string(k_threads)}})},
            {"signature", arguments.signature(kernel)},
            {"global_index", context.dialect->global_index},
            {"count", count},
            {"part_count", part_count},
            {"neutral", tail_neutral(tail)},
            {"gathered", joined},
            {"axes", join_lines(axes)},
            {"result_values", result.values},
            {"store", result.store}}));
  const auto elements = count_expression(extents_of(stage.axes));
  kernels.launches.push_back({kernel,
                              {fmt::format("ceil_div({}, {})", elements, of_rows ? k_threads : k_threads / 32)},
                              {std::to_string(k_threads)},
                              "0",
                              arguments.arguments()});
  const auto each = of_rows ? fmt::format("ceil_div({}, TILE_M)", extent_of(contraction.rows).text())
                            : tiles_expression(contraction, *patch, tail);
  kernels.scratch.push_back({parts, DType::f32, fmt::format("{} * ({})", each, elements)});
  kernels.helpers = scope.helpers();
  kernels.own_helpers = scope.own_helpers();
  return kernels;
}

}  // namespace kw
