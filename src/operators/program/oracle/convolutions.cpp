// Convolutions and transposed convolutions, grouped, strided, dilated.

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/tap_sums.hpp"
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

/// A row of the input, and the row of the kernel that brings something from it to a row of the result; within a
/// channel.
struct Meeting {
  std::int64_t input = 0;
  std::int64_t taps = 0;
};

class Convolution {
 public:
  explicit Convolution(const ConvolutionShape& shape) : shape_(shape) {}

  /// For elements `first`, `first` + 1, ... of a row of the result.
  [[nodiscard]] TapPlan plan(std::int64_t first, std::int64_t count) const {
    const auto stride = shape_.stride[2];
    TapPlan plan{{}, count, 1, first * stride - shape_.padding[2], 1, stride};
    for (std::int64_t k = 0; k < shape_.kernel[2]; ++k) {
      const auto place = k * shape_.dilation[2];
      plan.taps.push_back({k, place % stride, place / stride, 0});
      plan.lanes = std::max(plan.lanes, place % stride + 1);
    }
    return plan;
  }

  [[nodiscard]] std::vector<Meeting> meetings(const RowPlace& place) const {
    std::vector<Meeting> all;
    for (std::int64_t kz = 0; kz < shape_.kernel[0]; ++kz) {
      const auto z = place.z * shape_.stride[0] - shape_.padding[0] + kz * shape_.dilation[0];
      if (z < 0 || z >= shape_.input[0]) continue;
      for (std::int64_t ky = 0; ky < shape_.kernel[1]; ++ky) {
        const auto y = place.y * shape_.stride[1] - shape_.padding[1] + ky * shape_.dilation[1];
        if (y < 0 || y >= shape_.input[1]) continue;
        all.push_back({(z * shape_.input[1] + y) * shape_.input[2], (kz * shape_.kernel[1] + ky) * shape_.kernel[2]});
      }
    }
    return all;
  }

  /// The kernel of channel `c` of the input's group, for a channel of the result; counted in kernels.
  [[nodiscard]] std::int64_t kernel_of(std::int64_t c, const RowPlace& place) const {
    return place.channel * (shape_.in_channels / shape_.groups) + c;
  }

 private:
  const ConvolutionShape& shape_;
};

/// An element gets what the taps bring that end on it: input place * stride - padding + tap * dilation.
class TransposedConvolution {
 public:
  explicit TransposedConvolution(const ConvolutionShape& shape) : shape_(shape) {}

  [[nodiscard]] TapPlan plan(std::int64_t first, std::int64_t count) const {
    const auto stride = shape_.stride[2];
    TapPlan plan{{}, count, stride, 0, 1, 1};
    // Element `first` + e gets the place x of the input where x * stride = e + offset.
    const auto offset_of = [&](std::int64_t k) { return first + shape_.padding[2] - k * shape_.dilation[2]; };
    const auto begin_of = [&](std::int64_t k) { return (stride - remainder(offset_of(k), stride)) % stride; };
    const auto place_of_begin = [&](std::int64_t k) { return (begin_of(k) + offset_of(k)) / stride; };
    plan.start = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t k = 0; k < shape_.kernel[2]; ++k) plan.start = std::min(plan.start, place_of_begin(k));
    for (std::int64_t k = 0; k < shape_.kernel[2]; ++k) {
      if (begin_of(k) < count) plan.taps.push_back({k, 0, place_of_begin(k) - plan.start, begin_of(k)});
    }
    std::ranges::stable_sort(plan.taps, {}, &TapPlan::Tap::sums);
    return plan;
  }

  [[nodiscard]] std::vector<Meeting> meetings(const RowPlace& place) const {
    std::vector<Meeting> all;
    for (std::int64_t kz = 0; kz < shape_.kernel[0]; ++kz) {
      const auto z = source(0, place.z, kz);
      for (std::int64_t ky = 0; z >= 0 && ky < shape_.kernel[1]; ++ky) {
        const auto y = source(1, place.y, ky);
        if (y < 0) continue;
        all.push_back({(z * shape_.input[1] + y) * shape_.input[2], (kz * shape_.kernel[1] + ky) * shape_.kernel[2]});
      }
    }
    return all;
  }

  [[nodiscard]] std::int64_t kernel_of(std::int64_t c, const RowPlace& place) const {
    const auto out_channels = shape_.out_channels / shape_.groups;
    const auto group = place.channel / out_channels;
    return (group * (shape_.in_channels / shape_.groups) + c) * out_channels + place.channel % out_channels;
  }

 private:
  /// Not negative.
  [[nodiscard]] static std::int64_t remainder(std::int64_t value, std::int64_t divisor) {
    return (value % divisor + divisor) % divisor;
  }

  /// The place of the input that brings tap `tap` to the element; -1 where there is none.
  [[nodiscard]] std::int64_t source(std::size_t axis, std::int64_t element, std::int64_t tap) const {
    const auto reach = element + shape_.padding[axis] - tap * shape_.dilation[axis];
    if (reach < 0 || reach % shape_.stride[axis] != 0) return -1;
    return reach / shape_.stride[axis] < shape_.input[axis] ? reach / shape_.stride[axis] : -1;
  }

  const ConvolutionShape& shape_;
};

