#include "record/header_access.hpp"

#include <algorithm>

#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "record/bundle.hpp"

namespace kw {
namespace {

bool is_top_key(std::string_view key) {
  const auto& keys = HeaderAccess::top_keys();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string belongs_at_the_top(std::string_view key) {
  return fmt::format("'{}' is a key of the header: write it before the first [table]", key);
}

}  // namespace

const HeaderAccess::Names& HeaderAccess::top_keys() {
  static const Names k_top_keys = {"format",   "target",  "problem", "generator", "deterministic", "constraints",
                                   "tunables", "defines", "scratch", "launch",    "dispatch"};
  return k_top_keys;
}

std::vector<HeaderAccess::Item> HeaderAccess::in_written_order(const toml::table& table) {
  std::vector<Item> items;
  for (const auto& [key, node] : table) items.emplace_back(&key, &node);
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    const auto& first = a.first->source().begin;
    const auto& second = b.first->source().begin;
    return std::pair(first.line, first.column) < std::pair(second.line, second.column);
  });
  return items;
}

Result<void> HeaderAccess::check_keys(const toml::table& table, const Names& known, std::string_view what) const {
  for (const auto& [key, node] : in_written_order(table)) {
    const std::string text(key->str());
    if (std::find(known.begin(), known.end(), text) != known.end()) continue;
    Error error{errc::bundle_unknown_key, fmt::format("{} has no key '{}'", what, text), "", place(key->source())};
    const auto nearest = closest_name(text, known);
    if (is_top_key(text)) {
      error.hint = belongs_at_the_top(text);
    } else if (nearest) {
      error.hint = "did you mean '" + *nearest + "'?";
    } else {
      error.hint = "its keys: " + join(known);
    }
    return fail(std::move(error));
  }
  return {};
}

Result<const toml::node*> HeaderAccess::required(const toml::table& table, std::string_view key,
                                                 std::string_view what) const {
  if (const auto* node = table.get(key)) return node;
  return refuse(errc::bundle_missing_key, table, fmt::format("{} needs the key '{}'", what, key),
                is_top_key(key) ? belongs_at_the_top(key) : "");
}

Result<const toml::table*> HeaderAccess::section(const toml::table& top, std::string_view key,
                                                 std::size_t max_entries) const {
  const auto* node = top.get(key);
  if (node == nullptr) return nullptr;
  const auto* table = node->as_table();
  if (table == nullptr) return refuse(errc::bundle_value, *node, fmt::format("'{}' must be a table: [{}]", key, key));
  if (table->size() > max_entries) {
    return refuse(errc::bundle_too_large, *node,
                  fmt::format("[{}] has {} entries; at most {} are allowed", key, table->size(), max_entries));
  }
  // In TOML a key below [tunables] belongs to it, which is the mistake people make with `constraints`.
  for (const auto& [name, value] : *table) {
    if (is_top_key(name.str()) && !value.is_table() && !value.is_string()) {
      return refuse(errc::bundle_unknown_key, value, fmt::format("'{}' does not belong in [{}]", name.str(), key),
                    belongs_at_the_top(name.str()));
    }
  }
  return table;
}

Result<const toml::array*> HeaderAccess::array(const toml::node& node, std::string_view what, std::size_t min_items,
                                               std::size_t max_items) const {
  const auto* items = node.as_array();
  if (items == nullptr) return refuse(errc::bundle_value, node, fmt::format("{} must be an array: [...]", what));
  if (items->size() > max_items) {
    return refuse(errc::bundle_too_large, node,
                  fmt::format("{} has {} entries; at most {} are allowed", what, items->size(), max_items));
  }
  if (items->size() < min_items) return refuse(errc::bundle_value, node, fmt::format("{} must not be empty", what));
  return items;
}

Result<const toml::array*> HeaderAccess::tables(const toml::node& node, std::string_view key,
                                                std::size_t max_items) const {
  const auto* items = node.as_array();
  if (items == nullptr || items->empty()) {
    return refuse(errc::bundle_value, node, fmt::format("'{}' must be an array of tables", key),
                  fmt::format("write each {} below a line [[{}]]", key, key));
  }
  return array(node, fmt::format("'{}'", key), 1, max_items);
}

Result<std::string> HeaderAccess::free_text(const toml::table& table, std::string_view key,
                                            std::size_t max_bytes) const {
  const auto* node = table.get(key);
  if (node == nullptr) return std::string();
  const auto text = node->value_exact<std::string>();
  if (!text) return refuse(errc::bundle_value, *node, fmt::format("'{}' must be a string", key));
  if (text->size() > max_bytes) {
    return refuse(errc::bundle_too_large, *node,
                  fmt::format("'{}' has {} bytes; at most {} are allowed", key, text->size(), max_bytes));
  }
  // An escape in the TOML could smuggle in what the raw bytes may not hold.
  if (first_non_text_byte(*text)) return refuse(errc::bundle_value, *node, fmt::format("'{}' holds a NUL byte", key));
  return *text;
}

Result<std::string> HeaderAccess::expression(const toml::node& node, std::string_view what) const {
  if (const auto number = node.value_exact<std::int64_t>()) {
    if (*number == INT64_MIN) return refuse(errc::bundle_value, node, fmt::format("{} is out of range", what));
    return std::to_string(*number);
  }
  auto text = node.value_exact<std::string>();
  if (!text) {
    return refuse(errc::bundle_value, node, fmt::format("{} must be an integer or an expression in quotes", what));
  }
  if (auto checked = check_int_expr(*text); !checked) {
    Error error = std::move(checked).error();
    error.where = place(node.source());
    return with_context(std::move(error), fmt::format("reading {}", what));
  }
  return *std::move(text);
}

Result<std::vector<std::string>> HeaderAccess::expressions(const toml::node& node, std::string_view what,
                                                           std::size_t min_items, std::size_t max_items) const {
  KW_TRY(const auto* items, array(node, what, min_items, max_items));
  std::vector<std::string> texts;
  for (const auto& item : *items) {
    KW_TRY(auto text, expression(item, fmt::format("entry {} of {}", texts.size() + 1, what)));
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace kw
