#include "verify/checking/inputs.hpp"

#include <algorithm>
#include <cmath>

#include "base/normal.hpp"
#include "base/rng.hpp"
#include "base/zeros.hpp"
#include "problem/operator.hpp"
#include "verify/checking/storage.hpp"
#include "verify/processes/execution_backend.hpp"

namespace kw {
namespace {

constexpr float k_spike = 6.0F;
constexpr std::int64_t k_rows_per_spike = 32;

/// Factor on a row at position `place` (0 to 1) along the second-innermost axis.
float row_scale(const Distribution& distribution, double place, Rng& rng) {
  if (distribution == Distribution::spikes) return rng.below(k_rows_per_spike) == 0 ? k_spike : 1.0F;
  return distribution == Distribution::late ? static_cast<float>(std::exp2(4.0 * place - 2.0)) : 1.0F;
}

struct TensorShape {
  std::int64_t elements;      ///< all
  std::int64_t row_length;    ///< extent of the innermost axis
  std::int64_t sequence = 1;  ///< extent of the axis outside of that
};

/// Rows whose scales are drawn from a generator of their own.
constexpr std::int64_t k_rows_per_part = 1024;

/// What a tensor is drawn from: values by their place in the sequence of a key, scales of rows from a generator.
struct TensorDraw {
  TensorShape shape;
  DType dtype;
  Distribution distribution;
  std::uint64_t key;
  Rng scales;
};

bool scales_rows(const Distribution& distribution) {
  return distribution == Distribution::spikes || distribution == Distribution::late;
}

void fill_rows(std::span<float> values, std::int64_t first_row, const TensorDraw& draw, Rng rng) {
  const TensorShape& shape = draw.shape;
  if (draw.distribution == Distribution::uniform) {
    for (float& value : values) value = static_cast<float>(rng.uniform());
  } else {
    fill_normal(values, draw.key, static_cast<std::uint64_t>(first_row * shape.row_length));
  }
  const auto length = static_cast<std::size_t>(shape.row_length);
  for (std::size_t start = 0; scales_rows(draw.distribution) && start < values.size(); start += length) {
    const std::int64_t position = (first_row + static_cast<std::int64_t>(start / length)) % shape.sequence;
    const double place =
        shape.sequence > 1 ? static_cast<double>(position) / static_cast<double>(shape.sequence - 1) : 1.0;
    const float scale = row_scale(draw.distribution, place, rng);
    for (float& value : values.subspan(start, length)) value *= scale;
  }
  round_to(draw.dtype, values);  // while they are in the cache
}

std::vector<float> memory_for(const TensorShape& shape, const ParallelFor& parallel, std::vector<float> used) {
  const auto elements = static_cast<std::size_t>(shape.elements);
  return used.size() == elements ? std::move(used) : zeros<float>(elements, parallel);
}

void fill(std::span<float> values, TensorDraw draw, const ParallelFor& parallel) {
  const TensorShape& shape = draw.shape;
  const std::int64_t rows = shape.elements / shape.row_length;
  const std::int64_t parts = (rows + k_rows_per_part - 1) / k_rows_per_part;
  std::vector<Rng> generators;
  for (std::int64_t part = 0; part < parts; ++part) {
    generators.push_back(draw.scales.split(static_cast<std::uint64_t>(part)));
  }
  parallel(parts, [&](std::int64_t part) {
    const std::int64_t first = part * k_rows_per_part;
    const std::int64_t count = std::min(k_rows_per_part, rows - first);
    fill_rows(values.subspan(static_cast<std::size_t>(first * shape.row_length),
                             static_cast<std::size_t>(count * shape.row_length)),
              first, draw, generators[static_cast<std::size_t>(part)]);
  });
}

/// These elements alone, of normal numbers.
void fill_ranges(std::span<float> values, const TensorDraw& draw, std::span<const ElementRange> ranges,
                 const ParallelFor& parallel) {
  parallel(std::ssize(ranges), [&](std::int64_t i) {
    const ElementRange& range = ranges[static_cast<std::size_t>(i)];
    const auto part =
        values.subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.end - range.begin));
    fill_normal(part, draw.key, static_cast<std::uint64_t>(range.begin));
    round_to(draw.dtype, part);
  });
}

bool is_worth_drawing(const TensorSpec& tensor, const TensorShape& shape) {
  return shape.elements * bytes_per_element(tensor.dtype) >= k_least_filled_bytes;
}

