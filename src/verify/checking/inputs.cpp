#include "verify/checking/inputs.hpp"

#include <algorithm>
#include <optional>

#include "base/random_tensor.hpp"
#include "base/rng.hpp"
#include "base/zeros.hpp"
#include "problem/operator.hpp"
#include "verify/checking/storage.hpp"
#include "verify/processes/execution_backend.hpp"

namespace kw {
namespace {

struct TensorShape {
  std::int64_t elements;      ///< all
  std::int64_t row_length;    ///< extent of the innermost axis
  std::int64_t sequence = 1;  ///< extent of the axis outside of that
};

std::vector<float> memory_for(const TensorShape& shape, const ParallelFor& parallel, std::vector<float> used) {
  const auto elements = static_cast<std::size_t>(shape.elements);
  return used.size() == elements ? std::move(used) : zeros<float>(elements, parallel);
}

/// Elements that a thread fills at a time: while they are in its cache they are rounded.
constexpr std::int64_t k_part = std::int64_t{1} << 16;

void fill(std::span<float> values, const RandomTensor& tensor, DType dtype, const ParallelFor& parallel) {
  for_parts(parallel, values.size(), static_cast<std::size_t>(k_part),
            [&](std::size_t, std::size_t begin, std::size_t end) {
              const auto part = values.subspan(begin, end - begin);
              fill_random(part, tensor, begin);
              round_to(dtype, part);  // while they are in the cache
            });
}

/// These elements alone.
void fill_ranges(std::span<float> values, const RandomTensor& tensor, DType dtype, std::span<const ElementRange> ranges,
                 const ParallelFor& parallel) {
  std::vector<ElementRange> parts;
  for (const ElementRange& range : ranges) {
    for (std::int64_t begin = range.begin; begin < range.end; begin += k_part) {
      parts.push_back({begin, std::min(range.end, begin + k_part)});
    }
  }
  parallel(std::ssize(parts), [&](std::int64_t i) {
    const ElementRange& range = parts[static_cast<std::size_t>(i)];
    const auto part =
        values.subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.end - range.begin));
    fill_random(part, tensor, static_cast<std::uint64_t>(range.begin));
    round_to(dtype, part);
  });
}

/// Of an operand that is a random tensor but for these; of one that is drawn in parts in `parts` alone.
void put_firsts(std::vector<float>& values, RandomInput& random, std::vector<float> firsts, DType dtype,
                const std::vector<ElementRange>& parts, const ParallelFor& parallel) {
  const auto length = static_cast<std::size_t>(random.tensor.row_length);
  KW_CHECK(firsts.size() * length == values.size(), "{} rows of {} elements in a tensor of {}", firsts.size(), length,
           values.size());
  round_to(dtype, firsts, parallel);
  const std::vector<ElementRange> all = {{0, std::ssize(values)}};
  for (const ElementRange& range : random.all_drawn ? all : parts) {
    const auto begin = static_cast<std::size_t>(range.begin);
    set_first_of_rows(std::span(values).subspan(begin, static_cast<std::size_t>(range.end) - begin), firsts, length,
                      begin);
  }
  random.firsts = std::make_shared<const std::vector<float>>(std::move(firsts));
}

bool are_all(const std::vector<ElementRange>& ranges, const TensorShape& shape) {
  return ranges.size() == 1 && ranges.front().begin == 0 && ranges.front().end == shape.elements;
}

bool is_worth_drawing(const TensorSpec& tensor, const TensorShape& shape) {
  return shape.elements * bytes_per_element(tensor.dtype) >= k_least_filled_bytes;
}

/// By what rule an operand is drawn; nothing where that is not all: what is made of normal numbers.
std::optional<DrawRule> rule_of(const Problem& problem, const Workload& workload, std::size_t operand,
                                const Distribution& distribution) {
  const OperatorChecks& checks = operator_of(problem).checks;
  if (const auto always = checks.rule(problem, workload, operand)) return always;
  if (checks.settles(problem, workload, operand)) return std::nullopt;
  return distribution.own != nullptr ? distribution.own->rule(problem, workload, operand) : distribution.rule;
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

void set_first_of_rows(std::span<float> values, std::span<const float> firsts, std::size_t row_length,
                       std::size_t first) {
  for (std::size_t row = (first + row_length - 1) / row_length; row * row_length < first + values.size(); ++row) {
    values[row * row_length - first] = firsts[row];
  }
}

std::vector<Distribution> all_distributions(const Problem& problem) {
  std::vector<Distribution> all = {Distribution::normal, Distribution::uniform, Distribution::spikes,
                                   Distribution::late};
  for (const auto& own : operator_of(problem).checks.distributions()) all.push_back({own.name, {}, &own});
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
    const TensorSpec& spec = problem.inputs[i];
    const auto shape = shape_of(spec, workload.axes);
    KW_CHECK(shape.has_value(), "{} was never checked", spec.name);
    const auto rule = rule_of(problem, workload, i, distribution);
    const RandomTensor tensor{rule.value_or(DrawRule{}), rng.split(i).next(), shape->row_length, shape->sequence};
    std::vector<float>& values = drawn.values.emplace_back(memory_for(*shape, parallel, std::move(used[i])));
    auto& random = drawn.random.emplace_back();
    if (rule && is_float(spec.dtype)) random = RandomInput{tensor, true};
    if (random && reads != nullptr && is_worth_drawing(spec, *shape) && !are_all((*reads)[i], *shape)) {
      random->all_drawn = false;
      fill_ranges(values, tensor, spec.dtype, (*reads)[i], parallel);
    } else {
      fill(values, tensor, spec.dtype, parallel);
    }
  }
  const OperatorChecks& checks = operator_of(problem).checks;
  checks.settle(problem, workload, drawn.values, rng, parallel);
  for (std::size_t i = 0; i < drawn.values.size(); ++i) {
    if (checks.settles(problem, workload, i)) round_to(problem.inputs[i].dtype, drawn.values[i], parallel);
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
  if (const OwnDistribution* own = distribution.own; own != nullptr) {
    own->shape(problem, workload, captures, drawn.values, rng, parallel);
    InputValues firsts = own->first_of_rows(problem, workload, captures, rng, parallel);
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      if (firsts[i].empty()) continue;
      KW_CHECK(drawn.random[i], "{} has first elements and no rule", problem.inputs[i].name);
      put_firsts(drawn.values[i], *drawn.random[i], std::move(firsts[i]), problem.inputs[i].dtype,
                 reads != nullptr ? (*reads)[i] : std::vector<ElementRange>(), parallel);
    }
  }
  for (const auto& capture : problem.captures) {
    drawn.values.push_back(std::move(captures.find(capture.declared.name)->second.values));
  }
  drawn.random.resize(drawn.values.size());
  // Operands are as their type holds them, but for what was shaped.
  for (std::size_t i = distribution.own != nullptr ? 0 : problem.operand_count(); i < drawn.values.size(); ++i) {
    if (!drawn.random[i]) round_to(problem.inputs[i].dtype, drawn.values[i], parallel);
  }
  return drawn;
}

}  // namespace kw
