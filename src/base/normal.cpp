#include "base/normal.hpp"

#include <cmath>
#include <numbers>

#include "base/rng.hpp"

namespace kw {
namespace {

constexpr unsigned k_cell_bits = 12;
constexpr unsigned k_fraction_bits = 20;
static_assert(std::size_t{1} << k_cell_bits == k_normal_cells);
/// What tail numbers are drawn with beside the sequence of the others.
constexpr std::uint64_t k_tail_key = 0x6a09e667f3bcc909ULL;

/// Where that much of the distribution lies above, by Newton's method from `below`, where more does: the share above is
/// convex there, so that no step goes too far, and from the neighbouring quantile a few suffice.
double upper_quantile(double share, double below) {
  constexpr int k_most_steps = 60;
  double x = below;
  for (int i = 0; i < k_most_steps; ++i) {
    const double excess = 0.5 * std::erfc(x * std::numbers::sqrt2 / 2) - share;
    const double density = std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    const double step = excess / density;
    x += step;
    if (std::abs(step) < 1e-15) break;
  }
  return x;
}

NormalCell cell_between(double low, double high) {
  return {static_cast<float>(low), static_cast<float>(high - low)};
}

/// Equally likely cells of what lies above the quantile of `share`. The last one has no end: it gets one where half of
/// it lies above.
std::array<NormalCell, k_normal_cells> upper_cells(double share) {
  std::array<NormalCell, k_normal_cells> cells{};
  double low = upper_quantile(share, 0);
  for (std::size_t i = 0; i < k_normal_cells; ++i) {
    const double left = i + 1 < k_normal_cells ? static_cast<double>(k_normal_cells - 1 - i) : 0.5;
    const double high = upper_quantile(share * left / k_normal_cells, low);
    cells[i] = cell_between(low, high);
    low = high;
  }
  return cells;
}

/// The lower half is the upper one with its sign turned.
std::array<NormalCell, k_normal_cells> all_cells() {
  std::array<NormalCell, k_normal_cells> cells{};
  constexpr std::size_t k_half = k_normal_cells / 2;
  double low = 0;
  for (std::size_t i = 0; i + 1 < k_half; ++i) {
    const double high = upper_quantile(static_cast<double>(k_half - 1 - i) / k_normal_cells, low);
    cells[k_half + i] = cell_between(low, high);
    cells[k_half - 1 - i] = cell_between(-high, -low);
    low = high;
  }
  return cells;
}

NormalTables make_tables() {
  constexpr double k_share = 1.0 / k_normal_cells;
  return {all_cells(), upper_cells(k_share), upper_cells(k_share * k_share)};
}

/// Of the lowest 32 bits: the cell in the lower 12.
std::size_t cell_of(std::uint64_t bits) {
  return bits % k_normal_cells;
}
float number_in(const std::array<NormalCell, k_normal_cells>& cells, std::uint64_t bits) {
  constexpr float k_step = 1.0F / static_cast<float>(1U << k_fraction_bits);
  const auto fraction = static_cast<float>(bits >> k_cell_bits & ((1U << k_fraction_bits) - 1));
  const NormalCell& cell = cells[cell_of(bits)];
  return cell.low + (fraction + 0.5F) * k_step * cell.width;
}

/// In the upper tail, of 64 other bits. Apart from the rest, which is as quick as it is short.
[[gnu::noinline]] float tail_number(const NormalTables& tables, std::uint64_t key, std::uint64_t place) {
  const std::uint64_t bits = random_bits(key ^ k_tail_key, place);
  return cell_of(bits) + 1 < k_normal_cells ? number_in(tables.tail, bits) : number_in(tables.far, bits >> 32);
}

/// Two numbers are made of one draw of 64 bits: of the lower half that of an even place.
float number_at(const NormalTables& tables, std::uint64_t key, std::uint64_t place, std::uint64_t bits) {
  const std::size_t cell = cell_of(bits);
  if (cell - 1 < k_normal_cells - 2) [[likely]]
    return number_in(tables.all, bits);
  const float size = tail_number(tables, key, place);
  return cell == 0 ? -size : size;
}

}  // namespace

const NormalTables& normal_tables() {
  static const NormalTables k_tables = make_tables();
  return k_tables;
}

void fill_normal(std::span<float> values, std::uint64_t key, std::uint64_t first) {
  const NormalTables& tables = normal_tables();
  std::size_t i = 0;
  if (first % 2 == 1 && !values.empty()) {
    values[i++] = number_at(tables, key, first, random_bits(key, first / 2) >> 32);
  }
  for (; i + 1 < values.size(); i += 2) {
    const std::uint64_t place = first + i;
    const std::uint64_t bits = random_bits(key, place / 2);
    values[i] = number_at(tables, key, place, bits);
    values[i + 1] = number_at(tables, key, place + 1, bits >> 32);
  }
  if (i < values.size()) values[i] = number_at(tables, key, first + i, random_bits(key, (first + i) / 2));
}

}  // namespace kw
