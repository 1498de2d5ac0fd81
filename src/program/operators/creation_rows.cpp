// Tensors made of nothing but numbers.

#include <array>

#include "program/operators/operator_table.hpp"

namespace kw {
namespace {

ElementType asked_type(const OperatorCall& call, ElementType otherwise) {
  const auto* asked = std::get_if<ElementType>(&call.value("dtype"));
  return asked != nullptr ? *asked : otherwise;
}

Result<void> filled_rule(OperatorCall& call) {
  call.output(asked_type(call, ElementType::float32), call.integers("size"));
  return {};
}

Result<void> integer_draw_rule(OperatorCall& call) {
  if (call.integer("low").value() >= call.integer("high").value()) {
    return call.value_error(
        fmt::format("{} between {} and {}", call.shown(), call.integer("low").value(), call.integer("high").value()));
  }
  call.output(asked_type(call, ElementType::int64), call.integers("size"));
  return {};
}

ElementType number_type(const ArgumentValue& value) {
  if (std::holds_alternative<double>(value)) return ElementType::float32;
  return std::holds_alternative<bool>(value) ? ElementType::boolean : ElementType::int64;
}

Result<void> full_rule(OperatorCall& call) {
  call.output(asked_type(call, number_type(call.value("fill_value"))), call.integers("size"));
  return {};
}

Result<void> tensor_rule(OperatorCall& call) {
  call.output(asked_type(call, ElementType::float32), call.integers("size"));
  return {};
}

Result<void> like_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  call.output(asked_type(call, input.dtype), input.shape);
  return {};
}

Result<void> like_filled_rule(OperatorCall& call) {
  call.output(asked_type(call, call.tensor("input").dtype), call.integers("size"));
  return {};
}

/// The number of steps is the quotient, rounded up.
Result<void> arange_rule(OperatorCall& call) {
  const auto& start = call.value("start");
  const auto& end = call.value("end");
  const auto& step = call.value("step");
  const auto* first = std::get_if<Extent>(&start);
  const auto* last = std::get_if<Extent>(&end);
  const auto* stride = std::get_if<Extent>(&step);
  const double length = (call.real("end") - call.real("start")) / call.real("step");
  if (!(length >= 0.0) || length > 1e15)
    return call.value_error(fmt::format("{} from {} to {} in steps of {}", call.shown(), call.real("start"),
                                        call.real("end"), call.real("step")));
  if (first != nullptr && last != nullptr && stride != nullptr) {
    KW_TRY(auto count, Extent::difference(*last, *first));
    if (stride->value() > 1) {
      KW_TRY(const auto more, Extent::sum(count, stride->value() - 1));
      KW_TRY(count, Extent::quotient(more, *stride));
    } else if (stride->value() < 0) {
      // Rounded up: -((first - last) // step)
      KW_TRY(const auto turned, Extent::difference(*first, *last));
      KW_TRY(const auto rounded, Extent::quotient(turned, *stride));
      KW_TRY(count, Extent::difference(0, rounded));
    }
    call.output(asked_type(call, ElementType::int64), {count});
    return {};
  }
  auto count = static_cast<std::int64_t>(length);
  if (static_cast<double>(count) < length) ++count;
  call.output(asked_type(call, ElementType::float32), {Extent(count)});
  return {};
}

Result<void> linspace_rule(OperatorCall& call) {
  call.output(asked_type(call, ElementType::float32), {call.integer("steps")});
  return {};
}

Result<void> eye_rule(OperatorCall& call) {
  call.output(asked_type(call, ElementType::float32),
              {call.integer("n"), call.given("m") ? call.integer("m") : call.integer("n")});
  return {};
}

constexpr std::string_view k_sized = "int... size, dtype? dtype=None";
constexpr std::string_view k_like = "Tensor input, dtype? dtype=None";

constexpr std::array k_creation_operator_rows = {
    OperatorRow{"rand", k_sized, "t", filled_rule, true},
    OperatorRow{"randn", k_sized, "t", filled_rule, true},
    OperatorRow{"randint", "int low, int high, int[] size, dtype? dtype=None", "t", integer_draw_rule, true},
    OperatorRow{"uniform", "int... size, float low, float high, dtype? dtype=None", "", filled_rule, true},
    OperatorRow{"normal", "int... size, float mean, float std, dtype? dtype=None", "", filled_rule, true},
    OperatorRow{"zeros", k_sized, "t", filled_rule},
    OperatorRow{"ones", k_sized, "t", filled_rule},
    OperatorRow{"empty", k_sized, "t", filled_rule},
    OperatorRow{"full", "int[] size, number fill_value, dtype? dtype=None", "t", full_rule},
    OperatorRow{"tensor", "int[] size, str values, dtype? dtype=None", "", tensor_rule},
    OperatorRow{"zeros_like", k_like, "t", like_rule},
    OperatorRow{"ones_like", k_like, "t", like_rule},
    OperatorRow{"empty_like", k_like, "t", like_rule},
    OperatorRow{"full_like", "Tensor input, number fill_value, dtype? dtype=None", "t", like_rule},
    OperatorRow{"rand_like", k_like, "t", like_rule, true},
    OperatorRow{"randn_like", k_like, "t", like_rule, true},
    OperatorRow{"new_zeros", "Tensor input, int... size, dtype? dtype=None", "m", like_filled_rule},
    OperatorRow{"new_ones", "Tensor input, int... size, dtype? dtype=None", "m", like_filled_rule},
    OperatorRow{"arange", "number start, number end, number step=1, dtype? dtype=None", "t", arange_rule},
    OperatorRow{"linspace", "number start, number end, int steps, dtype? dtype=None", "t", linspace_rule},
    OperatorRow{"eye", "int n, int? m=None, dtype? dtype=None", "t", eye_rule},
};

}  // namespace

std::span<const OperatorRow> creation_operator_rows() {
  return k_creation_operator_rows;
}

}  // namespace kw
