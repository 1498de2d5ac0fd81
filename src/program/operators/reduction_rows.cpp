// Reductions over axes, and what keeps the axis: softmax, scans, top values.

#include <algorithm>
#include <array>

#include "program/operators/operator_table.hpp"

namespace kw {
namespace {

Shape without_axes(const Shape& shape, const std::vector<std::size_t>& axes, bool keep) {
  Shape rest;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      rest.push_back(shape[i]);
    } else if (keep) {
      rest.emplace_back(1);
    }
  }
  return rest;
}

Result<Shape> reduced_shape(const OperatorCall& call) {
  const auto& shape = call.tensor("input").shape;
  KW_TRY(const auto axes, call.axes("dim", shape.size()));
  return without_axes(shape, axes, call.truth("keepdim"));
}

/// Integers and booleans are summed as int64.
Result<void> sum_rule(OperatorCall& call) {
  KW_TRY(auto shape, reduced_shape(call));
  const auto type = call.tensor("input").dtype;
  const auto* asked = std::get_if<ElementType>(&call.value("dtype"));
  call.output(asked != nullptr ? *asked : is_floating(type) ? type : ElementType::int64, std::move(shape));
  return {};
}

Result<void> float_reduction_rule(OperatorCall& call) {
  KW_TRY(auto shape, reduced_shape(call));
  const auto* dtype = call.node().find("dtype");
  const auto* asked = dtype == nullptr ? nullptr : std::get_if<ElementType>(&dtype->value);
  const auto type = call.tensor("input").dtype;
  if (asked == nullptr && call.node().op == "mean" && !is_floating(type)) {
    return call.type_error(fmt::format("{} of {} is refused by PyTorch", call.shown(), to_string(type)),
                           "convert first: x.float()");
  }
  call.output(asked != nullptr ? *asked : as_float(type), std::move(shape));
  return {};
}

Result<void> same_type_reduction_rule(OperatorCall& call) {
  KW_TRY(auto shape, reduced_shape(call));
  call.output(call.tensor("input").dtype, std::move(shape));
  return {};
}

Result<void> boolean_reduction_rule(OperatorCall& call) {
  KW_TRY(auto shape, reduced_shape(call));
  call.output(ElementType::boolean, std::move(shape));
  return {};
}

Result<void> index_reduction_rule(OperatorCall& call) {
  KW_TRY(auto shape, reduced_shape(call));
  call.output(ElementType::int64, std::move(shape));
  return {};
}

/// Without a dim the largest element, with one values and indices.
Result<void> extremum_rule(OperatorCall& call) {
  KW_TRY(auto shape, reduced_shape(call));
  call.output(call.tensor("input").dtype, shape);
  if (call.given("dim")) {
    call.output(ElementType::int64, std::move(shape));
    call.as_tuple();
  }
  return {};
}

Result<void> moments_rule(OperatorCall& call) {
  KW_TRY(auto shape, reduced_shape(call));
  const auto type = as_float(call.tensor("input").dtype);
  call.output(type, shape);
  if (call.node().op == "var_mean" || call.node().op == "std_mean") {
    call.output(type, std::move(shape));
    call.as_tuple();
  }
  return {};
}

Result<void> softmax_rule(OperatorCall& call) {
  auto type = call.tensor("input");
  const auto rank = type.shape.size();
  // What PyTorch takes without one, and warns of.
  if (std::holds_alternative<std::monostate>(call.value("dim")))
    call.canonical("dim", Extent(rank <= 1 || rank == 3 ? 0 : 1));
  KW_TRY(const auto axis, call.axis("dim", rank));
  call.canonical("dim", Extent(static_cast<std::int64_t>(axis)));
  const auto* asked = std::get_if<ElementType>(&call.value("dtype"));
  call.output(asked != nullptr ? *asked : as_float(type.dtype), std::move(type.shape));
  return {};
}

Result<void> scan_rule(OperatorCall& call) {
  auto type = call.tensor("input");
  KW_TRY_VOID(call.axis("dim", type.shape.size()));
  const auto* asked = std::get_if<ElementType>(&call.value("dtype"));
  call.output(asked != nullptr          ? *asked
              : is_floating(type.dtype) ? type.dtype
                                        : ElementType::int64,
              std::move(type.shape));
  return {};
}

Result<void> running_extremum_rule(OperatorCall& call) {
  const auto& type = call.tensor("input");
  KW_TRY_VOID(call.axis("dim", type.shape.size()));
  call.output(type);
  call.output(ElementType::int64, type.shape);
  call.as_tuple();
  return {};
}

Result<void> logcumsumexp_rule(OperatorCall& call) {
  KW_TRY_VOID(call.axis("dim", call.tensor("input").shape.size()));
  return float_type(call);
}