/// Rows that one plan serves: threads share the others.
constexpr std::size_t k_rows_of_a_plan = 4;

/// Rows of the result, by how a kind of convolution moves its kernel over the input.
template <typename Kind>
class ConvolutionRows {
 public:
  explicit ConvolutionRows(const OracleCall& call)
      : input_(call.tensor("input")),
        weight_(call.tensor("weight")),
        bias_(call.optional_tensor("bias")),
        shape_(call) {}

  [[nodiscard]] std::int64_t length() const { return shape_.output[2]; }
  [[nodiscard]] std::int64_t terms() const { return channels() * volume_of(shape_.kernel); }

  /// As BySpan wants it.
  void fill(std::span<const std::int64_t> rows, std::int64_t first, std::span<const std::span<double>> into) const {
    const Kind kind(shape_);
    const auto plan = kind.plan(first, std::ssize(into.front()));
    TapSums sums(input_, shape_.input[2], weight_, plan);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const RowPlace place(rows[i], shape_);
      add_meetings(kind, place, sums);
      if (bias_) std::ranges::fill(into[i], (*bias_)[place.channel]);
      sums.add_to(into[i]);
    }
  }

  /// Of the input.
  void add_reads(const RowPart& part, Ranges& ranges) const {
    const Kind kind(shape_);
    const RowPlace place(part.row, shape_);
    const ElementRange places = places_of(kind.plan(part.first, part.count), shape_.input[2]);
    if (places.begin >= places.end) return;
    const auto meetings = kind.meetings(place);
    for (std::int64_t c = 0; c < channels(); ++c) {
      for (const auto& one : meetings) {
        const auto row = plane_of(c, place) + one.input;
        ranges.push_back({row + places.begin, row + places.end});
      }
    }
  }

 private:
  void add_meetings(const Kind& kind, const RowPlace& place, TapSums& sums) const {
    const auto meetings = kind.meetings(place);
    for (std::int64_t c = 0; c < channels(); ++c) {
      const auto taps = kind.kernel_of(c, place) * volume_of(shape_.kernel);
      for (const auto& one : meetings) sums.add(plane_of(c, place) + one.input, taps + one.taps);
    }
  }
  /// Of the input's group.
  [[nodiscard]] std::int64_t channels() const { return shape_.in_channels / shape_.groups; }
  /// The first element of channel `c` of the group that a row of the result follows from.
  [[nodiscard]] std::int64_t plane_of(std::int64_t c, const RowPlace& place) const {
    const auto first = place.channel / (shape_.out_channels / shape_.groups) * channels();
    return (place.image * shape_.in_channels + first + c) * volume_of(shape_.input);
  }

  Operand input_;
  Operand weight_;
  std::optional<Operand> bias_;
  ConvolutionShape shape_;
};

template <typename Kind>
Result<Answer> convolution(const OracleCall& call) {
  const auto rows = std::make_shared<const ConvolutionRows<Kind>>(call);
  return BySpan{rows->length(), rows->terms(), k_rows_of_a_plan,
                [rows](std::span<const std::int64_t> some, std::int64_t first,
                       std::span<const std::span<double>> into) { rows->fill(some, first, into); },
                [rows](const RowPart& part, Ranges& ranges) { rows->add_reads(part, ranges); }};
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
