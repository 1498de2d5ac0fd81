// F.interpolate: elements at other distances.

#include <algorithm>
#include <array>
#include <cmath>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/windows.hpp"

namespace kw::program_oracle {
namespace {

/// What an axis contributes to an element: some neighbouring elements, each with its share.
struct Neighbours {
  std::int64_t first = 0;
  std::int64_t count = 1;
  double share_of_first = 1.0;
  double share_of_others = 1.0;
};

/// Elements of the input for one step in the result. A factor counts as it was given, also where the sizes' quotient is
/// another one; 0 where none was.
double step_between(std::int64_t from, std::int64_t to, double factor) {
  return factor > 0.0 ? 1.0 / factor : static_cast<double>(from) / static_cast<double>(to);
}

/// Where an element of the result lies among those of the input, counted from the middle of the first.
double position_of(std::int64_t place, std::int64_t from, std::int64_t to, double factor, bool corners) {
  const auto at = static_cast<double>(place);
  if (!corners) return (at + 0.5) * step_between(from, to, factor) - 0.5;
  return to > 1 ? at * static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0.0;
}

class Resampling {
 public:
  explicit Resampling(const OracleCall& call)
      : input_(call.tensor("input")),
        from_(last_extents(input_.extents(), input_.rank() - 2)),
        to_(last_extents(call.output_extents(), input_.rank() - 2)),
        mode_(call.text("mode")),
        corners_(call.given("align_corners") && call.truth("align_corners")),
        factor_(call.number_or("scale_factor", 0.0)) {}

  [[nodiscard]] double operator()(std::int64_t i) const {
    const auto z = neighbours(0, i / (to_[1] * to_[2]) % to_[0]);
    const auto y = neighbours(1, i / to_[2] % to_[1]);
    const auto x = neighbours(2, i % to_[2]);
    const auto plane = i / volume_of(to_) * volume_of(from_);
    const auto share = [](const Neighbours& of, std::int64_t k) {
      return k == 0 ? of.share_of_first : of.share_of_others;
    };
    double sum = 0.0;
    for (std::int64_t a = 0; a < z.count; ++a) {
      for (std::int64_t b = 0; b < y.count; ++b) {
        for (std::int64_t c = 0; c < x.count; ++c) {
          const auto at = plane + ((z.first + a) * from_[1] + y.first + b) * from_[2] + x.first + c;
          sum += share(z, a) * share(y, b) * share(x, c) * input_[at];
        }
      }
    }
    return sum;
  }

 private:
  [[nodiscard]] Neighbours neighbours(std::size_t axis, std::int64_t place) const {
    const auto from = from_[axis];
    if (mode_ == "area") {
      const auto first = place * from / to_[axis];
      const auto count = ((place + 1) * from + to_[axis] - 1) / to_[axis] - first;
      return {first, count, 1.0 / static_cast<double>(count), 1.0 / static_cast<double>(count)};
    }
    if (mode_.starts_with("nearest")) {
      if (from_[axis] == to_[axis] && factor_ <= 0.0) return {place};
      const double middle = static_cast<double>(place) + (mode_ == "nearest" ? 0.0 : 0.5);
      const double exact = middle * step_between(from, to_[axis], factor_);
      return {std::min(static_cast<std::int64_t>(std::floor(exact)), from - 1)};
    }
    const double exact = std::max(0.0, position_of(place, from, to_[axis], factor_, corners_));
    const auto first = std::min(static_cast<std::int64_t>(exact), from - 1);
    const double behind = std::min(exact - static_cast<double>(first), 1.0);
    if (first + 1 >= from) return {first};
    return {first, 2, 1.0 - behind, behind};
  }

  Operand input_;
  Window from_;
  Window to_;
  std::string mode_;
  bool corners_;
  double factor_;
};

/// Each pixel's share by its distance: Keys, "Cubic convolution interpolation for digital image processing" (1981),
/// with a = -0.75.
double cubic_share(double distance) {
  constexpr double k_a = -0.75;
  const double x = std::fabs(distance);
  if (x <= 1.0) return (k_a + 2.0) * x * x * x - (k_a + 3.0) * x * x + 1.0;
  if (x < 2.0) return k_a * (x * x * x - 5.0 * x * x + 8.0 * x - 4.0);
  return 0.0;
}

/// Images enlarged and reduced by cubics: pixels outside of the image are those at its edge.
Result<Answer> bicubic(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto extents = call.output_extents();
  const bool corners = call.given("align_corners") && call.truth("align_corners");
  const double factor = call.number_or("scale_factor", 0.0);
  const auto height = input.extent(2);
  const auto width = input.extent(3);
  return each_element([=](std::int64_t i) {
    const double row = position_of(i / extents[3] % extents[2], height, extents[2], factor, corners);
    const double column = position_of(i % extents[3], width, extents[3], factor, corners);
    const auto image = i / (extents[2] * extents[3]) * height * width;
    const auto top = static_cast<std::int64_t>(std::floor(row)) - 1;
    const auto left = static_cast<std::int64_t>(std::floor(column)) - 1;
    double sum = 0.0;
    for (std::int64_t y = top; y < top + 4; ++y) {
      for (std::int64_t x = left; x < left + 4; ++x) {
        const auto at =
            image + std::clamp<std::int64_t>(y, 0, height - 1) * width + std::clamp<std::int64_t>(x, 0, width - 1);
        sum += input[at] * cubic_share(row - static_cast<double>(y)) * cubic_share(column - static_cast<double>(x));
      }
    }
    return sum;
  });
}

Result<Answer> interpolate(const OracleCall& call) {
  if (call.text("mode") == "bicubic") return bicubic(call);
  return each_element([resampling = Resampling(call)](std::int64_t i) { return resampling(i); });
}

constexpr std::array k_resampling_answers = {OracleRow{"interpolate", interpolate}};

}  // namespace

std::span<const OracleRow> resampling_answers() {
  return k_resampling_answers;
}

}  // namespace kw::program_oracle
