#include "mod/expression/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kw {
namespace {

/// Python's binding strengths; higher binds tighter.
enum Strength : int { k_compare = 1, k_or, k_xor, k_and, k_shift, k_sum, k_product, k_sign, k_power, k_atom };

struct Infix {
  const char* symbol = nullptr;
  Strength strength = k_atom;
};

Infix infix_of(ExprOp op) {
  switch (op) {
    case ExprOp::add:
      return {"+", k_sum};
    case ExprOp::subtract:
      return {"-", k_sum};
    case ExprOp::multiply:
      return {"*", k_product};
    case ExprOp::divide:
      return {"/", k_product};
    case ExprOp::floor_divide:
      return {"//", k_product};
    case ExprOp::modulo:
      return {"%", k_product};
    case ExprOp::bit_and:
      return {"&", k_and};
    case ExprOp::bit_or:
      return {"|", k_or};
    case ExprOp::bit_xor:
      return {"^", k_xor};
    case ExprOp::shift_left:
      return {"<<", k_shift};
    case ExprOp::shift_right:
      return {">>", k_shift};
    case ExprOp::less:
      return {"<", k_compare};
    case ExprOp::less_equal:
      return {"<=", k_compare};
    case ExprOp::greater:
      return {">", k_compare};
    case ExprOp::greater_equal:
      return {">=", k_compare};
    case ExprOp::equal:
      return {"==", k_compare};
    case ExprOp::not_equal:
      return {"!=", k_compare};
    default:
      return {};
  }
}

const char* function_of(ExprOp op) {
  switch (op) {
    case ExprOp::power:
      return "torch.pow";
    case ExprOp::minimum:
      return "torch.minimum";
    case ExprOp::maximum:
      return "torch.maximum";
    case ExprOp::absolute:
      return "abs";
    case ExprOp::select:
      return "torch.where";
    case ExprOp::exp:
      return "torch.exp";
    case ExprOp::exp2:
      return "torch.exp2";
    case ExprOp::log:
      return "torch.log";
    case ExprOp::log2:
      return "torch.log2";
    case ExprOp::tanh:
      return "torch.tanh";
    case ExprOp::sigmoid:
      return "torch.sigmoid";
    case ExprOp::sqrt:
      return "torch.sqrt";
    case ExprOp::rsqrt:
      return "torch.rsqrt";
    case ExprOp::floor:
      return "torch.floor";
    case ExprOp::erf:
      return "torch.erf";
    case ExprOp::sin:
      return "torch.sin";
    case ExprOp::cos:
      return "torch.cos";
    case ExprOp::round:
      return "torch.round";
    case ExprOp::fmod:
      return "torch.fmod";
    case ExprOp::to_real:
      return "float";
    case ExprOp::to_integer:
      return "int";
    case ExprOp::to_boolean:
      return "bool";
    case ExprOp::lower_bound:
      return "first_not_less";
    case ExprOp::upper_bound:
      return "first_greater";
    default:
      return "?";
  }
}

struct Text {
  std::string text;
  Strength strength = k_atom;
};

class Printer {
 public:
  Printer(const ModFunction& mod, std::size_t limit) : mod_(mod), limit_(limit) {}

  /// Shared nodes are printed wherever they are used, so the length is what has to stop this.
  Text print(ExprId id) {
    if (length_ > limit_) return {"..."};
    const auto& node = mod_.nodes[static_cast<std::size_t>(id)];
    auto text = of_node(node);
    length_ += text.text.size();
    return text;
  }

 private:
  Text of_node(const ModExpr& node) {
    switch (node.op) {
      case ExprOp::constant:
        return constant(node);
      case ExprOp::score:
        return {"score"};
      case ExprOp::batch:
        return {"b"};
      case ExprOp::head:
        return {"h"};
      case ExprOp::query:
        return {"q_idx"};
      case ExprOp::key:
        return {"kv_idx"};
      case ExprOp::axis:
        return {node.name};
      case ExprOp::negate:
        return {"-" + operand(node.args[0], k_sign), k_sign};
      case ExprOp::bit_not:
        return {"~" + operand(node.args[0], k_sign), k_sign};
      case ExprOp::gather:
        return {node.name + "[" + arguments(node) + "]"};
      case ExprOp::to_real:
        return print(node.args[0]);  // Python promotes by itself
      default:
        break;
    }
    const auto infix = infix_of(node.op);
    if (infix.symbol == nullptr) return {called(node)};
    const auto right = static_cast<Strength>(infix.strength + 1);
    return {fmt::format("{} {} {}", operand(node.args[0], infix.strength == k_compare ? right : infix.strength),
                        infix.symbol, operand(node.args[1], right)),
            infix.strength};
  }

  static Text constant(const ModExpr& node) {
    if (node.type == ScalarType::boolean) return {node.integer != 0 ? "True" : "False"};
    if (node.type == ScalarType::integer) return {fmt::format("{}", node.integer), node.integer < 0 ? k_sign : k_atom};
    if (std::isinf(node.real)) return {node.real < 0 ? "-torch.inf" : "torch.inf", k_sign};
    return {fmt::format("{:.6g}", node.real), node.real < 0 ? k_sign : k_atom};
  }

  std::string operand(ExprId id, Strength least) {
    auto part = print(id);
    return part.strength < least ? "(" + part.text + ")" : part.text;
  }

  std::string arguments(const ModExpr& node) {
    std::string list;
    for (const auto arg : node.args) list += (list.empty() ? "" : ", ") + print(arg).text;
    return list;
  }

  std::string called(const ModExpr& node) {
    const bool searches = node.op == ExprOp::lower_bound || node.op == ExprOp::upper_bound;
    return fmt::format("{}({}{})", function_of(node.op), searches ? node.name + ", " : "", arguments(node));
  }

  const ModFunction& mod_;
  std::size_t limit_;
  std::size_t length_ = 0;
};

}  // namespace

std::string to_python(const ModFunction& mod, ExprId node, std::size_t limit) {
  // Long enough for the part that is shown to be complete, and bounded whatever is shared how often.
  auto text = Printer(mod, 20 * limit).print(node).text;
  if (text.size() <= limit) return text;
  return text.substr(0, limit - 3) + "...";
}

}  // namespace kw
