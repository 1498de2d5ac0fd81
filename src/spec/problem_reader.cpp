#include "spec/problem_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "spec/closest_name.hpp"
#include "spec/number_array.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_extent = std::int64_t{1} << 24;
constexpr std::int64_t k_max_elements = std::int64_t{1}
                                        << 38;  // 1 TiB of f32: beyond any device, within any arithmetic

const std::array<const OperatorFormat*, 1>& formats() {
  static const std::array<const OperatorFormat*, 1> k_formats = {&attention_format()};
  return k_formats;
}

Result<void> check_captures(const Problem& problem, const Axes& axes) {
  std::int64_t total = 0;
  for (const auto& capture : problem.captures) {
    const auto count = element_count(capture.tensor(), axes);
    if (!count || *count > k_max_captured_elements - total) {
      return fail(Error{errc::problem_value,
                        fmt::format("the captured tensors up to {} [{}] would have more than 2^26 elements",
                                    capture.declared.name, comma_list(capture.declared.axes)),
                        "choose smaller axes, or compute the values in the mod"});
    }
    total += *count;
    KW_TRY_VOID(check_fixed_extents(capture, axes));
  }
  return {};
}

}  // namespace

const OperatorFormat* find_operator(std::string_view op) {
  for (const auto* format : formats()) {
    if (format->op == op) return format;
  }
  return nullptr;
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const auto* format : formats()) names.emplace_back(format->op);
  return names;
}

Result<void> check_keys(const ConfigValue& table, std::string_view what, const std::vector<std::string>& known) {
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    if (std::find(known.begin(), known.end(), table.keys[i]) != known.end()) continue;
    const auto near = closest_name(table.keys[i], known);
    return fail(Error{errc::problem_unknown_key, fmt::format("{} has no key '{}'", what, table.keys[i]),
                      near ? fmt::format("'{}'?", *near) : fmt::format("the keys are {}", comma_list(known)),
                      table.key_places[i]});
  }
  return {};
}

Result<void> check_kind(const ConfigValue& value, std::string_view what, ConfigKind wanted) {
  if (value.kind == wanted) return {};
  std::string hint;
  if (wanted == ConfigKind::table) hint = "write it as a table, with its name in brackets";
  if (wanted == ConfigKind::array) hint = "write its name in two pairs of brackets, once per entry";
  return fail(
      Error{errc::problem_type,
            fmt::format("{} should be of type {}, but is of type {}", what, to_string(wanted), to_string(value.kind)),
            std::move(hint), value.where});
}

Result<std::optional<std::string>> optional_text(const ConfigValue& table, std::string_view key) {
  const auto* value = table.find(key);
  if (value == nullptr) return std::nullopt;
  KW_TRY_VOID(check_kind(*value, fmt::format("'{}'", key), ConfigKind::text));
  return value->text;
}

Result<std::string> required_text(const ConfigValue& table, std::string_view key, std::string_view example) {
  KW_TRY(auto text, optional_text(table, key));
  if (text) return *std::move(text);
  return fail(Error{errc::problem_missing_key, fmt::format("'{}' is missing", key),
                    fmt::format("add a line such as: {} = \"{}\"", key, example), table.where});
}

Error placed_in_file(Error error, const ConfigValue& value) {
  const auto& begin = value.text_begin;
  error.where.column += error.where.line == 1 ? begin.column - 1 : 0;
  error.where.line += begin.line - 1;
  error.where.file = begin.file;
  return error;
}

std::vector<std::string> all_axes(const OperatorFormat& format, const Problem& problem) {
  auto axes = problem.own_axes;
  std::sort(axes.begin(), axes.end());
  axes.insert(axes.begin(), format.axes.begin(), format.axes.end());
  return axes;
}

ModScope mod_scope(const Problem& problem) {
  const auto* format = find_operator(problem.op);
  KW_CHECK(format != nullptr, "operator {}", problem.op);
  ModScope scope{problem.constants, all_axes(*format, problem), {}};
  for (const auto& capture : problem.captures) scope.captures.push_back(capture.declared);
  return scope;
}

Result<void> check_extent(std::string_view axis, std::int64_t extent) {
  if (extent >= 1 && extent <= k_max_extent) return {};
  return fail(Error{errc::problem_value, fmt::format("{} = {} is not within 1 to {}", axis, extent, k_max_extent)});
}

Result<void> check_axes(const OperatorFormat& format, const Problem& problem, const Axes& axes) {
  for (const auto& name : all_axes(format, problem)) KW_TRY_VOID(check_extent(name, axes.at(name)));
  KW_TRY_VOID(format.check_axes(axes));
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const auto& tensor : *tensors) {
      const auto count = element_count(tensor, axes);
      if (count && *count <= k_max_elements) continue;
      return fail(
          Error{errc::problem_value,
                fmt::format("tensor {} [{}] would have more than 2^38 elements", tensor.name, comma_list(tensor.axes)),
                "choose smaller axes"});
    }
  }
  return check_captures(problem, axes);
}

}  // namespace kw
