// Convolutions and transposed convolutions of one to three axes, and what gathers their windows.

#include <array>

#include "program/operators/operator_table.hpp"
#include "program/operators/window_shape.hpp"

namespace kw {
namespace {

Result<void> require_positive(const OperatorCall& call, std::string_view name, std::int64_t least = 1) {
  for (const auto& one : call.integers(name)) {
    if (one.value() < least)
      return call.value_error(fmt::format("{} of {} is {}", name, call.shown(), argument_text(call.integers(name))),
                              fmt::format("use values of at least {}", least));
  }
  return {};
}

/// The operand may lack the batch axis. Returns the number of axes before the windows: batch and channels.
Result<std::size_t> axes_before(const OperatorCall& call, std::size_t windows) {
  KW_TRY_VOID(call.require_rank("input", windows + 1, windows + 2));
  KW_TRY_VOID(call.require_rank("weight", windows + 2, windows + 2));
  return call.tensor("input").shape.size() - windows;
}

Result<void> check_channels(const OperatorCall& call, const Extent& channels, const Extent& wanted) {
  if (channels == wanted) return {};
  return call.shape_error(fmt::format("{} takes {} channels, but {} has {}", call.shown(), wanted.value(),
                                      argument_text(call.tensor("input").shape), channels.value()),
                          "check in_channels and groups");
}

Result<void> check_bias(const OperatorCall& call, const Extent& channels) {
  const auto* bias = call.optional_tensor("bias");
  if (bias == nullptr || (bias->shape.size() == 1 && bias->shape[0] == channels)) return {};
  return call.shape_error(fmt::format("the bias of {} has the shape {}, not [{}]", call.shown(),
                                      argument_text(bias->shape), channels.value()));
}

/// 'same' keeps the extent, 'valid' adds nothing: the padding of both ends together.
Result<Extent> both_ends(const OperatorCall& call, std::size_t axis, const Extent& kernel) {
  if (const auto* mode = std::get_if<std::string>(&call.value("padding"))) {
    if (*mode == "valid") return Extent(0);
    if (*mode != "same")
      return call.value_error(fmt::format("padding '{}' of {}", *mode, call.shown()),
                              "write 'same', 'valid' or integers");
    if (call.integers("stride")[axis].value() != 1)
      return call.value_error(fmt::format("padding 'same' of {} needs a stride of 1", call.shown()));
    KW_TRY(const auto steps, Extent::difference(kernel, 1));
    return Extent::product(call.integers("dilation")[axis], steps);
  }
  return Extent::product(2, call.integers("padding")[axis]);
}

void derive_channels(OperatorCall& call, const Extent& in, const Extent& out, Shape kernel) {
  call.derive("in_channels", in);
  call.derive("out_channels", out);
  call.derive("kernel_size", std::move(kernel));
}

Result<void> convolution(OperatorCall& call, std::size_t windows) {
  KW_TRY(const auto before, axes_before(call, windows));
  for (const auto* name : {"stride", "dilation"}) KW_TRY_VOID(require_positive(call, name));
  if (std::holds_alternative<Shape>(call.value("padding"))) KW_TRY_VOID(require_positive(call, "padding", 0));
  const auto& input = call.tensor("input");
  const auto& weight = call.tensor("weight").shape;
  const auto& groups = call.integer("groups");
  KW_TRY(const auto in_channels, Extent::product(weight[1], groups));
  KW_TRY_VOID(check_channels(call, input.shape[before - 1], in_channels));
  if (groups.value() < 1 || weight[0].value() % groups.value() != 0)
    return call.value_error(
        fmt::format("{} groups of {} do not divide {} channels", groups.value(), call.shown(), weight[0].value()));
  KW_TRY_VOID(check_bias(call, weight[0]));
  Shape shape(input.shape.begin(), input.shape.begin() + static_cast<std::ptrdiff_t>(before));
  shape.back() = weight[0];
  for (std::size_t i = 0; i < windows; ++i) {
    const auto& extent = input.shape[before + i];
    KW_TRY(const auto padding, both_ends(call, i, weight[i + 2]));
    KW_TRY(const auto places,
           window_places(extent, weight[i + 2], call.integers("stride")[i], padding, call.integers("dilation")[i]));
    if (places.value() < 1)
      return call.shape_error(
          fmt::format("the kernel of {} is larger than {} with its padding", call.shown(), argument_text(input.shape)));
    shape.push_back(places);
  }
  derive_channels(call, in_channels, weight[0], Shape(weight.begin() + 2, weight.end()));
  call.output(call.result_type({"input", "weight"}), std::move(shape));
  return {};
}

/// (extent - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1
/// (https://pytorch.org/docs/stable/generated/torch.nn.ConvTranspose2d.html)
Result<Extent> transposed_extent(const OperatorCall& call, std::size_t axis, const Extent& extent,
                                 const Extent& kernel) {
  KW_TRY(const auto before, Extent::difference(extent, 1));
  KW_TRY(auto length, Extent::product(before, call.integers("stride")[axis]));
  KW_TRY(const auto padding, Extent::product(2, call.integers("padding")[axis]));
  KW_TRY(length, Extent::difference(length, padding));
  KW_TRY(const auto steps, Extent::difference(kernel, 1));
  KW_TRY(const auto reach, Extent::product(call.integers("dilation")[axis], steps));
  KW_TRY(length, Extent::sum(length, reach));
  KW_TRY(length, Extent::sum(length, call.integers("output_padding")[axis]));
  return Extent::sum(length, 1);
}

Result<void> transposed_convolution(OperatorCall& call, std::size_t windows) {
  KW_TRY(const auto before, axes_before(call, windows));
  for (const auto* name : {"stride", "dilation"}) KW_TRY_VOID(require_positive(call, name));
  for (const auto* name : {"padding", "output_padding"}) KW_TRY_VOID(require_positive(call, name, 0));
  const auto& input = call.tensor("input");
  const auto& weight = call.tensor("weight").shape;
  const auto& groups = call.integer("groups");
  KW_TRY_VOID(check_channels(call, input.shape[before - 1], weight[0]));
  if (groups.value() < 1 || weight[0].value() % groups.value() != 0)
    return call.value_error(
        fmt::format("{} groups of {} do not divide {} channels", groups.value(), call.shown(), weight[0].value()));
  KW_TRY(const auto out_channels, Extent::product(weight[1], groups));
  KW_TRY_VOID(check_bias(call, out_channels));
  Shape shape(input.shape.begin(), input.shape.begin() + static_cast<std::ptrdiff_t>(before));
  shape.back() = out_channels;
  for (std::size_t i = 0; i < windows; ++i) {
    const auto extra = call.integers("output_padding")[i].value();
    if (extra >= call.integers("stride")[i].value() && extra >= call.integers("dilation")[i].value()) {
      return call.value_error(
          fmt::format("output_padding {} of {} is not smaller than stride or dilation", extra, call.shown()));
    }
    KW_TRY(const auto length, transposed_extent(call, i, input.shape[before + i], weight[i + 2]));
    if (length.value() < 1)
      return call.shape_error(fmt::format("nothing is left of {} after {}", argument_text(input.shape), call.shown()));
    shape.push_back(length);
  }
  derive_channels(call, weight[0], out_channels, Shape(weight.begin() + 2, weight.end()));
  call.output(call.result_type({"input", "weight"}), std::move(shape));
  return {};
}

/// F.unfold: columns of patches.
Result<void> unfold_rule(OperatorCall& call) {
  KW_TRY_VOID(call.require_rank("input", 4, 4));
  for (const auto* name : {"kernel_size", "stride", "dilation"}) KW_TRY_VOID(require_positive(call, name));
  const auto& input = call.tensor("input");
  Extent rows = input.shape[1];
  Extent columns = 1;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& kernel = call.integers("kernel_size")[i];
    KW_TRY(rows, Extent::product(rows, kernel));
    KW_TRY(const auto padding, Extent::product(2, call.integers("padding")[i]));
    KW_TRY(const auto places, window_places(input.shape[i + 2], kernel, call.integers("stride")[i], padding,
                                            call.integers("dilation")[i]));
    if (places.value() < 1)
      return call.shape_error(
          fmt::format("the kernel of {} is larger than {}", call.shown(), argument_text(input.shape)));
    KW_TRY(columns, Extent::product(columns, places));
  }
  call.output(input.dtype, {input.shape[0], rows, columns});
  return {};
}

template <std::size_t Windows>
Result<void> convolution_rule(OperatorCall& call) {
  return convolution(call, Windows);
}

template <std::size_t Windows>
Result<void> transposed_rule(OperatorCall& call) {
  return transposed_convolution(call, Windows);
}

constexpr std::array k_convolution_rows = {
    OperatorRow{"conv1d",
                "Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, padding[1] padding=0, int[1] "
                "dilation=1, int groups=1",
                "tf", convolution_rule<1>},
    OperatorRow{"conv2d",
                "Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, padding[2] padding=0, int[2] "
                "dilation=1, int groups=1",
                "tf", convolution_rule<2>},
    OperatorRow{"conv3d",
                "Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, padding[3] padding=0, int[3] "
                "dilation=1, int groups=1",
                "tf", convolution_rule<3>},
    OperatorRow{"conv_transpose1d",
                "Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] "
                "output_padding=0, int groups=1, int[1] dilation=1",
                "tf", transposed_rule<1>},
    OperatorRow{"conv_transpose2d",
                "Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] "
                "output_padding=0, int groups=1, int[2] dilation=1",
                "tf", transposed_rule<2>},
    OperatorRow{"conv_transpose3d",
                "Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] "
                "output_padding=0, int groups=1, int[3] dilation=1",
                "tf", transposed_rule<3>},
    OperatorRow{"unfold", "Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1", "f",
                unfold_rule},
};

}  // namespace

std::span<const OperatorRow> convolution_rows() {
  return k_convolution_rows;
}

}  // namespace kw
