#include "problem/captures/generators.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "problem/captures/captures.hpp"

namespace kw {
namespace {

constexpr double k_max_generated_whole = 16777216.0;  // 2^24
const std::vector<DType> k_integers = {DType::i32};
const std::vector<DType> k_reals = {DType::f32, DType::f16, DType::bf16};
const std::vector<DType> k_truths = {DType::boolean, DType::i32};

std::int64_t elements(std::span<const std::int64_t> extents) {
  std::int64_t count = 1;
  for (const auto extent : extents) count *= extent;
  return count;
}

tl::unexpected<Error> refuse_generator(std::string message, std::string hint) {
  return fail(Error{errc::capture_values, std::move(message), std::move(hint)});
}

Result<std::int64_t> whole(const GeneratorInput& input, std::string_view name) {
  const double value = input.numbers.find(name)->second;
  if (value == std::floor(value) && std::fabs(value) <= k_max_generated_whole) return static_cast<std::int64_t>(value);
  return refuse_generator(fmt::format("{} = {} is not a whole number within 2^24", name, value),
                          "round it with // or floor");
}

template <typename Draw>
std::vector<double> each(const GeneratorInput& input, Draw&& draw) {
  std::vector<double> values(static_cast<std::size_t>(elements(input.extents)));
  std::generate(values.begin(), values.end(), draw);
  return values;
}

/// Each row: 0, then the ends of `parts` parts of `total`, each at least `least` long.
Result<std::vector<double>> draw_offsets(const GeneratorInput& input, Rng& rng) {
  KW_TRY(const auto total, whole(input, "total"));
  KW_TRY(const auto least, whole(input, "least"));
  const auto parts = input.extents.back() - 1;
  if (parts < 1) return refuse_generator("offsets need an axis of at least 2: where the parts begin, and the end", {});
  const auto spare = total - parts * least;
  if (least < 0 || spare < 0) {
    return refuse_generator(fmt::format("{} parts of at least {} do not fit into {}", parts, least, total),
                            "choose a smaller 'least', fewer parts or a larger 'total'");
  }
  std::vector<double> values;
  for (std::int64_t row = elements(input.extents) / input.extents.back(); row > 0; --row) {
    std::vector<std::int64_t> cuts = {0, spare};
    for (std::int64_t i = 1; i < parts; ++i) cuts.push_back(rng.below(spare + 1));
    std::sort(cuts.begin(), cuts.end());
    for (std::int64_t i = 0; i <= parts; ++i) {
      values.push_back(static_cast<double>(cuts[static_cast<std::size_t>(i)] + i * least));
    }
  }
  return values;
}

/// The number of the part that each position lies in; positions past the last offset belong to one more part.
Result<std::vector<double>> draw_documents(const GeneratorInput& input, Rng&) {
  const auto& offsets = *input.captures.find("from")->second;
  const auto length = input.extents.back();
  const auto rows = elements(input.extents) / length;
  if (offsets.extents.empty()) return refuse_generator("'from' names a single value", "name a tensor with the offsets");
  const auto ends = offsets.extents.back();
  const auto offset_rows = static_cast<std::int64_t>(offsets.values.size()) / ends;
  if (offset_rows != 1 && offset_rows != rows) {
    return refuse_generator(fmt::format("there are {} rows of offsets for {} rows", offset_rows, rows),
                            "give both tensors the same axes but the last, or the offsets one row");
  }
  std::vector<double> values;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto first = offsets.values.begin() + (offset_rows == 1 ? 0 : row * ends);
    for (std::int64_t position = 0; position < length; ++position) {
      const auto next = std::upper_bound(first, first + ends, static_cast<float>(position));
      values.push_back(static_cast<double>(std::max<std::ptrdiff_t>(next - first, 1) - 1));
    }
  }
  return values;
}

Result<std::vector<double>> draw_integers(const GeneratorInput& input, Rng& rng) {
  KW_TRY(const auto low, whole(input, "low"));
  KW_TRY(const auto high, whole(input, "high"));
  if (low > high) return refuse_generator(fmt::format("low = {} is above high = {}", low, high), "exchange them");
  return each(input, [&rng, low = low, high = high] { return static_cast<double>(low + rng.below(high - low + 1)); });
}

Result<std::vector<double>> draw_uniform(const GeneratorInput& input, Rng& rng) {
  const double low = input.numbers.find("low")->second;
  const double high = input.numbers.find("high")->second;
  if (!(low <= high)) return refuse_generator(fmt::format("low = {} is above high = {}", low, high), "exchange them");
  return each(input, [&] { return low + (high - low) * rng.uniform(); });
}

Result<std::vector<double>> draw_normal(const GeneratorInput& input, Rng& rng) {
  const double mean = input.numbers.find("mean")->second;
  const double scale = input.numbers.find("scale")->second;
  return each(input, [&] { return mean + scale * rng.normal(); });
}

Result<std::vector<double>> draw_coin(const GeneratorInput& input, Rng& rng) {
  const double probability = input.numbers.find("probability")->second;
  return each(input, [&] { return rng.uniform() < probability ? 1.0 : 0.0; });
}

/// [.., i, j]: whether j is i or above it in a random tree whose root is 0 and whose parents come before their
/// children.
Result<std::vector<double>> draw_tree(const GeneratorInput& input, Rng& rng) {
  const auto nodes = input.extents.back();
  const auto size = static_cast<std::size_t>(nodes);
  if (input.extents[input.extents.size() - 2] != nodes) {
    return refuse_generator("the last two axes of a tree differ in length", "name the same axis twice");
  }
  std::vector<double> values(static_cast<std::size_t>(elements(input.extents)), 0.0);
  for (std::size_t tree = 0; tree < values.size(); tree += size * size) {
    for (std::size_t node = 0; node < size; ++node) {
      const auto row = values.begin() + static_cast<std::ptrdiff_t>(tree + node * size);
      if (node > 0) {
        const auto parent = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(node)));
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(tree + parent * size), nodes, row);
      }
      row[static_cast<std::ptrdiff_t>(node)] = 1.0;
    }
  }
  return values;
}

