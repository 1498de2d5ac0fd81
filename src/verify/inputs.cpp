#include "verify/inputs.hpp"

#include "base/rng.hpp"

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
      return 1.0F;
  }
  return 1.0F;
}

std::vector<float> fill(std::int64_t elements, std::int64_t row_length, std::int64_t sequence,
                        Distribution distribution, Rng rng) {
  std::vector<float> values(static_cast<std::size_t>(elements));
  for (std::int64_t start = 0; start < elements; start += row_length) {
    const std::int64_t position = (start / row_length) % sequence;
    const double place = sequence > 1 ? static_cast<double>(position) / static_cast<double>(sequence - 1) : 1.0;
    const float scale = row_scale(distribution, place, rng);
    for (std::int64_t i = start; i < start + row_length; ++i) {
      const double value = distribution == Distribution::uniform ? rng.uniform() : rng.normal();
      values[static_cast<std::size_t>(i)] = scale * static_cast<float>(value);
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
  }
  return "unknown";
}

const std::vector<Distribution>& all_distributions() {
  static const std::vector<Distribution> all = {Distribution::normal, Distribution::uniform, Distribution::spikes,
                                                Distribution::late};
  return all;
}

Result<InputValues> make_inputs(const Problem& problem, const Workload& workload, Distribution distribution,
                                std::uint64_t seed) {
  Rng rng(seed);
  InputValues inputs;
  for (const auto& tensor : problem.inputs) {
    KW_TRY(const std::int64_t elements, element_count(tensor, workload.axes));
    const auto extent = [&](std::size_t from_inside) {
      return tensor.axes.size() > from_inside
                 ? workload.axes.find(tensor.axes[tensor.axes.size() - 1 - from_inside])->second
                 : 1;
    };
    inputs.push_back(fill(elements, extent(0), extent(1), distribution, rng.split(inputs.size())));
  }
  return inputs;
}

}  // namespace kw
