// Convolutions and transposed convolutions, grouped, strided, dilated.

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/windows.hpp"

namespace kw::program_oracle {
namespace {

struct ConvolutionShape {
  explicit ConvolutionShape(const OracleCall& call)
      : axes(window_axes(call.op())),
        input(last_extents(call.tensor("input").extents(), axes)),
        kernel(last_extents(call.tensor("weight").extents(), axes)),
        output(last_extents(call.output_extents(), axes)),
        stride(window_argument(call, "stride", axes, 1)),
        dilation(window_argument(call, "dilation", axes, 1)),
        groups(call.integer("groups")) {
    in_channels = call.tensor("input").extents()[call.tensor("input").rank() - axes - 1];
    out_channels = call.output_extents()[call.output_extents().size() - axes - 1];
    if (!call.is_text("padding")) {
      padding = window_argument(call, "padding", axes, 0);
    } else if (call.text("padding") == "same") {
      // What does not halve goes behind.
      for (std::size_t i = 0; i < 3; ++i) padding[i] = dilation[i] * (kernel[i] - 1) / 2;
    }
  }

  std::size_t axes;
  Window input, kernel, output, stride, dilation;
  Window padding{0, 0, 0};  ///< before the first element
  std::int64_t groups;
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
};

/// A row of the result: one image, one channel, one place on all windowed axes but the last.
struct RowPlace {
  RowPlace(std::int64_t row, const ConvolutionShape& shape)
      : y(row % shape.output[1]),
        z(row / shape.output[1] % shape.output[0]),
        channel(row / (shape.output[1] * shape.output[0]) % shape.out_channels),
        image(row / (shape.output[1] * shape.output[0] * shape.out_channels)) {}
  std::int64_t y, z, channel, image;
};

/// What a tap brings to a row of the result.
struct Run {
  std::int64_t tap = 0;
  std::int64_t begin = 0;  ///< among the elements that are asked for
  std::int64_t count = 0;
  std::int64_t input = 0;  ///< the place in a row of the input that the first of them gets it from
};

class Convolution {
 public:
  explicit Convolution(const OracleCall& call)
      : input_(call.tensor("input")),
        weight_(call.tensor("weight")),
        bias_(call.optional_tensor("bias")),
        shape_(call) {}

  [[nodiscard]] std::int64_t row_length() const { return shape_.output[2]; }

  void fill(std::int64_t row, std::int64_t first, std::span<double> into) const {
    const RowPlace place(row, shape_);
    if (bias_) std::fill(into.begin(), into.end(), (*bias_)[place.channel]);
    const auto channels = shape_.in_channels / shape_.groups;
    const auto first_channel = place.channel / (shape_.out_channels / shape_.groups) * channels;
    const auto runs = runs_of(first, std::ssize(into));
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto plane = (place.image * shape_.in_channels + first_channel + c) * volume_of(shape_.input);
      const auto taps = (place.channel * channels + c) * volume_of(shape_.kernel);
      for (std::int64_t kz = 0; kz < shape_.kernel[0]; ++kz) {
        const auto z = place.z * shape_.stride[0] - shape_.padding[0] + kz * shape_.dilation[0];
        if (z < 0 || z >= shape_.input[0]) continue;
        for (std::int64_t ky = 0; ky < shape_.kernel[1]; ++ky) {
          const auto y = place.y * shape_.stride[1] - shape_.padding[1] + ky * shape_.dilation[1];
          if (y < 0 || y >= shape_.input[1]) continue;
          const auto line = plane + (z * shape_.input[1] + y) * shape_.input[2];
          const auto row_of_taps = taps + (kz * shape_.kernel[1] + ky) * shape_.kernel[2];
          for (const Run& run : runs) {
            add_scaled(into.subspan(static_cast<std::size_t>(run.begin), static_cast<std::size_t>(run.count)),
                       weight_[row_of_taps + run.tap], input_, line + run.input, shape_.stride[2]);
          }
        }
      }
    }
  }

 private:
  /// Of a row of the kernel, the elements of the result to which each tap brings something from a row of the input.
  [[nodiscard]] std::vector<Run> runs_of(std::int64_t first, std::int64_t count) const {
    const auto stride = shape_.stride[2];
    std::vector<Run> runs;
    for (std::int64_t k = 0; k < shape_.kernel[2]; ++k) {
      const auto start = first * stride - shape_.padding[2] + k * shape_.dilation[2];
      const auto begin = start >= 0 ? 0 : (-start + stride - 1) / stride;
      const auto end = std::min(count, start >= shape_.input[2] ? 0 : (shape_.input[2] - 1 - start) / stride + 1);
      if (begin < end) runs.push_back({k, begin, end - begin, start + begin * stride});
    }
    return runs;
  }

  Operand input_;
  Operand weight_;
  std::optional<Operand> bias_;
  ConvolutionShape shape_;
};

/// Sums of elements whose places have the same remainder lie side by side, for a tap adds to every stride-th of them.
class Phases {
 public:
  Phases(std::int64_t stride, std::size_t count)
      : stride_(stride),
        count_(static_cast<std::int64_t>(count)),
        length_((count_ + stride - 1) / stride),
        sums_(static_cast<std::size_t>(stride * length_), 0.0) {}