/// Each row: the numbers from 0, shuffled (Fisher and Yates).
Result<std::vector<double>> draw_permutation(const GeneratorInput& input, Rng& rng) {
  const auto length = input.extents.back();
  std::vector<double> values(static_cast<std::size_t>(elements(input.extents)));
  for (auto row = values.begin(); row != values.end(); row += length) {
    for (std::int64_t i = 0; i < length; ++i) {
      const auto at = rng.below(i + 1);
      row[i] = row[at];
      row[at] = static_cast<double>(i);
    }
  }
  return values;
}

const std::vector<CaptureGenerator>& generators() {
  static const std::vector<CaptureGenerator> k_generators = {
      {"offsets", k_integers, 1, true, true, {{"total", {}}, {"least", 1.0}}, {}, draw_offsets},
      {"documents", k_integers, 1, true, true, {}, {"from"}, draw_documents},
      {"integers", k_integers, 0, false, false, {{"low", {}}, {"high", {}}}, {}, draw_integers},
      {"uniform", k_reals, 0, false, false, {{"low", 0.0}, {"high", 1.0}}, {}, draw_uniform},
      {"normal", k_reals, 0, false, false, {{"mean", 0.0}, {"scale", 1.0}}, {}, draw_normal},
      {"coin", k_truths, 0, false, true, {{"probability", 0.5}}, {}, draw_coin},
      {"tree", k_truths, 2, false, true, {}, {}, draw_tree},
      {"permutation", k_integers, 1, false, true, {}, {}, draw_permutation},
  };
  return k_generators;
}

}  // namespace

const CaptureGenerator* find_generator(std::string_view name) {
  for (const auto& generator : generators()) {
    if (generator.name == name) return &generator;
  }
  return nullptr;
}

std::vector<std::string> generator_names() {
  std::vector<std::string> names;
  for (const auto& generator : generators()) names.emplace_back(generator.name);
  return names;
}

}  // namespace kw
