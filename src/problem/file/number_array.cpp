#include "problem/file/number_array.hpp"

#include <limits>
#include <utility>

#include "problem/errors.hpp"

namespace kw {
namespace {

Result<double> read_number(const ConfigValue& value) {
  switch (value.kind) {
    case ConfigKind::integer:
      return static_cast<double>(value.integer);
    case ConfigKind::real:
      return value.real;
    case ConfigKind::boolean:
      return value.boolean ? 1.0 : 0.0;
    case ConfigKind::text:
      if (value.text == "-inf") return -std::numeric_limits<double>::infinity();
      if (value.text == "inf") return std::numeric_limits<double>::infinity();
      return fail(Error{errc::problem_value, fmt::format("'{}' is not a number", value.text),
                        "write numbers without quotes; only \"-inf\" and \"inf\" have them", value.where});
    default:
      return fail(Error{errc::problem_type,
                        fmt::format("a {} stands where a number is expected", to_string(value.kind)),
                        "write a number, true, false, or arrays of them", value.where});
  }
}

/// Appends the numbers below `value`, which is at `depth`, and learns the extents from the first of each level.
Result<void> append(const ConfigValue& value, std::size_t depth, NumberArray& array) {
  if (value.kind != ConfigKind::array) {
    if (depth != array.extents.size()) {
      return fail(Error{errc::problem_value, "a number stands where the others have an array",
                        "write arrays of one depth and one length per level", value.where});
    }
    KW_TRY(const double number, read_number(value));
    array.values.push_back(number);
    return {};
  }
  const auto length = static_cast<std::int64_t>(value.items.size());
  if (depth == array.extents.size() && array.values.empty()) {
    if (depth == k_max_dimensions || length == 0) {
      return fail(Error{
          errc::problem_value,
          length == 0 ? "this array is empty" : fmt::format("a tensor has at most {} dimensions", k_max_dimensions),
          {},
          value.where});
    }
    array.extents.push_back(length);
  }
  if (depth >= array.extents.size() || array.extents[depth] != length) {
    return fail(
        Error{errc::problem_value,
              depth >= array.extents.size()
                  ? "an array stands where the others have a number"
                  : fmt::format("this array has {} entries, the first of its level {}", length, array.extents[depth]),
              "write arrays of one depth and one length per level", value.where});
  }
  for (const auto& item : value.items) KW_TRY_VOID(append(item, depth + 1, array));
  return {};
}

}  // namespace

Result<NumberArray> read_number_array(const ConfigValue& value) {
  NumberArray array;
  KW_TRY_VOID(append(value, 0, array));
  return array;
}

}  // namespace kw
