#include "verify/inputs.hpp"

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "verify/levelling.hpp"
#include "verify/storage.hpp"

namespace kw {
namespace {

constexpr float k_spike = 6.0F;
constexpr std::int64_t k_rows_per_spike = 32;

/// Factor on row `row` of `rows` at position `place` (0 to 1) along the second-innermost axis.
float row_scale(Distribution distribution, double place, Rng& rng) {
  switch (distribution) {
    case Distribution::spikes:
      return rng.below(k_rows_per_spike) == 0 ? k_spike : 1.0F;
    case Distribution::late:
      return static_cast<float>(std::exp2(4.0 * place - 2.0));
    case Distribution::normal:
    case Distribution::uniform:
    case Distribution::offset:
    case Distribution::level:
      return 1.0F;
  }
  return 1.0F;
}

/// What every element of a row at `place` is moved by: products of rows of the first and second tensor come to +-120
/// when they are divided by the root of their length.
float row_offset(Distribution distribution, std::size_t tensor, std::int64_t row_length, double place) {
  constexpr double k_product = 120.0;
  if (distribution != Distribution::offset) return 0.0F;
  const double magnitude = std::sqrt(k_product) / std::pow(static_cast<double>(row_length), 0.25);
  return static_cast<float>(tensor == 0 && place > 0.5 ? -magnitude : magnitude);
}

struct TensorShape {
  std::size_t index;          ///< among the operands
  std::int64_t elements;      ///< all
  std::int64_t row_length;    ///< extent of the innermost axis
  std::int64_t sequence = 1;  ///< extent of the axis outside of that
};

std::vector<float> fill(const TensorShape& shape, Distribution distribution, Rng rng) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements));
  for (std::int64_t start = 0; start < shape.elements; start += shape.row_length) {
    const std::int64_t position = (start / shape.row_length) % shape.sequence;
    const double place =
        shape.sequence > 1 ? static_cast<double>(position) / static_cast<double>(shape.sequence - 1) : 1.0;
    const float scale = row_scale(distribution, place, rng);
    const float offset = row_offset(distribution, shape.index, shape.row_length, place);
    for (std::int64_t i = start; i < start + shape.row_length; ++i) {
      const double value = distribution == Distribution::uniform ? rng.uniform() : rng.normal();
      values[static_cast<std::size_t>(i)] = offset + scale * static_cast<float>(value);
    }
  }
  return values;
}

}  // namespace

std::string_view to_string(Distribution distribution) {
  switch (distribution) {
    case Distribution::normal:
      return "normal";
    case Distribution::uniform:
      return "uniform";
    case Distribution::spikes:
      return "spikes";
    case Distribution::late:
      return "late";
    case Distribution::offset:
      return "offset";
    case Distribution::level:
      return "level";
  }
  return "unknown";
}

const std::vector<Distribution>& all_distributions() {
  static const std::vector<Distribution> all = {Distribution::normal, Distribution::uniform, Distribution::spikes,
                                                Distribution::late,   Distribution::offset,  Distribution::level};
  return all;
}

Result<std::vector<Distribution>> distributions_for(const Problem& problem, const Workload& workload) {
  std::vector<Distribution> chosen = all_distributions();
  // The primary workload is the largest, and what these two show shows on the small ones.
  const bool primary = workload.role == WorkloadRole::primary;
  KW_TRY(const bool uneven, favours_some_keys(problem, workload));
  std::erase_if(chosen, [&](Distribution distribution) {
    return (distribution == Distribution::offset && primary) ||
           (distribution == Distribution::level && (primary || !uneven));
  });
  return chosen;
}

Result<InputValues> make_inputs(const Problem& problem, const Workload& workload, Distribution distribution,
                                InputSeeds seeds) {
  Rng rng(seeds.operands);
  InputValues inputs;
  for (std::size_t i = 0; i < problem.operand_count(); ++i) {
    const TensorSpec& tensor = problem.inputs[i];
    TensorShape shape{i, 0, 1};
    KW_TRY(shape.elements, element_count(tensor, workload.axes));
    const auto extent = [&](std::size_t from_inside) {
      return tensor.axes.size() > from_inside
                 ? workload.axes.find(tensor.axes[tensor.axes.size() - 1 - from_inside])->second
                 : 1;
    };
    shape.row_length = extent(0);
    shape.sequence = extent(1);
    inputs.push_back(fill(shape, distribution, rng.split(i)));
  }
  KW_TRY(CaptureData captures, draw_captures(problem, workload.axes, seeds.captures));
  if (distribution == Distribution::level) level_scores(problem, workload, captures, inputs, rng);
  for (const auto& capture : problem.captures) {
    inputs.push_back(std::move(captures.find(capture.declared.name)->second.values));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) round_to(problem.inputs[i].dtype, inputs[i]);
  return inputs;
}

}  // namespace kw