  /// The sums of the elements `place`, `place` + stride, ...
  [[nodiscard]] std::span<double> from(std::int64_t place, std::int64_t elements) {
    return std::span(sums_).subspan(static_cast<std::size_t>(place % stride_ * length_ + place / stride_),
                                    static_cast<std::size_t>(elements));
  }
  void add_to(std::span<double> into) const {
    for (std::int64_t i = 0; i < count_; ++i)
      into[static_cast<std::size_t>(i)] += sums_[static_cast<std::size_t>(i % stride_ * length_ + i / stride_)];
  }

 private:
  std::int64_t stride_, count_;
  std::int64_t length_;  ///< of the sums of one remainder
  std::vector<double> sums_;
};

/// An element gets what the taps bring that end on it: input place * stride - padding + tap * dilation.
class TransposedConvolution {
 public:
  explicit TransposedConvolution(const OracleCall& call)
      : input_(call.tensor("input")),
        weight_(call.tensor("weight")),
        bias_(call.optional_tensor("bias")),
        shape_(call) {}

  [[nodiscard]] std::int64_t row_length() const { return shape_.output[2]; }

  void fill(std::int64_t row, std::int64_t first, std::span<double> into) const {
    const RowPlace place(row, shape_);
    if (bias_) std::fill(into.begin(), into.end(), (*bias_)[place.channel]);
    const auto out_channels = shape_.out_channels / shape_.groups;
    const auto channels = shape_.in_channels / shape_.groups;
    const auto group = place.channel / out_channels;
    const auto lines = lines_to(place);
    const auto runs = runs_of(first, std::ssize(into));
    Phases phases(shape_.stride[2], into.size());
    for (std::int64_t c = group * channels; c < (group + 1) * channels; ++c) {
      const auto plane = (place.image * shape_.in_channels + c) * volume_of(shape_.input);
      const auto taps = (c * out_channels + place.channel % out_channels) * volume_of(shape_.kernel);
      for (const auto& line : lines) {
        for (const Run& run : runs) {
          add_scaled(phases.from(run.begin, run.count), weight_[taps + line.taps + run.tap], input_,
                     plane + line.input + run.input, 1);
        }
      }
    }
    phases.add_to(into);
  }

 private:
  /// A row of the input and the row of the kernel that brings it to a row of the result, within a channel.
  struct Line {
    std::int64_t input = 0;
    std::int64_t taps = 0;
  };

  [[nodiscard]] std::vector<Line> lines_to(const RowPlace& place) const {
    std::vector<Line> lines;
    for (std::int64_t kz = 0; kz < shape_.kernel[0]; ++kz) {
      const auto z = source(0, place.z, kz);
      for (std::int64_t ky = 0; z >= 0 && ky < shape_.kernel[1]; ++ky) {
        const auto y = source(1, place.y, ky);
        if (y < 0) continue;
        lines.push_back({(z * shape_.input[1] + y) * shape_.input[2], (kz * shape_.kernel[1] + ky) * shape_.kernel[2]});
      }
    }
    return lines;
  }

  /// The place of the input that brings tap `tap` to the element; -1 where there is none.
  [[nodiscard]] std::int64_t source(std::size_t axis, std::int64_t element, std::int64_t tap) const {
    const auto reach = element + shape_.padding[axis] - tap * shape_.dilation[axis];
    if (reach < 0 || reach % shape_.stride[axis] != 0) return -1;
    return reach / shape_.stride[axis] < shape_.input[axis] ? reach / shape_.stride[axis] : -1;
  }

  /// Elements `begin`, `begin` + stride, ... get what neighbours in a row of the input bring.
  [[nodiscard]] std::vector<Run> runs_of(std::int64_t first, std::int64_t count) const {
    const auto stride = shape_.stride[2];
    std::vector<Run> runs;
    for (std::int64_t k = 0; k < shape_.kernel[2]; ++k) {
      // Element `first` + i gets the place x of the input where x * stride = i + offset.
      const auto offset = first + shape_.padding[2] - k * shape_.dilation[2];
      const auto begin = offset > 0 ? (offset + stride - 1) / stride : 0;
      const auto last = count - 1 + offset;
      const auto end = std::min(shape_.input[2], last >= 0 ? last / stride + 1 : 0);
      if (begin < end) runs.push_back({k, begin * stride - offset, end - begin, begin});
    }
    return runs;
  }

  Operand input_;
  Operand weight_;
  std::optional<Operand> bias_;
  ConvolutionShape shape_;
};

template <typename Kind>
Result<Answer> convolution(const OracleCall& call) {
  const auto kind = std::make_shared<const Kind>(call);
  return row_by_row(kind->row_length(), [kind](std::int64_t row, std::int64_t first, std::span<double> into) {
    kind->fill(row, first, into);
  });
}

constexpr std::array k_convolution_answers = {
    OracleRow{"conv1d", convolution<Convolution>},
    OracleRow{"conv2d", convolution<Convolution>},
    OracleRow{"conv3d", convolution<Convolution>},
    OracleRow{"conv_transpose1d", convolution<TransposedConvolution>},
    OracleRow{"conv_transpose2d", convolution<TransposedConvolution>},
    OracleRow{"conv_transpose3d", convolution<TransposedConvolution>},
};

}  // namespace

std::span<const OracleRow> convolution_answers() {
  return k_convolution_answers;
}

}  // namespace kw::program_oracle