/// Whether an operand keeps the values that it was drawn with.
bool stays_normal(const Problem& problem, std::size_t operand, const Distribution& distribution) {
  return distribution == Distribution::normal && !operator_of(problem).checks.settles(problem, operand);
}

Result<TensorShape> shape_of(const TensorSpec& tensor, const Axes& axes) {
  TensorShape shape{0, 1};
  KW_TRY(shape.elements, element_count(tensor, axes));
  const auto extent = [&](std::size_t from_inside) {
    return tensor.axes.size() > from_inside ? axes.find(tensor.axes[tensor.axes.size() - 1 - from_inside])->second : 1;
  };
  shape.row_length = extent(0);
  shape.sequence = extent(1);
  return shape;
}

}  // namespace

std::vector<Distribution> all_distributions(const Problem& problem) {
  std::vector<Distribution> all = {Distribution::normal, Distribution::uniform, Distribution::spikes,
                                   Distribution::late};
  for (const auto& own : operator_of(problem).checks.distributions()) all.push_back({own.name, &own});
  return all;
}

Result<std::vector<Distribution>> distributions_for(const Problem& problem, const Workload& workload) {
  std::vector<Distribution> chosen;
  for (const auto& one : all_distributions(problem)) {
    if (one.own != nullptr) {
      KW_TRY(const bool suits, one.own->suits(problem, workload));
      if (!suits) continue;
    }
    chosen.push_back(one);
  }
  return chosen;
}

DrawnInputs draw_operands(const Problem& problem, const Workload& workload, const Distribution& distribution, Rng& rng,
                          const ParallelFor& parallel, InputValues used, const OperandReads* reads) {
  DrawnInputs drawn;
  used.resize(std::max(used.size(), problem.operand_count()));
  for (std::size_t i = 0; i < problem.operand_count(); ++i) {
    const TensorSpec& tensor = problem.inputs[i];
    const auto shape = shape_of(tensor, workload.axes);
    KW_CHECK(shape.has_value(), "{} was never checked", tensor.name);
    Rng own = rng.split(i);
    const TensorDraw draw{*shape, tensor.dtype, distribution, own.next(), own};
    std::vector<float>& values = drawn.values.emplace_back(memory_for(*shape, parallel, std::move(used[i])));
    auto& key = drawn.keys.emplace_back();
    if (stays_normal(problem, i, distribution)) key = InputKey{draw.key, true};
    if (key && reads != nullptr && is_worth_drawing(tensor, *shape)) {
      key->all_drawn = false;
      fill_ranges(values, draw, (*reads)[i], parallel);
    } else {
      fill(values, draw, parallel);
    }
  }
  const OperatorChecks& checks = operator_of(problem).checks;
  checks.settle(problem, workload, drawn.values, rng, parallel);
  for (std::size_t i = 0; i < drawn.values.size(); ++i) {
    if (checks.settles(problem, i)) round_to(problem.inputs[i].dtype, drawn.values[i], parallel);
  }
  return drawn;
}

Result<DrawnInputs> make_inputs(const Problem& problem, const Workload& workload, const Distribution& distribution,
                                InputSeeds seeds, const ParallelFor& parallel, InputValues used,
                                const OperandReads* reads) {
  for (std::size_t i = 0; i < problem.operand_count(); ++i) {
    KW_TRY_VOID(shape_of(problem.inputs[i], workload.axes));
  }
  Rng rng(seeds.operands);
  DrawnInputs drawn = draw_operands(problem, workload, distribution, rng, parallel, std::move(used), reads);
  KW_TRY(CaptureData captures, draw_captures(problem.captures, workload.axes, seeds.captures));
  if (distribution.own != nullptr) distribution.own->shape(problem, workload, captures, drawn.values, rng, parallel);
  for (const auto& capture : problem.captures) {
    drawn.values.push_back(std::move(captures.find(capture.declared.name)->second.values));
  }
  drawn.keys.resize(drawn.values.size());
  // Operands are as their type holds them, but for what was shaped.
  for (std::size_t i = distribution.own != nullptr ? 0 : problem.operand_count(); i < drawn.values.size(); ++i) {
    round_to(problem.inputs[i].dtype, drawn.values[i], parallel);
  }
  return drawn;
}

}  // namespace kw
