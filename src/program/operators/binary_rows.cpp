// Operators on two or three operands that broadcast.

#include <array>

#include "program/operators/operator_table.hpp"

namespace kw {
namespace {

/// The shape that all named operands broadcast to; numbers have none.
Result<Shape> common_shape(const OperatorCall& call, std::initializer_list<const char*> names) {
  Shape shape;
  for (const auto* name : names) {
    if (const auto* type = call.optional_tensor(name)) {
      KW_TRY(shape, broadcast(shape, type->shape));
    }
  }
  return shape;
}

Result<void> arithmetic_rule(OperatorCall& call) {
  KW_TRY(auto shape, common_shape(call, {"input", "other"}));
  call.output(call.result_type({"input", "other"}), std::move(shape));
  return {};
}

Result<void> float_arithmetic_rule(OperatorCall& call) {
  KW_TRY(auto shape, common_shape(call, {"input", "other"}));
  call.output(as_float(call.result_type({"input", "other"})), std::move(shape));
  return {};
}

Result<void> division_rule(OperatorCall& call) {
  if (!call.given("rounding_mode")) return float_arithmetic_rule(call);
  if (const auto& mode = call.text("rounding_mode"); mode != "floor" && mode != "trunc") {
    return call.value_error(fmt::format("rounding_mode '{}' of {}", mode, call.shown()), "write 'floor' or 'trunc'");
  }
  return arithmetic_rule(call);
}

Result<void> power_rule(OperatorCall& call) {
  KW_TRY(auto shape, common_shape(call, {"input", "exponent"}));
  call.output(call.result_type({"input", "exponent"}), std::move(shape));
  return {};
}

Result<void> comparison_rule(OperatorCall& call) {
  KW_TRY(auto shape, common_shape(call, {"input", "other"}));
  call.output(ElementType::boolean, std::move(shape));
  return {};
}

Result<void> bitwise_rule(OperatorCall& call) {
  KW_TRY(auto shape, common_shape(call, {"input", "other"}));
  const auto type = call.result_type({"input", "other"});
  if (is_floating(type)) {
    return call.type_error(fmt::format("{} works on booleans and integers, not on {}", call.shown(), to_string(type)),
                           "use torch.logical_and and the like, or compare first");
  }
  call.output(type, std::move(shape));
  return {};
}

Result<void> where_rule(OperatorCall& call) {
  if (call.tensor("condition").dtype != ElementType::boolean) {
    return call.type_error(
        fmt::format("the condition of {} is {}, not bool", call.shown(), to_string(call.tensor("condition").dtype)),
        "compare first, as in torch.where(x > 0, a, b)");
  }
  KW_TRY(auto shape, common_shape(call, {"condition", "input", "other"}));
  call.output(call.result_type({"input", "other"}), std::move(shape));
  return {};
}

Result<void> lerp_rule(OperatorCall& call) {
  KW_TRY(auto shape, common_shape(call, {"input", "end", "weight"}));
  call.output(call.result_type({"input", "end"}), std::move(shape));
  return {};
}

Result<void> fused_rule(OperatorCall& call) {
  KW_TRY(auto shape, common_shape(call, {"input", "tensor1", "tensor2"}));
  call.output(call.result_type({"input", "tensor1", "tensor2"}), std::move(shape));
  return {};
}

Result<void> masked_fill_rule(OperatorCall& call) {
  if (call.tensor("mask").dtype != ElementType::boolean) {
    return call.type_error(
        fmt::format("the mask of {} is {}, not bool", call.shown(), to_string(call.tensor("mask").dtype)),
        "write mask.bool(), or compare, as in mask == 0");
  }
  KW_TRY(auto shape, common_shape(call, {"input", "mask"}));
  call.output(call.tensor("input").dtype, std::move(shape));
  return {};
}

/// Pairs along `dim`.
Result<void> pair_distance_rule(OperatorCall& call) {
  KW_TRY(auto shape, common_shape(call, {"x1", "x2"}));
  const bool has_dim = call.node().find("dim") != nullptr;
  KW_TRY(const auto axis, has_dim ? call.axis("dim", shape.size()) : call.axis(Extent(-1), "dim", shape.size()));
  if (!has_dim && call.truth("keepdim")) {
    shape[axis] = 1;
  } else if (!shape.empty()) {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  call.output(as_float(call.result_type({"x1", "x2"})), std::move(shape));
  return {};
}

constexpr std::string_view k_pair = "Operand input, Operand other";
constexpr std::string_view k_scaled = "Operand input, Operand other, number alpha=1";

constexpr std::array k_binary_rows = {
    OperatorRow{"add", k_scaled, "tmi", arithmetic_rule},
    OperatorRow{"sub", k_scaled, "tmi torch.subtract x.subtract", arithmetic_rule},
    OperatorRow{"rsub", k_scaled, "t", arithmetic_rule},
    OperatorRow{"mul", k_pair, "tmi torch.multiply x.multiply", arithmetic_rule},
    OperatorRow{"div", "Operand input, Operand other, str? rounding_mode=None",
                "tmi torch.divide x.divide torch.true_divide x.true_divide", division_rule},
    OperatorRow{"floor_divide", k_pair, "tmi", arithmetic_rule},
    OperatorRow{"remainder", k_pair, "tmi", arithmetic_rule},
    OperatorRow{"fmod", k_pair, "tmi", arithmetic_rule},
    OperatorRow{"pow", "Operand input, Operand exponent", "tmi", power_rule},
    OperatorRow{"maximum", k_pair, "tm", arithmetic_rule},
    OperatorRow{"minimum", k_pair, "tm", arithmetic_rule},
    OperatorRow{"fmax", k_pair, "tm", arithmetic_rule},
    OperatorRow{"fmin", k_pair, "tm", arithmetic_rule},
    OperatorRow{"atan2", k_pair, "tmi torch.arctan2", float_arithmetic_rule},
    OperatorRow{"hypot", k_pair, "tm", arithmetic_rule},
    OperatorRow{"copysign", k_pair, "tm", float_arithmetic_rule},
    OperatorRow{"xlogy", k_pair, "tm torch.special.xlogy", float_arithmetic_rule},
    OperatorRow{"logaddexp", k_pair, "tm", arithmetic_rule},
    OperatorRow{"logaddexp2", k_pair, "tm", arithmetic_rule},
    OperatorRow{"heaviside", "Tensor input, Tensor other", "tm", arithmetic_rule},
    OperatorRow{"eq", k_pair, "tm", comparison_rule},
    OperatorRow{"ne", k_pair, "tm torch.not_equal", comparison_rule},
    OperatorRow{"lt", k_pair, "tm torch.less", comparison_rule},
    OperatorRow{"le", k_pair, "tm torch.less_equal", comparison_rule},
    OperatorRow{"gt", k_pair, "tm torch.greater", comparison_rule},
    OperatorRow{"ge", k_pair, "tm torch.greater_equal", comparison_rule},
    OperatorRow{"logical_and", k_pair, "tm", comparison_rule},
    OperatorRow{"logical_or", k_pair, "tm", comparison_rule},
    OperatorRow{"logical_xor", k_pair, "tm", comparison_rule},
    OperatorRow{"bitwise_and", k_pair, "tm", bitwise_rule},
    OperatorRow{"bitwise_or", k_pair, "tm", bitwise_rule},
    OperatorRow{"bitwise_xor", k_pair, "tm", bitwise_rule},
    OperatorRow{"bitwise_left_shift", k_pair, "tm", bitwise_rule},
    OperatorRow{"bitwise_right_shift", k_pair, "tm", bitwise_rule},
    OperatorRow{"where", "Tensor condition, Operand input, Operand other", "t", where_rule},
    OperatorRow{"lerp", "Tensor input, Tensor end, Operand weight", "tmi", lerp_rule},
    OperatorRow{"addcmul", "Tensor input, Tensor tensor1, Tensor tensor2, number value=1", "tmi", fused_rule},
    OperatorRow{"addcdiv", "Tensor input, Tensor tensor1, Tensor tensor2, number value=1", "tmi", fused_rule},
    OperatorRow{"masked_fill", "Tensor input, Tensor mask, Operand value", "tmi", masked_fill_rule},
    OperatorRow{"cosine_similarity", "Tensor x1, Tensor x2, int dim=1, float eps=1e-08", "tf", pair_distance_rule},
    OperatorRow{"pairwise_distance", "Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False", "tf",
                pair_distance_rule},
};

}  // namespace

std::span<const OperatorRow> binary_rows() {
  return k_binary_rows;
}

}  // namespace kw
