#include "operators/program/kernels/lane_scope.hpp"

#include <algorithm>

#include "codegen/text.hpp"
#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/shared_values.hpp"
#include "program/stages/access.hpp"

namespace kw {
namespace {

/// Nodes that are computed whatever the conditions are that depend on the axis.
void follow_certain(const StageExpr& node, const std::string& axis, std::set<const StageNode*>& certain) {
  if (!node || !certain.insert(node.get()).second) return;
  const bool decides = node->op == StageOp::both || node->op == StageOp::either ||
                       (node->op == StageOp::select && depends_on(node->operands[0], axis));
  for (const auto& operand : node->operands) {
    follow_certain(operand, axis, certain);
    if (decides) break;
  }
}

bool needs_helper_of_lanes(StageOp op) {
  return op == StageOp::lgamma || op == StageOp::shift_left || op == StageOp::shift_right;
}

/// Lanes whose elements are further apart are gathered in more time than they spare: an average over windows of 11 x 11
/// without overlap was no faster.
constexpr std::int64_t k_largest_stride = 4;

/// Elements from one lane's to the next one's; absent where that is no constant from 1 to the largest.
std::optional<std::int64_t> lane_stride(const StageNode& load, const std::string& axis) {
  if (is_contiguous(load, axis)) return 1;
  const auto& indices = load.operands;
  const bool by_last = !indices.empty() && std::none_of(indices.begin(), indices.end() - 1,
                                                        [&](const StageExpr& one) { return depends_on(one, axis); });
  const auto last = by_last ? affine_index(indices.back(), {}) : std::nullopt;
  const auto found = last ? last->coefficients.find(axis) : std::map<std::string, Extent>::const_iterator();
  if (!last || found == last->coefficients.end() || !found->second.is_constant()) return std::nullopt;
  const auto stride = found->second.value();
  return stride >= 1 && stride <= k_largest_stride ? std::optional(stride) : std::nullopt;
}

bool all_have_lanes(const StageExpr& node, const std::string& axis, LaneLoads loads,
                    const std::set<const StageNode*>& certain, std::set<const StageNode*>& seen) {
  if (!seen.insert(node.get()).second || !depends_on(node, axis)) return true;
  if (needs_helper_of_lanes(node->op)) return false;
  if (node->op == StageOp::load) {
    const bool strided = loads == LaneLoads::with_strides && node->tensor.type.dtype == ElementType::float32;
    return certain.count(node.get()) > 0 &&
           (is_contiguous(*node, axis) || (strided && lane_stride(*node, axis).has_value()));
  }
  return std::all_of(node->operands.begin(), node->operands.end(),
                     [&](const StageExpr& operand) { return all_have_lanes(operand, axis, loads, certain, seen); });
}

}  // namespace

bool has_lanes(const StageExpr& expression, const std::string& axis, LaneLoads loads) {
  if (!expression) return true;
  std::set<const StageNode*> certain;
  follow_certain(expression, axis, certain);
  std::set<const StageNode*> seen;
  return all_have_lanes(expression, axis, loads, certain, seen);
}

const char* lane_type(StageType type) {
  return type == StageType::real ? "float16" : "int16";
}

bool LaneScope::varies(const StageExpr& expression) {
  const auto known = varies_.find(expression.get());
  if (known != varies_.end()) return known->second;
  bool result = expression->op == StageOp::axis && expression->axis == axis_;
  result = result || (expression->op == StageOp::result && !result_.empty());
  result = result || (expression->op == StageOp::load && held_.count(expression->tensor.buffer) > 0);
  for (const auto& operand : expression->operands) result = varies(operand) || result;
  varies_[expression.get()] = result;
  return result;
}

std::string LaneScope::text(const StageExpr& expression, bool wide) {
  const auto printed = print(expression, Binding::choice);
  if (varies(expression) || !wide) return without_parentheses(printed);
  return fmt::format("({})({})", lane_type(expression->type), printed);
}

std::string LaneScope::print(const StageExpr& expression, Binding least) {
  ExpressionSpelling spelling;
  spelling.node = [this](const StageExpr& node) { return own_text(node); };
  spelling.function = [this](const StageNode& node, const std::vector<std::string>& operands) {
    return call(node, operands);
  };
  return expression_text(expression, spelling, least);
}

std::string LaneScope::own_text(const StageExpr& node) {
  if (const auto named = values_.find(node.get()); named != values_.end()) return named->second;
  if (!varies(node)) return scope_.text(node, Binding::whole);
  switch (node->op) {
    case StageOp::axis:
      (void)scope_.text(node);
      scope_.need_own("lane_index");
      return fmt::format("({} + LANE_INDEX)", scope_.axis(axis_));
    case StageOp::result:
      return result_;
    case StageOp::load:
      return load_text(*node);
    case StageOp::select:
      return select_text(*node);
    case StageOp::divide:
      return varies(node->operands[1]) ? "" : quotient_text(*node);
    default:
      return "";
  }
}

std::string LaneScope::load_text(const StageNode& node) {
  if (const auto held = held_.find(node.tensor.buffer); held != held_.end()) return held->second;
  const auto& buffer = scope_.buffer(node.tensor.buffer);
  if (const auto stride = lane_stride(node, axis_); stride && *stride != 1) {
    const bool every_second = *stride == 2;
    scope_.need_own(every_second ? "every_second16" : "gather16");
    const auto start = fmt::format("{} + {}", buffer.name, scope_.place_text(node));
    return every_second ? fmt::format("every_second16({})", start) : fmt::format("gather16({}, {})", start, *stride);
  }
  const auto from = fmt::format("0, {} + {}", buffer.name, scope_.place_text(node));
  switch (buffer.dtype) {
    case DType::f16:
      return fmt::format("vload_half16({})", from);
    case DType::bf16:
      return fmt::format("as_float16(convert_uint16(vload16({})) << 16)", from);
    case DType::boolean:
      return fmt::format("(convert_int16(vload16({})) != 0)", from);
    case DType::f32:
      scope_.need_own("float16_anywhere");
      scope_.need_own(buffer.is_private ? "load_own16" : "load16");
      return fmt::format("{}({} + {})", buffer.is_private ? "load_own16" : "load16", buffer.name,
                         scope_.place_text(node));
    case DType::i32:
      return fmt::format("vload16({})", from);
  }
  return "";
}

std::string LaneScope::fetch(const StageNode& load) {
  scope_.need_own("fetch_ahead");
  return fmt::format("fetch_ahead({} + {});", scope_.buffer(load.tensor.buffer).name, scope_.place_text(load));
}

std::string LaneScope::select_text(const StageNode& node) {
  const auto yes = text(node.operands[1], true);
  const auto no = text(node.operands[2], true);
  if (varies(node.operands[0])) return fmt::format("select({}, {}, {})", no, yes, text(node.operands[0], true));
  return fmt::format("({} ? {} : {})", scope_.text(node.operands[0], Binding::either), yes, no);
}

std::string LaneScope::quotient_text(const StageNode& node) {
  scope_.need_own("over16");
  return fmt::format("over16({}, {})", text(node.operands[0], true),
                     without_parentheses(scope_.text(node.operands[1])));
}

std::string LaneScope::converted_text(const StageNode& node, const std::string& operand) {
  const auto from = node.operands[0]->type;
  if (node.op == StageOp::to_truth) return fmt::format("({} != 0)", operand);
  const auto number = from == StageType::truth ? fmt::format("-({})", operand) : operand;
  if (node.op == StageOp::to_real) return fmt::format("convert_float16({})", number);
  return from == StageType::real ? fmt::format("convert_int16_sat_rtz({})", number) : fmt::format("({})", number);
}

std::string LaneScope::integer_quotient(const StageNode& node, const std::vector<std::string>& operands) {
  const bool divides = node.op == StageOp::floor_divide;
  scope_.need(divides ? KernelHelper::floor_div16 : KernelHelper::floor_mod16);
  return fmt::format("{}({}, {})", divides ? "floor_div16" : "floor_mod16", operands[0], operands[1]);
}

std::string LaneScope::call(const StageNode& node, const std::vector<std::string>& given) {
  std::vector<std::string> operands = given;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto& operand = node.operands[i];
    if (!varies(operand)) operands[i] = fmt::format("({})({})", lane_type(operand->type), given[i]);
  }
  const bool real = node.type == StageType::real;
  const auto own = [&](const std::string& name) {
    scope_.need_own(name);
    return fmt::format("{}({})", name, fmt::join(operands, ", "));
  };
  switch (node.op) {
    case StageOp::floor_divide:
    case StageOp::floor_modulo:
      return integer_quotient(node, operands);
    case StageOp::to_integer:
    case StageOp::to_real:
    case StageOp::to_truth:
      return converted_text(node, operands[0]);
    case StageOp::minimum:
    case StageOp::maximum:
      if (real) return own(node.op == StageOp::maximum ? "larger16" : "smaller16");
      return fmt::format("{}({})", node.op == StageOp::maximum ? "max" : "min", fmt::join(operands, ", "));
    case StageOp::absolute:
      return real ? fmt::format("fabs({})", operands[0]) : fmt::format("convert_int16(abs({}))", operands[0]);
    case StageOp::bit_and:
    case StageOp::bit_or:
    case StageOp::bit_xor:
      return fmt::format("({} {} {})", operands[0],
                         node.op == StageOp::bit_and  ? "&"
                         : node.op == StageOp::bit_or ? "|"
                                                      : "^",
                         operands[1]);
    case StageOp::bit_not:
      return fmt::format("(~{})", operands[0]);
    case StageOp::exp:
      scope_.need_own("exp16_below_89");
      return own(bounded_exponents_ ? "exp16_below_89" : "exp16");
    case StageOp::expm1:
      return own("expm1_16");
    case StageOp::log1p:
      return own("log1p_16");
    case StageOp::erf:
      scope_.need_own("exp16_below_89");
      scope_.need_own("exp16");
      return own("erf16");
    case StageOp::tanh:
      scope_.need(KernelHelper::tanh16);
      return fmt::format("tanh16({})", operands[0]);
    default:
      return fmt::format("{}({})", function_name(node.op), fmt::join(operands, ", "));
  }
}

