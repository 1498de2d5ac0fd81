#include "operators/program/kernels/kernel_scope.hpp"

#include <cctype>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "operators/program/kernels/quick_quotients.hpp"
#include "operators/program/kernels/shared_values.hpp"
#include "record/bundle.hpp"

namespace kw {
namespace {

bool is_word(const std::string& text) {
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  }
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0;
}

/// "height_minus_2" for a short expression.
std::string spoken(const std::string& text) {
  constexpr std::size_t k_longest = 24;
  std::string name;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (plain) name += c;
    if (c == '+') name += "_plus_";
    if (c == '-') name += "_minus_";
    if (c == '*') name += "_times_";
    if (c == '/') name += "_over_";
    if (c == '%') name += "_mod_";
  }
  if (name.size() > k_longest) return "extent";
  return std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "n" + name : name;
}

/// Whether an integer is at least 0 whatever the axes are.
bool is_not_negative(const StageExpr& a) {
  const auto& operands = a->operands;
  switch (a->op) {
    case StageOp::axis:
      return true;
    case StageOp::integer:
      return a->integer.value() >= 0 && a->integer.text().find('-') == std::string::npos;
    case StageOp::add:
    case StageOp::multiply:
    case StageOp::floor_divide:
    case StageOp::minimum:
      return is_not_negative(operands[0]) && is_not_negative(operands[1]);
    case StageOp::maximum:
      return is_not_negative(operands[0]) || is_not_negative(operands[1]);
    case StageOp::floor_modulo:
      return is_not_negative(operands[1]);
    default:
      return a->type == StageType::truth;
  }
}

/// Variables of the families' texts, which axes of the same name stand back behind.
constexpr std::array k_own_names = {"id",           "rest",          "sum",          "part",          "best",
                                    "position",     "value",         "any",          "all",           "product",
                                    "running",      "row",           "lane",         "slice",         "live",
                                    "at",           "reach",         "item",         "lanes",         "chunks",
                                    "first",        "last",          "block",        "blocks",        "values",
                                    "start",        "total",         "totals",       "kept",          "earlier",
                                    "elements",     "before",        "lane_part",    "next",          "batch",
                                    "counted",      "places",        "positions",    "chunk",         "count",
                                    "mean",         "squares",       "together",     "apart",         "line",
                                    "tiles",        "columns",       "column",       "behind",        "stacks",
                                    "place",        "top",           "tap",          "fours",         "most",
                                    "shift",        "four",          "following",    "side",          "warp",
                                    "in_warp",      "four_stored",   "fours_read",   "fours_written", "read_stretch",
                                    "kept_row",     "shared_memory", "sums",         "whole",         "inside",
                                    "from",         "exchanged",     "results",      "stored",        "parts",
                                    "part_sum",     "part_sums",     "part_maximum", "part_maxima",   "part_factor",
                                    "part_factors", "part_term",     "part_terms",   "kept_batch",    "most_kept"};

std::string operand_of(const std::string& text) {
  return is_word(text) || text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

const char* bit_symbol(StageOp op) {
  if (op == StageOp::bit_and) return "&";
  return op == StageOp::bit_or ? "|" : "^";
}

}  // namespace

const char* kernel_type(StageType type) {
  return type == StageType::real ? "float" : "int";
}

KernelScope::KernelScope(const std::vector<KernelBuffer>& buffers, const Stage& stage, Dialect dialect,
                         const std::vector<std::string>& reserved)
    : KernelScope(buffers, std::vector<const Stage*>{&stage}, dialect, reserved) {}

KernelScope::KernelScope(const std::vector<KernelBuffer>& buffers, const std::vector<const Stage*>& stages,
                         Dialect dialect, const std::vector<std::string>& reserved)
    : buffers_(buffers), dialect_(dialect) {
  taken_.insert(reserved.begin(), reserved.end());
  for (const auto& buffer : buffers_) taken_.insert(buffer.name);
  for (const char* own : k_own_names) {
    taken_.insert(own);
  }
  for (const auto* stage : stages) {
    for (const auto* axes : {&stage->axes, &stage->inner}) {
      for (const auto& axis : *axes) {
        if (axes_.count(axis.name) == 0) axes_[axis.name] = free_name(axis.name);
        taken_.insert(axes_[axis.name]);
      }
    }
  }
}

