// Normalisations.

#include <algorithm>
#include <array>

#include "program/operators/operator_table.hpp"

namespace kw {
namespace {

/// Tensors of one number per channel.
Result<void> check_per_channel(const OperatorCall& call, std::initializer_list<const char*> names,
                               const Extent& channels) {
  for (const auto* name : names) {
    const auto* type = call.optional_tensor(name);
    if (type == nullptr || (type->shape.size() == 1 && type->shape[0] == channels)) continue;
    return call.shape_error(
        fmt::format("'{}' of {} has the shape {}, but {} has {} channels", name, call.shown(),
                    argument_text(type->shape), argument_text(call.tensor("input").shape), channels.value()),
        "check num_features");
  }
  return {};
}

Result<void> channel_statistics(OperatorCall& call, std::size_t least, std::size_t most, std::size_t channel_axis) {
  KW_TRY_VOID(call.require_rank("input", least, most));
  const auto& input = call.tensor("input");
  const auto channels = input.shape[channel_axis];
  KW_TRY_VOID(check_per_channel(call, {"running_mean", "running_var", "weight", "bias"}, channels));
  // A module says its own number, which PyTorch does not hold against the input where there are no tensors to fit.
  if (!call.given("num_features")) call.canonical("num_features", channels);
  call.output(input);
  return {};
}

template <std::size_t Axes>
Result<void> batch_norm_rule(OperatorCall& call) {
  if (!call.truth("training") && (!call.given("running_mean") || !call.given("running_var"))) {
    return call.value_error(fmt::format("{} outside of training needs running_mean and running_var", call.shown()));
  }
  return channel_statistics(call, Axes == 1 ? 2 : Axes + 2, Axes + 2, 1);
}

template <std::size_t Axes>
Result<void> instance_norm_rule(OperatorCall& call) {
  const auto rank = call.tensor("input").shape.size();
  return channel_statistics(call, Axes + 1, Axes + 2, rank == Axes + 2 ? 1 : 0);
}

Result<void> group_norm_rule(OperatorCall& call) {
  KW_TRY_VOID(call.require_rank("input", 2, 16));
  const auto& input = call.tensor("input");
  const auto& groups = call.integer("num_groups");
  const auto channels = input.shape[1];
  if (groups.value() < 1 || channels.value() % groups.value() != 0) {
    return call.shape_error(
        fmt::format("{} groups of {} do not divide {} channels", groups.value(), call.shown(), channels.value()));
  }
  KW_TRY_VOID(check_per_channel(call, {"weight", "bias"}, channels));
  call.derive("num_channels", channels);
  call.output(input);
  return {};
}

Result<void> layer_norm_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  const auto& normalized = call.integers("normalized_shape");
  const bool fits = normalized.size() <= input.shape.size() && !normalized.empty() &&
                    std::equal(normalized.rbegin(), normalized.rend(), input.shape.rbegin());
  if (!fits) {
    return call.shape_error(fmt::format("{} over {} of a tensor of {}", call.shown(), argument_text(normalized),
                                        argument_text(input.shape)),
                            "normalized_shape must be the last axes");
  }
  for (const auto* name : {"weight", "bias"}) {
    if (call.node().find(name) == nullptr) continue;
    const auto* type = call.optional_tensor(name);
    if (type != nullptr && type->shape != normalized)
      return call.shape_error(fmt::format("'{}' of {} has the shape {}, not {}", name, call.shown(),
                                          argument_text(type->shape), argument_text(normalized)));
  }
  call.output(input);
  return {};
}

Result<void> local_response_norm_rule(OperatorCall& call) {
  KW_TRY_VOID(call.require_rank("input", 3, 16));
  return keep_type(call);
}

constexpr std::string_view k_batch_norm =
    "Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? bias=None, bool "
    "training=False, float? momentum=0.1, float eps=1e-05, int? num_features=None";
constexpr std::string_view k_instance_norm =
    "Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, Tensor? bias=None, bool "
    "use_input_stats=True, float momentum=0.1, float eps=1e-05, int? num_features=None";

constexpr std::array k_normalisation_rows = {
    OperatorRow{"batch_norm1d", k_batch_norm, "", batch_norm_rule<1>},
    OperatorRow{"batch_norm2d", k_batch_norm, "", batch_norm_rule<2>},
    OperatorRow{"batch_norm3d", k_batch_norm, "", batch_norm_rule<3>},
    OperatorRow{"instance_norm1d", k_instance_norm, "", instance_norm_rule<1>},
    OperatorRow{"instance_norm2d", k_instance_norm, "", instance_norm_rule<2>},
    OperatorRow{"instance_norm3d", k_instance_norm, "", instance_norm_rule<3>},
    OperatorRow{"group_norm", "Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05",
                "tf", group_norm_rule},
    OperatorRow{"layer_norm",
                "Tensor input, int[*] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05", "tf",
                layer_norm_rule},
    OperatorRow{"rms_norm", "Tensor input, int[*] normalized_shape, Tensor? weight=None, float? eps=None", "tf",
                layer_norm_rule},
    OperatorRow{"local_response_norm", "Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.0", "f",
                local_response_norm_rule},
};

}  // namespace

std::span<const OperatorRow> normalisation_rows() {
  return k_normalisation_rows;
}

}  // namespace kw
