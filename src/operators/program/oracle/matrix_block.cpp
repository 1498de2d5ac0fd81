#include "operators/program/oracle/matrix_block.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/widest_vectors.hpp"

namespace kw::program_oracle {
namespace {

/// Rows and columns whose sums stay in registers.
constexpr std::size_t k_group = 8;
constexpr std::int64_t k_columns_at_once = 4;
/// An element of a column of each row of a group.
using GroupColumn = std::array<double, k_group>;

/// Steps and columns of the part of the second matrix that is held at a time, 64 KiB, and of the strips in which it
/// lies. Columns are many, for a row of them is read along memory.
constexpr std::int64_t k_steps = 64;
constexpr std::int64_t k_columns = 128;
constexpr std::int64_t k_strip = 16;

using Panel = std::array<double, k_steps * k_columns>;

double& element_of(Panel& panel, std::int64_t step, std::int64_t column) {
  return panel[static_cast<std::size_t>((column / k_strip * k_steps + step) * k_strip + column % k_strip)];
}

template <typename Element>
void pack_rows(std::int64_t steps, std::int64_t columns, Panel& panel, const Element& element) {
  for (std::int64_t k = 0; k < steps; ++k) {
    for (std::int64_t strip = 0; strip < columns; strip += k_strip) {
      double* const to = &element_of(panel, k, strip);
      const std::int64_t count = std::min(k_strip, columns - strip);
      for (std::int64_t j = 0; j < count; ++j) to[j] = element(k, strip + j);
    }
  }
}

template <typename Number>
void pack(const Number* from, const MatrixPart& part, std::int64_t steps, std::int64_t columns, Panel& panel) {
  if (part.column_stride == 1) {
    return pack_rows(steps, columns, panel, [=, stride = part.row_stride](std::int64_t k, std::int64_t j) {
      return static_cast<double>(from[k * stride + j]);
    });
  }
  for (std::int64_t j = 0; j < columns; ++j) {
    const Number* const column = from + j * part.column_stride;
    for (std::int64_t k = 0; k < steps; ++k) element_of(panel, k, j) = static_cast<double>(column[k * part.row_stride]);
  }
}

/// Elements of `part` from row `first` and column `column` on. What lies beyond `columns` stays.
void pack(const MatrixPart& part, std::int64_t first, std::int64_t column, std::int64_t steps, std::int64_t columns,
          Panel& panel) {
  const Operand& operand = *part.operand;
  const std::int64_t start = part.start + first * part.row_stride + column * part.column_stride;
  if (operand.values() != nullptr) return pack(operand.values() + start, part, steps, columns, panel);
  if (operand.floats() != nullptr) return pack(operand.floats() + start, part, steps, columns, panel);
  pack_rows(steps, columns, panel, [&](std::int64_t k, std::int64_t j) {
    return operand[start + k * part.row_stride + j * part.column_stride];
  });
}

/// Adds to the sums of some columns, which stay in registers meanwhile. A constant count is what lets g++ -O2
/// vectorise.
KW_WIDEST_VECTORS void add_columns(const GroupColumn* left, const double* right, std::int64_t steps,
                                   GroupColumn* sums) {
  double all[k_columns_at_once][k_group];
  for (std::int64_t j = 0; j < k_columns_at_once; ++j) {
    for (std::size_t r = 0; r < k_group; ++r) all[j][r] = sums[j][r];
  }
  for (std::int64_t k = 0; k < steps; ++k, right += k_strip) {
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < k_columns_at_once; ++j) {
      for (std::size_t r = 0; r < k_group; ++r) all[j][r] += left[k][r] * right[j];
    }
  }
  for (std::int64_t j = 0; j < k_columns_at_once; ++j) {
    for (std::size_t r = 0; r < k_group; ++r) sums[j][r] = all[j][r];
  }
}

/// The columns of some rows of one matrix, and their sums so far.
struct RowGroup {
  std::vector<GroupColumn> left;
  std::vector<GroupColumn> sums;
};

RowGroup group_of(const MatrixPart& left, std::span<const std::int64_t> rows, std::int64_t steps) {
  RowGroup group{std::vector<GroupColumn>(static_cast<std::size_t>(steps)), {}};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::int64_t start = left.start + rows[r] * left.row_stride;
    for (std::int64_t k = 0; k < steps; ++k) {
      group.left[static_cast<std::size_t>(k)][r] = (*left.operand)[start + k * left.column_stride];
    }
  }
  return group;
}

void add_panel(RowGroup& group, std::int64_t first, std::int64_t steps, std::int64_t columns, Panel& panel) {
  for (std::int64_t j = 0; j < columns; j += k_columns_at_once) {
    add_columns(group.left.data() + first, &element_of(panel, 0, j), steps, group.sums.data() + j);
  }
}

}  // namespace

void multiply_rows(const MatrixPart& left, std::span<const std::int64_t> rows, const MatrixPart& right,
                   std::int64_t steps, std::span<const std::span<double>> into) {
  std::vector<RowGroup> groups;
  for (std::size_t r = 0; r < rows.size(); r += k_group) {
    groups.push_back(group_of(left, rows.subspan(r, std::min(k_group, rows.size() - r)), steps));
  }
  const auto panel = std::make_unique<Panel>();
  const auto all = static_cast<std::int64_t>(into.front().size());
  for (std::int64_t column = 0; column < all; column += k_columns) {
    const std::int64_t columns = std::min(k_columns, all - column);
    for (RowGroup& group : groups) group.sums.assign(k_columns, {});
    for (std::int64_t first = 0; first < steps; first += k_steps) {
      const std::int64_t count = std::min(k_steps, steps - first);
      pack(right, first, column, count, columns, *panel);
      for (RowGroup& group : groups) add_panel(group, first, count, columns, *panel);
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::int64_t j = 0; j < columns; ++j) {
        into[r][static_cast<std::size_t>(column + j)] =
            groups[r / k_group].sums[static_cast<std::size_t>(j)][r % k_group];
      }
    }
  }
}

}  // namespace kw::program_oracle