std::string KernelScope::new_name(const std::string& wanted) {
  auto name = free_name(wanted);
  taken_.insert(name);
  return name;
}

std::string KernelScope::free_name(std::string wanted) const {
  while (taken_.count(wanted) > 0) wanted += "_";
  return wanted;
}

std::string KernelScope::extent(const Extent& extent) {
  const auto text = extent.text();
  if (extent.is_constant()) return text.starts_with("0 -") ? "(" + text + ")" : text;
  const auto found = extents_.find(text);
  if (found != extents_.end()) return found->second;
  auto name = free_name(kernel_name(spoken(text)));
  taken_.insert(name);
  extents_[text] = name;
  integers_.emplace_back(name, text);
  return name;
}

std::string KernelScope::axis(const std::string& name) const {
  return axes_.at(name);
}

std::string KernelScope::element_count(const StageAxes& axes) {
  std::int64_t constant = 1;
  std::string product;
  for (const auto& axis : axes) {
    if (axis.extent.is_constant() && axis.extent.value() < (std::int64_t{1} << 31U) &&
        constant < (std::int64_t{1} << 31U)) {
      constant *= axis.extent.value();
    } else {
      product += (product.empty() ? "(long)" : " * ") + extent(axis.extent);
    }
  }
  const bool is_long = constant > std::numeric_limits<std::int32_t>::max();
  if (product.empty()) return fmt::format("{}{}", constant, is_long ? "L" : "");
  return constant == 1 ? product : fmt::format("{} * {}{}", product, constant, is_long ? "L" : "");
}

std::string KernelScope::offset(const std::vector<std::string>& indices, const Shape& shape) {
  std::string text;
  bool first = true;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto& index = indices[i];
    if (!text.empty()) text = fmt::format("{} * {}", operand_of(text), extent(shape[i]));
    if (index == "0") continue;
    const bool last = i + 1 == indices.size();
    const auto widened = first && !last ? "(long)" + operand_of(index) : index;
    text = text.empty() ? widened : text + " + " + widened;
    first = false;
  }
  return text.empty() ? "0" : text;
}

void KernelScope::name_place(const StageAxes& axes, const std::string& name) {
  place_axes_ = axes;
  place_ = name;
}

std::string KernelScope::text(const StageExpr& expression, Binding least) {
  ExpressionSpelling spelling;
  spelling.node = [this](const StageExpr& node) { return leaf(node); };
  spelling.function = [this](const StageNode& node, const std::vector<std::string>& operands) {
    return call(node, operands);
  };
  return expression_text(expression, spelling, least);
}

std::string KernelScope::leaf(const StageExpr& node) {
  if (const auto named = values_.find(node.get()); named != values_.end()) return named->second;
  switch (node->op) {
    case StageOp::integer:
      return extent(node->integer);
    case StageOp::real:
      return float_literal(node->real);
    case StageOp::axis:
      used_axes_.insert(node->axis);
      return axis(node->axis);
    case StageOp::result:
      return result_;
    case StageOp::load:
      return load_text(*node);
    case StageOp::divide:
      return quick_quotient(*node);
    default:
      return "";
  }
}

void KernelScope::divide_quickly(const StageProgram& program) {
  if (dialect_->divisions_branch) quick_divisors_ = quick_divisors(program.stages);
}

/// Empty where it is none.
std::string KernelScope::quick_quotient(const StageNode& node) {
  if (!quick_divisors_ || !is_quick_quotient(node, *quick_divisors_)) return "";
  const auto& divisor = node.operands[1];
  if (divisor->op == StageOp::real)
    return fmt::format("({} * {})", text(node.operands[0], Binding::product), float_literal(1.0 / divisor->real));
  return fmt::format("__fdividef({}, {})", without_parentheses(text(node.operands[0])),
                     without_parentheses(text(divisor)));
}

std::string KernelScope::load_text(const StageNode& node) {
  if (const auto held = held_.find(node.tensor.buffer); held != held_.end()) return held->second;
  loaded_.insert(node.tensor.buffer);
  const auto& buffer = buffers_[node.tensor.buffer];
  const auto& shape = node.tensor.type.shape;
  bool own_place = !place_.empty() && shape.size() == place_axes_.size();
  for (std::size_t i = 0; own_place && i < shape.size(); ++i) {
    own_place = node.operands[i]->op == StageOp::axis && node.operands[i]->axis == place_axes_[i].name &&
                shape[i].text() == place_axes_[i].extent.text();
  }
  if (own_place) return element_text(buffer.dtype, buffer.name, place_, dialect_);
  return element_text(buffer.dtype, buffer.name, place_text(node), dialect_);
}

