#include "operators/program/kernels/contract_text.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "codegen/text.hpp"
#include "operators/program/kernels/factor_memory.hpp"
#include "program/stages/exact_extent.hpp"

namespace kw {

std::vector<std::string> names_in(const char* list) {
  std::istringstream words(list);
  return {std::istream_iterator<std::string>(words), {}};
}

void ContractArguments::add(DType dtype, bool writable, const std::string& name, const std::string& argument) {
  declarations_.push_back(buffer_parameter(dtype, writable, name, dialect_));
  arguments_.push_back(argument);
}

void ContractArguments::add_loaded(const KernelScope& scope, const std::vector<KernelBuffer>& buffers,
                                   std::size_t except) {
  for (const auto buffer : scope.loaded()) {
    if (buffer != except) add(buffers[buffer].dtype, false, buffers[buffer].name, buffers[buffer].argument);
  }
}

void ContractArguments::add_integers(const KernelScope& scope) {
  for (const auto& [parameter, expression] : scope.integers()) {
    declarations_.push_back("const int " + parameter);
    arguments_.push_back(expression);
  }
}

std::string ContractArguments::signature(const std::string& kernel) const {
  return parameter_list(fmt::format("void {}(", kernel), declarations_);
}

std::vector<std::string> index_statements(KernelScope& scope, const StageAxes& axes, const std::string& flat,
                                          const std::set<std::string>& used) {
  std::vector<std::string> statements;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto& axis = axes[i];
    if (used.count(axis.name) == 0) continue;
    const auto after = axes.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto inside = scope.extent(extent_of({after, axes.end()}));
    auto index = inside == "1" ? flat : fmt::format("{} / {}", flat, inside);
    if (i != 0) index = fmt::format("{} % {}", index, scope.extent(axis.extent));
    statements.push_back(fmt::format("const int {} = {};", scope.axis(axis.name), index));
  }
  std::reverse(statements.begin(), statements.end());
  return statements;
}

std::string address_text(KernelScope& scope, const AffineIndex& address, const StageAxes& axes, bool start) {
  std::vector<std::string> parts;
  for (const auto& axis : axes) {
    const auto found = address.coefficients.find(axis.name);
    if (found == address.coefficients.end()) continue;
    const auto& coefficient = found->second;
    const auto name = scope.axis(axis.name);
    const bool one = coefficient.is_constant() && coefficient.value() == 1;
    parts.push_back(one ? name : fmt::format("(long){} * {}", name, scope.extent(coefficient)));
  }
  if (start) {
    for (const auto& term : address.terms) parts.push_back(scope.text(term, Binding::sum));
    const bool zero = address.constant.is_constant() && address.constant.value() == 0;
    if (!zero) parts.push_back(scope.extent(address.constant));
  }
  if (parts.empty()) return "0";
  return fmt::format("{}", fmt::join(parts, " + "));
}

std::string number_text(KernelScope& scope, const StageAxes& axes, const Extent& unit) {
  AffineIndex number;
  Extent apart = unit;
  for (std::size_t i = axes.size(); i-- > 0;) {
    number.coefficients[axes[i].name] = apart;
    if (i == 0) break;
    const auto next = exact_product(apart, axes[i].extent);
    KW_CHECK(next.has_value(), "the extents of a factor's batches cannot be expressed");
    apart = *next;
  }
  return axes.empty() ? "0" : address_text(scope, number, axes, true);
}

std::string condition_text(KernelScope& scope, const std::vector<StageExpr>& guards) {
  StageExpr all;
  for (const auto& guard : guards) all = both(all, guard);
  return all ? scope.text(all) : "";
}

std::string guarded_text(KernelScope& scope, const StageExpr& element, const std::vector<StageExpr>& guards) {
  const auto condition = condition_text(scope, guards);
  if (condition.empty()) return without_parentheses(scope.text(element));
  return fmt::format("{} ? {} : 0.0f", condition, scope.text(element, Binding::either));
}

