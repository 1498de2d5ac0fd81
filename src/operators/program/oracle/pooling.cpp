// Windows that become one number: the largest, with its place, or the mean; also with windows that follow from the size
// of the result. Of equal elements the first one is the largest.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/windows.hpp"

namespace kw::program_oracle {
namespace {

/// One window along one axis: elements first, first + step, ... before end; `size` as averages count it.
struct WindowRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
  std::int64_t size = 1;
};

/// The windows of a call, which are the same for all planes.
struct PoolingWindows {
  explicit PoolingWindows(const OracleCall& call)
      : axes(window_axes(call.op())),
        adaptive(call.op().starts_with("adaptive")),
        input(last_extents(call.tensor("input").extents(), axes)),
        output(last_extents(call.output_extents(), axes)) {
    if (adaptive) return;
    kernel = window_argument(call, "kernel_size", axes, 1);
    stride = call.integers("stride").empty() ? kernel : window_argument(call, "stride", axes, 1);
    padding = window_argument(call, "padding", axes, 0);
    if (call.has("dilation")) dilation = window_argument(call, "dilation", axes, 1);
  }

  [[nodiscard]] WindowRange range(std::size_t axis, std::int64_t place) const {
    const auto extent = input[axis];
    if (adaptive) {
      const auto first = place * extent / output[axis];
      const auto end = ((place + 1) * extent + output[axis] - 1) / output[axis];
      return {first, end, 1, end - first};
    }
    const auto start = place * stride[axis] - padding[axis];
    const auto end = start + (kernel[axis] - 1) * dilation[axis] + 1;
    // A last window by ceil_mode may reach beyond the padding, which no average counts.
    const auto size = std::min(end, extent + padding[axis]) - start;
    const auto first = start >= 0 ? start : start + (-start + dilation[axis] - 1) / dilation[axis] * dilation[axis];
    return {first, std::min(end, extent), dilation[axis], size};
  }

  /// visit(element of the plane) for all elements of the window; returns how many its padding and itself count.
  template <typename Visit>
  std::int64_t walk(std::int64_t element, Visit visit) const {
    const auto z = range(0, element / (output[1] * output[2]) % output[0]);
    const auto y = range(1, element / output[2] % output[1]);
    const auto x = range(2, element % output[2]);
    for (auto i = z.first; i < z.end; i += z.step) {
      for (auto j = y.first; j < y.end; j += y.step) {
        for (auto k = x.first; k < x.end; k += x.step) visit((i * input[1] + j) * input[2] + k);
      }
    }
    return z.size * y.size * x.size;
  }

  std::size_t axes;
  bool adaptive;
  Window input, output;
  Window kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  Window padding{0, 0, 0};
};

/// The place counts within the plane. NaN is larger than everything.
Result<Answer> max_pool(const OracleCall& call) {
  return by_place(
      ByElement{[input = call.tensor("input"), windows = PoolingWindows(call)](std::size_t output, std::int64_t i) {
        const auto plane = i / volume_of(windows.output) * volume_of(windows.input);
        double largest = -std::numeric_limits<double>::infinity();
        std::int64_t place = -1;
        windows.walk(i, [&](std::int64_t at) {
          const double x = input[plane + at];
          if (place >= 0 && !(x > largest || (std::isnan(x) && !std::isnan(largest)))) return;
          largest = x;
          place = at;
        });
        return output == 0 ? largest : static_cast<double>(place);
      }});
}

Result<Answer> avg_pool(const OracleCall& call) {
  const bool with_padding = call.has("count_include_pad") && call.truth("count_include_pad");
  const double divisor = call.given("divisor_override") ? call.number("divisor_override") : 0.0;
  return by_place(each_element(
      [input = call.tensor("input"), windows = PoolingWindows(call), with_padding, divisor](std::int64_t i) {
        const auto plane = i / volume_of(windows.output) * volume_of(windows.input);
        double sum = 0.0;
        std::int64_t inside = 0;
        const auto size = windows.walk(i, [&](std::int64_t at) {
          sum += input[plane + at];
          ++inside;
        });
        if (inside == 0) return 0.0;
        return sum / (divisor != 0.0 ? divisor : static_cast<double>(with_padding ? size : inside));
      }));
}

constexpr std::array k_pooling_answers = {
    OracleRow{"max_pool1d", max_pool},          OracleRow{"max_pool2d", max_pool},
    OracleRow{"max_pool3d", max_pool},          OracleRow{"avg_pool1d", avg_pool},
    OracleRow{"avg_pool2d", avg_pool},          OracleRow{"avg_pool3d", avg_pool},
    OracleRow{"adaptive_avg_pool1d", avg_pool}, OracleRow{"adaptive_avg_pool2d", avg_pool},
    OracleRow{"adaptive_avg_pool3d", avg_pool}, OracleRow{"adaptive_max_pool1d", max_pool},
    OracleRow{"adaptive_max_pool2d", max_pool}, OracleRow{"adaptive_max_pool3d", max_pool},
};

}  // namespace

std::span<const OracleRow> pooling_answers() {
  return k_pooling_answers;
}

}  // namespace kw::program_oracle