Result<void> topk_rule(OperatorCall& call) {
  constexpr std::int64_t k_most = 64;           // of a row of any length
  constexpr std::int64_t k_longest_row = 4096;  // that is sorted: each element is compared with each other one
  auto type = call.tensor("input");
  KW_TRY(const auto axis, call.axis("dim", type.shape.size()));
  const auto& k = call.integer("k");
  const auto extent = type.shape.empty() ? 1 : type.shape[axis].value();
  if (k.value() < 0 || k.value() > extent) {
    return call.value_error(
        fmt::format("k = {} of {} is more than the {} elements of axis {}", k.value(), call.shown(), extent, axis));
  }
  if (k.value() > k_most && extent > k_longest_row) {
    return call.unsupported(fmt::format("{} of {} of {} elements", call.shown(), k.value(), extent),
                            fmt::format("rows of at most {} elements are sorted, and of others at most {} are chosen",
                                        k_longest_row, k_most));
  }
  if (!type.shape.empty()) type.shape[axis] = k;
  call.output(type);
  call.output(ElementType::int64, std::move(type.shape));
  call.as_tuple();
  return {};
}

Result<void> normalize_rule(OperatorCall& call) {
  KW_TRY_VOID(call.axes("dim", call.tensor("input").shape.size()));
  return float_type(call);
}

constexpr std::string_view k_softmax = "Tensor input, int? dim=None, dtype? dtype=None";
constexpr std::string_view k_scan = "Tensor input, int dim, dtype? dtype=None";
constexpr std::string_view k_axes = "Tensor input, int[*]? dim=None, bool keepdim=False";
constexpr std::string_view k_axis = "Tensor input, int? dim=None, bool keepdim=False";

constexpr std::array k_reduction_rows = {
    OperatorRow{"sum", "Tensor input, int[*]? dim=None, bool keepdim=False, dtype? dtype=None", "tm", sum_rule},
    OperatorRow{"nansum", "Tensor input, int[*]? dim=None, bool keepdim=False, dtype? dtype=None", "tm", sum_rule},
    OperatorRow{"prod", "Tensor input, int? dim=None, bool keepdim=False, dtype? dtype=None", "tm", sum_rule},
    OperatorRow{"mean", "Tensor input, int[*]? dim=None, bool keepdim=False, dtype? dtype=None", "tm",
                float_reduction_rule},
    OperatorRow{"max", k_axis, "tm", extremum_rule},
    OperatorRow{"min", k_axis, "tm", extremum_rule},
    OperatorRow{"amax", k_axes, "tm", same_type_reduction_rule},
    OperatorRow{"amin", k_axes, "tm", same_type_reduction_rule},
    OperatorRow{"argmax", k_axis, "tm", index_reduction_rule},
    OperatorRow{"argmin", k_axis, "tm", index_reduction_rule},
    OperatorRow{"any", k_axes, "tm", boolean_reduction_rule},
    OperatorRow{"all", k_axes, "tm", boolean_reduction_rule},
    OperatorRow{"logsumexp", "Tensor input, int[*] dim, bool keepdim=False", "tm torch.special.logsumexp",
                float_reduction_rule},
    OperatorRow{"norm", "Tensor input, OrderOfNorm? p='fro', int[*]? dim=None, bool keepdim=False, dtype? dtype=None",
                "tm", float_reduction_rule},
    OperatorRow{"vector_norm", "Tensor input, number ord=2, int[*]? dim=None, bool keepdim=False, dtype? dtype=None",
                " torch.linalg.vector_norm torch.linalg.norm", float_reduction_rule},
    OperatorRow{"var", "Tensor input, int[*]? dim=None, bool unbiased=True, bool keepdim=False, int? correction=None",
                "tm", moments_rule},
    OperatorRow{"std", "Tensor input, int[*]? dim=None, bool unbiased=True, bool keepdim=False, int? correction=None",
                "tm", moments_rule},
    OperatorRow{"var_mean",
                "Tensor input, int[*]? dim=None, bool unbiased=True, bool keepdim=False, int? correction=None", "t",
                moments_rule},
    OperatorRow{"std_mean",
                "Tensor input, int[*]? dim=None, bool unbiased=True, bool keepdim=False, int? correction=None", "t",
                moments_rule},
    OperatorRow{"topk", "Tensor input, int k, int dim=-1, bool largest=True, bool sorted=True", "tm", topk_rule},
};

constexpr std::array k_scan_rows = {
    OperatorRow{"softmax", k_softmax, "tfm torch.special.softmax", softmax_rule},
    OperatorRow{"softmin", k_softmax, "f", softmax_rule},
    OperatorRow{"log_softmax", k_softmax, "tfm torch.special.log_softmax", softmax_rule},
    OperatorRow{"cumsum", k_scan, "tm", scan_rule},
    OperatorRow{"cumprod", k_scan, "tm", scan_rule},
    OperatorRow{"cummax", "Tensor input, int dim", "tm", running_extremum_rule},
    OperatorRow{"cummin", "Tensor input, int dim", "tm", running_extremum_rule},
    OperatorRow{"logcumsumexp", "Tensor input, int dim", "tm", logcumsumexp_rule},
    OperatorRow{"normalize", "Tensor input, float p=2.0, int[*] dim=1, float eps=1e-12", "f", normalize_rule},
};

}  // namespace

std::span<const OperatorRow> reduction_rows() {
  return k_reduction_rows;
}

std::span<const OperatorRow> scan_rows() {
  return k_scan_rows;
}

}  // namespace kw
