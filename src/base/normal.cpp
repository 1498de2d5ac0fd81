#include "base/normal.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace kw {
namespace {

constexpr std::size_t k_cell_bits = 12;
constexpr std::size_t k_cells = std::size_t{1} << k_cell_bits;
constexpr std::size_t k_fraction_bits = 20;

struct Cell {
  float low = 0;
  float width = 0;
};

/// Where the distribution function is `probability`, by Newton's method from `near`.
double quantile(double probability, double near) {
  constexpr int k_steps = 40;
  double x = near;
  for (int i = 0; i < k_steps; ++i) {
    const double excess = 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2) - probability;
    const double density = std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    x -= excess / density;
  }
  return x;
}

/// The lower half is the upper one with its sign turned. The first and the last cell have no width: see tail().
std::array<Cell, k_cells> make_cells() {
  std::array<double, k_cells + 1> edges{};
  double near = 0;
  for (std::size_t i = k_cells / 2; i < k_cells; ++i) {
    near = quantile(static_cast<double>(i) / k_cells, near);
    edges[i] = near;
    edges[k_cells - i] = -near;
  }
  std::array<Cell, k_cells> cells{};
  for (std::size_t i = 1; i + 1 < k_cells; ++i) {
    cells[i] = {static_cast<float>(edges[i]), static_cast<float>(edges[i + 1] - edges[i])};
  }
  cells.front().low = static_cast<float>(edges[1]);
  cells.back().low = static_cast<float>(edges[k_cells - 1]);
  return cells;
}

/// Beyond `edge`, which is positive.
double tail(double edge, Rng& rng) {
  for (;;) {
    const double beyond = -std::log(1.0 - rng.uniform()) / edge;
    const double limit = -std::log(1.0 - rng.uniform());
    if (2 * limit > beyond * beyond) return edge + beyond;
  }
}

}  // namespace

void fill_normal(std::span<float> values, Rng& rng) {
  static const std::array<Cell, k_cells> k_table = make_cells();
  constexpr float k_step = 1.0F / static_cast<float>(1U << k_fraction_bits);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    bits = i % 2 == 0 ? rng.next() : bits >> (k_cell_bits + k_fraction_bits);
    const std::size_t cell = bits % k_cells;
    if (cell == 0 || cell == k_cells - 1) {
      const double size = tail(static_cast<double>(k_table[k_cells - 1].low), rng);
      values[i] = static_cast<float>(cell == 0 ? -size : size);
      continue;
    }
    const auto fraction = static_cast<float>(bits >> k_cell_bits & ((1U << k_fraction_bits) - 1));
    values[i] = k_table[cell].low + (fraction + 0.5F) * k_step * k_table[cell].width;
  }
}

}  // namespace kw