std::vector<std::string> LaneScope::shared_values(const std::vector<StageExpr>& roots) {
  std::vector<std::string> statements;
  for (const auto& node : values_used_often(roots, true)) {
    if (values_.count(node.get()) > 0 || !varies(node)) continue;
    const auto value = text(node, true);
    const auto name = scope_.new_name(fmt::format("lanes_{}", value_count_++));
    statements.push_back(fmt::format("const {} {} = {};", lane_type(node->type), name, value));
    values_[node.get()] = name;
  }
  return statements;
}

std::string LaneScope::address_text(const StageNode& place) {
  std::vector<std::string> indices;
  for (const auto& index : place.operands) indices.push_back(scope_.text(index, Binding::sum));
  return fmt::format("{} + {}", scope_.buffer(place.tensor.buffer).name,
                     scope_.offset(indices, place.tensor.type.shape));
}

std::string LaneScope::stream(const StageNode& place, const std::string& value, const std::string& at_a_line) {
  scope_.need_own("float16_anywhere");
  scope_.need_own("store16");
  scope_.need_own("stream16");
  return fmt::format("stream16({}, {}, {});", value, address_text(place), at_a_line);
}

std::string LaneScope::store(const StageNode& place, const std::string& value) {
  const auto& buffer = scope_.buffer(place.tensor.buffer);
  const auto at = address_text(place);
  const auto to = "0, " + at;
  switch (buffer.dtype) {
    case DType::f16:
      return fmt::format("vstore_half16({}, {});", value, to);
    case DType::bf16:
      scope_.need(KernelHelper::to_bf16_16);
      return fmt::format("vstore16(to_bf16_16({}), {});", value, to);
    case DType::boolean:
      return fmt::format("vstore16(convert_uchar16(-({})), {});", value, to);
    case DType::f32:
      scope_.need_own("float16_anywhere");
      scope_.need_own(buffer.is_private ? "store_own16" : "store16");
      return fmt::format("{}({}, {});", buffer.is_private ? "store_own16" : "store16", value, at);
    case DType::i32:
      return fmt::format("vstore16({}, {});", value, to);
  }
  return "";
}

}  // namespace kw