std::string loops_text(KernelScope& scope, const StageAxes& axes, int unrolled) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto name = scope.axis(axes[i].name);
    const std::string indent(2 * i, ' ');
    const auto* const first = i == 0 ? "begin" : "0";
    const auto end = i == 0 ? "end" : scope.extent(axes[i].extent);
    if (unrolled > 1 && i + 1 == axes.size()) lines.push_back(fmt::format("{}#pragma unroll {}", indent, unrolled));
    lines.push_back(fmt::format("{0}for (int {1} = {2}; {1} < {3}; ++{1})", indent, name, first, end));
  }
  return join_lines(lines);
}

std::string stored_place(KernelScope& scope, const Contraction& contraction) {
  std::vector<std::string> indices;
  Shape shape;
  for (std::size_t i = 0; i < contraction.split.place.size(); ++i) {
    indices.push_back(scope.text(contraction.split.place[i], Binding::sum));
    shape.push_back(contraction.split.output[i].extent);
  }
  return scope.offset(indices, shape);
}

std::optional<AffineIndex> stored_address(const Contraction& contraction) {
  std::vector<AffineIndex> indices;
  Shape shape;
  for (std::size_t i = 0; i < contraction.split.place.size(); ++i) {
    const auto index = affine_index(contraction.split.place[i], contraction.split.phases);
    if (!index) return std::nullopt;
    indices.push_back(*index);
    shape.push_back(contraction.split.output[i].extent);
  }
  return dense_address(indices, shape);
}

StoredSum stored_sum(KernelScope& scope, const Contraction& contraction, const KernelBuffer& out,
                     const std::string& sum, const std::string& place) {
  constexpr std::size_t k_line_columns = 100;
  const auto& stage = contraction.split.stage;
  scope.call_result(sum);
  StoredSum stored;
  if (contraction.split.stored) stored.guard = scope.text(contraction.split.stored);
  std::vector<std::string> values;
  if (stage.epilogue) values = scope.shared_values({stage.epilogue}, true);
  for (auto& statement : values) statement = broken_statement(statement, k_line_columns);
  stored.values = join_lines(values);
  const auto result = stage.epilogue ? stage.epilogue : reduction_result(stage.body->type);
  stored.value = without_parentheses(scope.text(result));
  stored.place = place.empty() ? stored_place(scope, contraction) : place;
  stored.store =
      broken_statement(store_text(out.dtype, out.name, stored.place, stored.value, scope.dialect()), k_line_columns);
  return stored;
}

Stage stage_over(const StageAxes& axes, const StageAxes& inner) {
  Stage stage;
  stage.axes = axes;
  stage.inner = inner;
  return stage;
}

StageAxes joined_axes(StageAxes axes, const StageAxes& more) {
  axes.insert(axes.end(), more.begin(), more.end());
  return axes;
}

std::set<std::string> axes_in(const AffineIndex& address) {
  std::set<std::string> axes;
  for (const auto& [axis, coefficient] : address.coefficients) axes.insert(axis);
  for (const auto& term : address.terms) axes.merge(axes_named(term));
  return axes;
}

std::string with_short_lines(const std::string& source) {
  constexpr std::size_t k_longest = 116;
  std::string result;
  for (std::size_t begin = 0; begin < source.size();) {
    const auto end = std::min(source.find('\n', begin), source.size());
    auto line = source.substr(begin, end - begin);
    begin = end + 1;
    if (line.size() > k_longest) {
      const std::string margin(line.find_first_not_of(' '), ' ');
      line = margin + broken_statement(line.substr(margin.size()), k_longest - 8 - margin.size());
      for (auto at = line.find('\n'); at != std::string::npos; at = line.find('\n', at + 1)) {
        line.insert(at + 1, margin);
      }
    }
    result += line + "\n";
  }
  return result;
}

std::string bundle_operand(const Extent& extent) {
  const auto text = extent.text();
  return text.find_first_of(" +-*/%") == std::string::npos ? text : "(" + text + ")";
}

}  // namespace kw
