#include "mod/expression/capture_data.hpp"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

/// The first element of the row that `indices`, all but the last dimension's, select.
std::size_t row_start(const CapturedTensor& tensor, std::span<const double> indices) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    flat = flat * tensor.extents[i] + resolved_index(indices[i], tensor.extents[i]);
  }
  for (std::size_t i = indices.size(); i < tensor.extents.size(); ++i) flat *= tensor.extents[i];
  return static_cast<std::size_t>(flat);
}

}  // namespace

const CaptureData& no_captures() {
  static const CaptureData k_none;
  return k_none;
}

std::int64_t resolved_index(double index, std::int64_t extent) {
  const auto at = static_cast<std::int64_t>(index);
  return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent - 1);
}

double CapturedTensor::element(std::span<const double> indices) const {
  KW_CHECK(indices.size() == extents.size(), "{} indices", indices.size());
  return static_cast<double>(values[row_start(*this, indices)]);
}

double CapturedTensor::bound(ExprOp op, std::span<const double> indices, double value) const {
  KW_CHECK(indices.size() + 1 == extents.size(), "{} indices", indices.size());
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(row_start(*this, indices));
  const auto last = first + static_cast<std::ptrdiff_t>(extents.back());
  const auto found = op == ExprOp::lower_bound
                         ? std::lower_bound(first, last, value, [](float a, double b) { return a < b; })
                         : std::upper_bound(first, last, value, [](double a, float b) { return a < b; });
  return static_cast<double>(found - first);
}

}  // namespace kw
