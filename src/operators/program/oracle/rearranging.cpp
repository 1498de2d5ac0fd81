// Layout operators that no strides describe: copies along axes, rotations, triangles, padding, patches, pixels.

#include <algorithm>
#include <array>
#include <cmath>

#include "operators/program/oracle/answers.hpp"

namespace kw::program_oracle {
namespace {

std::int64_t wrapped(std::int64_t index, std::int64_t extent) {
  return ((index % extent) + extent) % extent;
}

/// Repeats lie behind each other; new axes come first.
Result<Answer> repeat(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto to = call.output_extents();
  const auto added = to.size() - input.rank();
  return each_element([input, to, added, strides = strides_of(input.extents())](std::int64_t i) {
    const auto place = place_of(i, to);
    std::int64_t at = 0;
    for (std::size_t k = 0; k < input.rank(); ++k) at += place[k + added] % input.extent(k) * strides[k];
    return input[at];
  });
}

/// Each element several times in a row; of all elements in their order where no axis is named.
Result<Answer> repeat_interleave(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto repeats = call.integer("repeats");
  const Extents from = call.given("dim") ? input.extents() : Extents{input.count()};
  const Lines to(call.output_extents(), call.given("dim") ? call.axis("dim", from.size()) : 0);
  return each_element([input, repeats, to](std::int64_t i) {
    const auto line = to.line_of(i);
    const auto length = to.length / repeats;
    return input[line / to.stride * length * to.stride + line % to.stride + to.position_of(i) / repeats * to.stride];
  });
}

/// Element i comes from i - shift; without axes of the tensor as one line.
Result<Answer> roll(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto shifts = call.integers("shifts");
  if (call.integers("dims").empty()) {
    return each_element(
        [input, shift = shifts[0]](std::int64_t i) { return input[wrapped(i - shift, input.count())]; });
  }
  const auto axes = call.axes("dims", input.rank());
  return each_element([input, shifts, axes, strides = strides_of(input.extents())](std::int64_t i) {
    auto place = place_of(i, input.extents());
    for (std::size_t k = 0; k < axes.size(); ++k)
      place[axes[k]] = wrapped(place[axes[k]] - shifts[k], input.extent(axes[k]));
    std::int64_t at = 0;
    for (std::size_t k = 0; k < strides.size(); ++k) at += place[k] * strides[k];
    return input[at];
  });
}

Result<Answer> triangle(const OracleCall& call, bool lower) {
  const auto input = call.tensor("input");
  const auto rows = input.extent(input.rank() - 2);
  const auto columns = input.extent(input.rank() - 1);
  return each_element([input, rows, columns, lower, diagonal = call.integer("diagonal")](std::int64_t i) {
    const auto above = i % columns - i / columns % rows;
    return (lower ? above <= diagonal : above >= diagonal) ? input[i] : 0.0;
  });
}

/// Where padding reads: -1 for outside.
std::int64_t padded_source(std::int64_t index, std::int64_t extent, std::string_view mode) {
  if (index >= 0 && index < extent) return index;
  if (mode == "replicate") return std::clamp<std::int64_t>(index, 0, extent - 1);
  if (mode == "circular") return wrapped(index, extent);
  if (mode == "reflect") return index < 0 ? -index : 2 * (extent - 1) - index;
  return -1;
}

/// Amounts stand in pairs (before, behind) from the last axis on; negative ones cut off.
Result<Answer> pad(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto amounts = call.integers("pad");
  Extents before(input.rank(), 0);
  for (std::size_t i = 0; i < amounts.size(); i += 2) before[input.rank() - 1 - i / 2] = amounts[i];
  return each_element([input, before, to = call.output_extents(), strides = strides_of(input.extents()),
                       mode = call.text("mode"), value = call.number_or("value", 0.0)](std::int64_t i) {
    const auto place = place_of(i, to);
    std::int64_t at = 0;
    for (std::size_t k = 0; k < to.size(); ++k) {
      const auto source = padded_source(place[k] - before[k], input.extent(k), mode);
      if (source < 0) return value;
      at += source * strides[k];
    }
    return input[at];
  });
}

/// [..., C * r * r, H, W] to [..., C, H * r, W * r].
Result<Answer> pixel_shuffle(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto to = call.output_extents();
  const auto r = call.integer("upscale_factor");
  return each_element([input, to, r](std::int64_t i) {
    const auto width = to.back();
    const auto height = to[to.size() - 2];
    const auto column = i % width;
    const auto row = i / width % height;
    const auto channel = i / (width * height);  // with what stands before the channels
    const auto from = (channel * r + row % r) * r + column % r;
    return input[(from * (height / r) + row / r) * (width / r) + column / r];
  });
}

/// The other way round.
Result<Answer> pixel_unshuffle(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto to = call.output_extents();
  const auto r = call.integer("downscale_factor");
  return each_element([input, to, r](std::int64_t i) {
    const auto width = to.back();
    const auto height = to[to.size() - 2];
    const auto from = i / (width * height);
    const auto row = i / width % height * r + from / r % r;
    const auto column = i % width * r + from % r;
    return input[(from / (r * r) * (height * r) + row) * (width * r) + column];
  });
}

/// F.unfold: [N, C, H, W] to [N, C * kernel, places], 0 in the padding.
Result<Answer> unfold(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto kernel = call.integers("kernel_size");
  const auto stride = call.integers("stride");
  const auto padding = call.integers("padding");
  const auto dilation = call.integers("dilation");
  const auto places = call.output_extents()[2];
  const auto across = (input.extent(3) + 2 * padding[1] - dilation[1] * (kernel[1] - 1) - 1) / stride[1] + 1;
  return each_element([=](std::int64_t i) {
    const auto place = i % places;
    const auto tap = i / places % (kernel[0] * kernel[1]);
    const auto plane = i / places / (kernel[0] * kernel[1]);  // batch and channel
    const auto row = place / across * stride[0] - padding[0] + tap / kernel[1] * dilation[0];
    const auto column = place % across * stride[1] - padding[1] + tap % kernel[1] * dilation[1];
    if (row < 0 || column < 0 || row >= input.extent(2) || column >= input.extent(3)) return 0.0;
    return input[(plane * input.extent(2) + row) * input.extent(3) + column];
  });
}

constexpr std::array k_rearranging_answers = {
    OracleRow{"repeat", repeat},
    OracleRow{"tile", repeat},
    OracleRow{"repeat_interleave", repeat_interleave},
    OracleRow{"roll", roll},
    OracleRow{"tril", [](const OracleCall& call) { return triangle(call, true); }},
    OracleRow{"triu", [](const OracleCall& call) { return triangle(call, false); }},
    OracleRow{"pad", pad},
    OracleRow{"pixel_shuffle", pixel_shuffle},
    OracleRow{"pixel_unshuffle", pixel_unshuffle},
    OracleRow{"unfold", unfold},
};

}  // namespace

std::span<const OracleRow> rearranging_answers() {
  return k_rearranging_answers;
}

}  // namespace kw::program_oracle