std::string KernelScope::place_text(const StageNode& load) {
  loaded_.insert(load.tensor.buffer);
  std::vector<std::string> indices;
  for (const auto& index : load.operands) indices.push_back(text(index, Binding::sum));
  return offset(indices, load.tensor.type.shape);
}

std::string KernelScope::quotient(const StageNode& node, const std::vector<std::string>& operands) {
  const bool divides = node.op == StageOp::floor_divide;
  if (is_not_negative(node.operands[0]) && is_not_negative(node.operands[1])) {
    return fmt::format("({} {} {})", operand_of(operands[0]), divides ? "/" : "%", operand_of(operands[1]));
  }
  helpers_.insert(divides ? KernelHelper::floor_div : KernelHelper::floor_mod);
  return fmt::format("{}({}, {})", function_name(node.op), operands[0], operands[1]);
}

std::string KernelScope::converted_text(const StageNode& node, const std::string& operand) {
  const auto from = node.operands[0]->type;
  if (node.op == StageOp::to_real) return "(float)" + operand_of(operand);
  if (node.op == StageOp::to_truth) return fmt::format("({} != 0)", operand_of(operand));
  return from == StageType::real ? fmt::format("{}({})", dialect_->float_to_int, operand) : operand_of(operand);
}

std::string KernelScope::call(const StageNode& node, const std::vector<std::string>& operands) {
  const bool real = node.type == StageType::real;
  switch (node.op) {
    case StageOp::floor_divide:
    case StageOp::floor_modulo:
      return quotient(node, operands);
    case StageOp::to_integer:
    case StageOp::to_real:
    case StageOp::to_truth:
      return converted_text(node, operands[0]);
    case StageOp::minimum:
    case StageOp::maximum: {
      const bool largest = node.op == StageOp::maximum;
      if (!real) return fmt::format("{}({}, {})", largest ? "max" : "min", operands[0], operands[1]);
      own_helpers_.insert(largest ? "larger" : "smaller");
      return fmt::format("{}({}, {})", largest ? "larger" : "smaller", operands[0], operands[1]);
    }
    case StageOp::round_to_tf32:
      own_helpers_.insert("rounded_to_tf32");
      return fmt::format("rounded_to_tf32({})", operands[0]);
    case StageOp::absolute:
      if (!real) return fmt::format("{}abs({})", dialect_->unsigned_abs ? "(int)" : "", operands[0]);
      return fmt::format("{}({})", dialect_->typed_functions ? "fabsf" : "fabs", operands[0]);
    case StageOp::shift_left:
    case StageOp::shift_right:
      helpers_.insert(node.op == StageOp::shift_left ? KernelHelper::shift_left : KernelHelper::shift_right);
      return fmt::format("{}({}, {})", function_name(node.op), operands[0], operands[1]);
    case StageOp::bit_and:
    case StageOp::bit_or:
    case StageOp::bit_xor:
      return fmt::format("({} {} {})", operand_of(operands[0]), bit_symbol(node.op), operand_of(operands[1]));
    case StageOp::bit_not:
      return "~" + operand_of(operands[0]);
    default:
      return fmt::format("{}{}({})", function_name(node.op), dialect_->typed_functions ? "f" : "",
                         fmt::join(operands, ", "));
  }
}

std::vector<std::string> KernelScope::shared_values(const std::vector<StageExpr>& roots, bool loads) {
  std::vector<std::string> statements;
  for (const auto& node : values_used_often(roots, loads)) {
    if (values_.count(node.get()) > 0) continue;
    const auto value = without_parentheses(text(node));
    const auto name =
        free_name(fmt::format("{}_{}", node->type == StageType::real ? "value" : "place", value_count_++));
    taken_.insert(name);
    statements.push_back(fmt::format("const {} {} = {};", kernel_type(node->type), name, value));
    values_[node.get()] = name;
  }
  return statements;
}

}  // namespace kw
