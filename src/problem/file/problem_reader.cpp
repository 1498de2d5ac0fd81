#include "problem/file/problem_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "problem/file/number_array.hpp"

namespace kw {

Result<void> check_keys(const ConfigValue& table, std::string_view what, const std::vector<std::string>& known) {
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    if (std::find(known.begin(), known.end(), table.keys[i]) != known.end()) continue;
    const auto near = closest_name(table.keys[i], known);
    return fail(Error{errc::problem_unknown_key, fmt::format("{} has no key '{}'", what, table.keys[i]),
                      near ? fmt::format("'{}'?", *near) : fmt::format("the keys are {}", join(known)),
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
  if (!error.where.file.empty()) return error;  // of a file that the text imports from
  const auto& begin = value.text_begin;
  error.where.column += error.where.line == 1 ? begin.column - 1 : 0;
  error.where.line += begin.line - 1;
  error.where.file = begin.file;
  return error;
}

ModScope mod_scope(const Problem& problem) {
  const auto& format = operator_of(problem).format;
  ModScope scope{problem.constants, all_axes(format, problem), {}, {}, format.axes};
  for (const auto& capture : problem.captures) {
    scope.captures.push_back(capture.declared);
    const auto* fixed = std::get_if<FixedValues>(&capture.source);
    if (fixed == nullptr) continue;
    const auto& axes = capture.declared.axes;  // no workload may change them
    for (std::size_t i = 0; i < axes.size(); ++i) scope.fixed_axes[axes[i]] = fixed->extents[i];
  }
  return scope;
}

}  // namespace kw
