#include "operators/program/kernels/stage_kernel.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "operators/program/kernels/accumulator.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "program/stages/exact_extent.hpp"

namespace kw {
namespace {

constexpr int k_group = 64;

StageAxes without_scanned(const Stage& stage) {
  StageAxes axes = stage.axes;
  if (stage.kind != StageKind::scan) return axes;
  const auto scanned = [&](const StageAxis& axis) { return axis.name == stage.inner[0].name; };
  axes.erase(std::remove_if(axes.begin(), axes.end(), scanned), axes.end());
  return axes;
}

/// Whether the guard needs no axis of the loops from `depth` on.
bool decided_before(const StageExpr& node, const StageAxes& inner, std::size_t depth) {
  if (node->op == StageOp::axis) {
    for (std::size_t i = depth; i < inner.size(); ++i) {
      if (inner[i].name == node->axis) return false;
    }
  }
  return std::all_of(node->operands.begin(), node->operands.end(),
                     [&](const StageExpr& operand) { return decided_before(operand, inner, depth); });
}

class KernelWriter {
 public:
  KernelWriter(const GroupContext& context, const Stage& stage)
      : context_(context),
        stage_(stage),
        scope_(context.buffers, stage, context.dialect),
        items_(without_scanned(stage)) {}

  GroupKernels write(const std::string& name) {
    if (stage_.kind != StageKind::scan) scope_.name_place(stage_.axes, "id");
    if (stage_.kind == StageKind::map) {
      write_map();
    } else {
      write_reduction();
    }
    return kernel(name);
  }

 private:
  void store(const std::string& place, const StageExpr& value) {
    const auto& buffer = context_.buffers[stage_.buffer];
    body_.line(store_text(buffer.dtype, buffer.name, place, without_parentheses(scope_.text(value)), scope_.dialect()));
  }

  void write_map() {
    body_.lines(scope_.shared_values({stage_.body}, true));
    store("id", stage_.body);
  }

  /// Guards are tested in the outermost loop that knows what they need.
  void write_guards(std::size_t depth, std::vector<StageExpr>& open) {
    std::vector<StageExpr> now;
    const auto decided = [&](const StageExpr& guard) { return decided_before(guard, stage_.inner, depth); };
    std::copy_if(open.begin(), open.end(), std::back_inserter(now), decided);
    open.erase(std::remove_if(open.begin(), open.end(), decided), open.end());
    if (now.empty()) return;
    StageExpr guard;
    for (const auto& one : now) guard = both(guard, one);
    // A place that the guard and the element have in common is worth a name here.
    const auto& element = stage_.body;
    std::vector<StageExpr> known;
    known.reserve(2);
    known.push_back(guard);
    for (const auto& one : element->operands) collect_places(one, depth, known);
    body_.lines(scope_.shared_values(known, false));
    body_.line(fmt::format("if (!({})) continue;", scope_.text(guard)));
  }

  /// Indices of loads that the loops before `depth` know.
  void collect_places(const StageExpr& node, std::size_t depth, std::vector<StageExpr>& known) const {
    if (node->op != StageOp::load) {
      for (const auto& operand : node->operands) collect_places(operand, depth, known);
      return;
    }
    for (const auto& index : node->operands) {
      if (decided_before(index, stage_.inner, depth)) known.push_back(index);
    }
  }

  void write_reduction() {
    const auto accumulator = accumulator_of(stage_, stage_.inner.empty() ? "" : scope_.axis(stage_.inner.back().name));
    scope_.call_result(accumulator.result);
    for (const auto& one : accumulator.own_helpers) own_helpers_.insert(one);
    body_.lines(accumulator.declarations);
    auto open = stage_.guards;
    for (std::size_t depth = 0; depth < stage_.inner.size(); ++depth) {
      const auto name = scope_.axis(stage_.inner[depth].name);
      body_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", name, scope_.extent(stage_.inner[depth].extent)));
      write_guards(depth + 1, open);
    }
    // Without a loop there is nothing to continue.
    KW_CHECK(open.empty(), "{} guards of a reduction over no axes", open.size());
    body_.lines(scope_.shared_values({stage_.body, stage_.position}, true));
    const auto position = stage_.position ? without_parentheses(scope_.text(stage_.position)) : "";
    body_.lines(accumulator.step(without_parentheses(scope_.text(stage_.body)), position));
    if (stage_.kind == StageKind::scan) store(scanned_place(), result());
    for (std::size_t i = 0; i < stage_.inner.size(); ++i) body_.close();
    if (stage_.kind == StageKind::scan) return;
    scope_.forget_values();
    body_.lines(scope_.shared_values({stage_.epilogue}, true));
    store("id", result());
  }

  [[nodiscard]] StageExpr result() const {
    return stage_.epilogue ? stage_.epilogue : reduction_result(stage_.body->type);
  }

  std::string scanned_place() {
    std::vector<std::string> indices;
    Shape shape;
    for (const auto& axis : stage_.axes) {
      indices.push_back(scope_.text(axis_index(axis.name)));
      shape.push_back(axis.extent);
    }
    return scope_.offset(indices, shape);
  }

  /// The indices of the work-item's element, as far as they are used.
  std::string coordinates() {
    std::size_t first = items_.size();
    for (std::size_t i = items_.size(); i-- > 0;) {
      if (scope_.used_axes().count(items_[i].name) > 0) first = i;
    }
    if (first == items_.size()) return "";
    if (items_.size() == 1) return fmt::format("  const int {} = (int)id;\n", scope_.axis(items_[0].name));
    std::string text = "  long rest = id;\n";
    for (std::size_t i = items_.size(); i-- > first;) {
      const auto extent = scope_.extent(items_[i].extent);
      const auto name = scope_.axis(items_[i].name);
      const bool used = scope_.used_axes().count(items_[i].name) > 0;
      if (used) text += fmt::format("  const int {} = (int){};\n", name, i == 0 ? "rest" : "(rest % " + extent + ")");
      if (i != first) text += fmt::format("  rest /= {};\n", extent);
    }
    return text;
  }

  GroupKernels kernel(const std::string& name) {
    const auto count = scope_.element_count(items_);
    const auto indices = coordinates();
    const KernelSignature signature(context_, scope_, {stage_.buffer});
    auto kernel = signature.kernels(name, std::to_string(k_group),
                                    fmt::format("  const long id = {};\n  if (id >= {}) return;\n{}{}",
                                                scope_.dialect()->global_index, count, indices, body_.text()));
    Shape shape;
    for (const auto& axis : items_) shape.push_back(axis.extent);
    kernel.launches[0].grid = {fmt::format("ceil_div({}, {})", count_expression(shape), k_group)};
    kernel.own_helpers.insert(own_helpers_.begin(), own_helpers_.end());
    return kernel;
  }

  const GroupContext& context_;
  const Stage& stage_;
  KernelScope scope_;
  StageAxes items_;
  BodyWriter body_;
  std::set<std::string> own_helpers_;
};

}  // namespace

std::string count_expression(const Shape& shape) {
  // A product of sums in its normal form may be longer than anything that is read.
  constexpr std::size_t k_longest = 60;
  const auto count = exact_product(shape);
  if (count && count->text().size() <= k_longest) return count->text();
  return join(shape, " * ", [](const Extent& extent) {
    const auto text = extent.text();
    return text.find_first_of(" +-*/%") == std::string::npos ? text : "(" + text + ")";
  });
}

GroupKernels stage_kernel(const GroupContext& context, const Stage& stage) {
  return KernelWriter(context, stage).write(kernel_of_buffer(context, stage.buffer));
}

}  // namespace kw
