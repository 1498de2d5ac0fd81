#pragma once
// A parsed configuration file as plain values that know where they were written. The one place that talks to the TOML
// library; everything that reads problem files works on this tree.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

enum class ConfigKind : std::uint8_t { table, array, text, integer, real, boolean, date };
[[nodiscard]] std::string_view to_string(ConfigKind kind);

struct ConfigValue {
  ConfigKind kind = ConfigKind::table;
  SourcePlace where;
  std::vector<ConfigValue> items;       ///< of a table or an array
  std::vector<std::string> keys;        ///< of a table, beside items, in the order of the file
  std::vector<SourcePlace> key_places;  ///< of a table, beside items
  std::string text;
  SourcePlace text_begin;  ///< where the first character of `text` stands, for errors inside the text
  std::int64_t integer = 0;
  double real = 0.0;
  bool boolean = false;

  /// Null when the table has no such key.
  [[nodiscard]] const ConfigValue* find(std::string_view key) const;
};

/// `file` only labels errors. Refuses with errc::problem_syntax; input is bounded to 256 KiB.
[[nodiscard]] Result<ConfigValue> parse_config(std::string_view toml_text, const std::string& file);

}  // namespace kw
