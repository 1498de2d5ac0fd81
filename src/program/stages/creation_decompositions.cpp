// Tensors made of nothing but numbers.

#include <array>

#include "program/stages/decomposition_table.hpp"

namespace kw {
namespace {

void filled(Decomposition& d, const StageExpr& value) {
  d.map(0, d.frame(), value);
}

template <int Value>
Result<void> constant(Decomposition& d) {
  filled(d, Value);
  return {};
}

Result<void> full(Decomposition& d) {
  filled(d, d.number("fill_value"));
  return {};
}

Result<void> arange(Decomposition& d) {
  const auto frame = d.frame();
  d.map(0, frame, d.number("start") + axis_index(frame[0].name) * d.number("step"));
  return {};
}

/// From both ends, so that the last element is the end itself.
Result<void> linspace(Decomposition& d) {
  const auto frame = d.frame();
  const auto steps = d.integer("steps");
  if (steps.value() < 2) {
    d.map(0, frame, d.number("start"));
    return {};
  }
  const auto index = axis_index(frame[0].name);
  const StageExpr start = d.real("start");
  const StageExpr end = d.real("end");
  const auto step = (end - start) / (StageExpr(steps) - 1);
  const auto rest = StageExpr(steps) - 1 - index;
  d.map(0, frame, select(index < floor_divide(steps, 2), start + index * step, end - rest * step));
  return {};
}

Result<void> eye(Decomposition& d) {
  const auto frame = d.frame();
  d.map(0, frame, axis_index(frame[0].name) == axis_index(frame[1].name));
  return {};
}

constexpr std::array k_creation_decompositions = {
    DecompositionRow{"zeros", constant<0>},
    DecompositionRow{"ones", constant<1>},
    DecompositionRow{"zeros_like", constant<0>},
    DecompositionRow{"ones_like", constant<1>},
    DecompositionRow{"new_zeros", constant<0>},
    DecompositionRow{"new_ones", constant<1>},
    DecompositionRow{"full", full},
    DecompositionRow{"full_like", full},
    DecompositionRow{"arange", arange},
    DecompositionRow{"linspace", linspace},
    DecompositionRow{"eye", eye},
};

}  // namespace

std::span<const DecompositionRow> creation_decompositions() {
  return k_creation_decompositions;
}

}  // namespace kw
