#include "problem/file/config_tree.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cstddef>
#include <exception>

#include "problem/errors.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_bytes = 256 * 1024;
// The TOML library bounds nested arrays but not dotted keys ("a.a.a... = 1" makes a table in a table for each dot), and
// destroys them recursively. Bounding the dots of a line and the open brackets bounds the depth before it sees the
// text.
constexpr int k_max_dots_per_line = 64;
constexpr int k_max_brackets_per_line = 64;

struct Converter {
  const std::string& file;
  std::vector<std::string_view> lines;

  [[nodiscard]] SourcePlace place(const toml::source_region& region) const {
    return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
  }

  /// A string that opens with three quotes and a line break starts on the next line.
  [[nodiscard]] SourcePlace text_begin(const SourcePlace& quote) const {
    SourcePlace begin = quote;
    begin.column += 1;
    const auto index = static_cast<std::size_t>(quote.line) - 1;
    if (quote.line < 1 || quote.column < 1 || index >= lines.size()) return begin;
    const auto line = lines[index];
    const auto column = std::min(line.size(), static_cast<std::size_t>(quote.column) - 1);
    const auto rest = line.substr(column);
    if (rest.substr(0, 3) != "\"\"\"" && rest.substr(0, 3) != "'''") return begin;
    const auto after = rest.substr(3);
    if (after.empty() || after == "\r") return {quote.file, quote.line + 1, 1};
    begin.column += 2;
    return begin;
  }

  [[nodiscard]] ConfigValue table(const toml::table& node) const {
    ConfigValue value;
    value.kind = ConfigKind::table;
    struct Entry {
      const toml::key* key;
      const toml::node* child;
    };
    std::vector<Entry> entries;
    for (auto&& [key, child] : node) entries.push_back({&key, &child});
    // The library sorts by name; people think in the order they wrote.
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      const auto& left = a.key->source().begin;
      const auto& right = b.key->source().begin;
      return left.line != right.line ? left.line < right.line : left.column < right.column;
    });
    for (const auto& entry : entries) {
      value.keys.emplace_back(entry.key->str());
      value.key_places.push_back(place(entry.key->source()));
      value.items.push_back(convert(*entry.child));
    }
    return value;
  }

  [[nodiscard]] ConfigValue convert(const toml::node& node) const {
    ConfigValue value;
    if (const auto* as_table = node.as_table()) {
      value = table(*as_table);
    } else if (const auto* as_array = node.as_array()) {
      value.kind = ConfigKind::array;
      for (const auto& item : *as_array) value.items.push_back(convert(item));
    } else if (const auto* as_text = node.as_string()) {
      value.kind = ConfigKind::text;
      value.text = as_text->get();
      value.text_begin = text_begin(place(node.source()));
    } else if (const auto* as_integer = node.as_integer()) {
      value.kind = ConfigKind::integer;
      value.integer = as_integer->get();
    } else if (const auto* as_real = node.as_floating_point()) {
      value.kind = ConfigKind::real;
      value.real = as_real->get();
    } else if (const auto* as_boolean = node.as_boolean()) {
      value.kind = ConfigKind::boolean;
      value.boolean = as_boolean->get();
    } else {
      value.kind = ConfigKind::date;
    }
    value.where = place(node.source());
    return value;
  }
};

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

Result<void> check_bounds(std::string_view text, const std::vector<std::string_view>& lines, const std::string& file) {
  if (text.size() > k_max_bytes) {
    return fail(Error{errc::problem_syntax, fmt::format("the file has more than {} bytes", k_max_bytes), {}, {file}});
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& line = lines[i];
    const auto dots = std::count(line.begin(), line.end(), '.');
    const auto brackets = std::count_if(line.begin(), line.end(), [](char c) { return c == '[' || c == '{'; });
    if (dots <= k_max_dots_per_line && brackets <= k_max_brackets_per_line) continue;
    return fail(Error{errc::problem_syntax,
                      fmt::format("this line nests too deeply: it has {} dots and {} opening brackets", dots, brackets),
                      "a problem file needs two levels; break long lines of mod text in two",
                      {file, static_cast<int>(i) + 1, 1}});
  }
  return {};
}

}  // namespace

std::string_view to_string(ConfigKind kind) {
  switch (kind) {
    case ConfigKind::table:
      return "table";
    case ConfigKind::array:
      return "array";
    case ConfigKind::text:
      return "string";
    case ConfigKind::integer:
      return "integer";
    case ConfigKind::real:
      return "float";
    case ConfigKind::boolean:
      return "boolean";
    case ConfigKind::date:
      return "date or time";
  }
  return "?";
}

const ConfigValue* ConfigValue::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

Result<ConfigValue> parse_config(std::string_view toml_text, const std::string& file) {
  const auto lines = split_lines(toml_text);
  KW_TRY_VOID(check_bounds(toml_text, lines, file));
  try {
    const toml::table root = toml::parse(toml_text, file);
    auto value = Converter{file, lines}.table(root);
    value.where = {file, 1, 1};
    return value;
  } catch (const toml::parse_error& error) {
    const auto& begin = error.source().begin;
    return fail(Error{errc::problem_syntax,
                      fmt::format("not valid TOML: {}", error.description()),
                      {},
                      {file, static_cast<int>(begin.line), static_cast<int>(begin.column)}});
  } catch (const std::exception& error) {
    return fail(Error{errc::problem_syntax, fmt::format("not valid TOML: {}", error.what()), {}, {file}});
  }
}

}  // namespace kw
