// Writes a bundle the way a person would: aligned, one tunable, buffer and launch argument list per line.

#include <algorithm>
#include <functional>

#include "base/text.hpp"
#include "record/bundle.hpp"
#include "record/bundle_limits.hpp"

namespace kw {
namespace {

constexpr std::size_t k_wrap_column = 110;

/// A TOML basic string. '/' after '*' is escaped, because the header must not end the comment it sits in.
std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (code < 0x20 || code == 0x7f || (c == '/' && i > 0 && text[i - 1] == '*')) {
      out += fmt::format("\\u{:04X}", code);
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// "[a, b]", broken after commas where the line would pass the wrap column; `indent` is where the bracket stands.
std::string array_text(const std::vector<std::string>& items, std::size_t indent) {
  std::string out = "[";
  std::size_t column = indent + 1;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t width = items[i].size() + 2;
    if (i > 0) out += ",";
    if (i > 0 && column + width > k_wrap_column) {
      out += "\n" + std::string(indent + 1, ' ');
      column = indent + 1;
    } else if (i > 0) {
      out += " ";
    }
    out += items[i];
    column += width;
  }
  return out + "]";
}

std::string quoted_array(const std::vector<std::string>& items, std::size_t indent) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(toml_text(item));
  return array_text(texts, indent);
}

struct Entry {
  std::string key;
  std::string value;
};

/// "key = value" lines with the equals signs below each other.
std::string aligned(const std::vector<Entry>& entries) {
  std::size_t width = 0;
  for (const auto& entry : entries) width = std::max(width, entry.key.size());
  std::string out;
  for (const auto& entry : entries) out += fmt::format("{:<{}} = {}\n", entry.key, width, entry.value);
  return out;
}

std::string tunable_text(const Tunable& tunable) {
  std::vector<std::string> values;
  for (const auto value : tunable.values) values.push_back(std::to_string(value));
  // Values never wrap: an inline table must stay on one line in TOML 1.0 unless the break is inside the array, and one
  // line per tunable reads better than either.
  return fmt::format("{{values = [{}], default = {}}}", join(values), tunable.default_value);
}

std::string top_text(const Bundle& bundle) {
  constexpr std::size_t k_value_column = 14;  // after "constraints = "
  std::vector<Entry> entries = {{"format", std::to_string(bundle_format::k_version)},
                                {"target", toml_text(bundle.target)}};
  if (!bundle.problem.empty()) entries.push_back({"problem", toml_text(bundle.problem)});
  if (!bundle.generator.empty()) entries.push_back({"generator", toml_text(bundle.generator)});
  if (!bundle.deterministic) entries.push_back({"deterministic", "false"});
  if (!bundle.constraints.empty()) entries.push_back({"constraints", quoted_array(bundle.constraints, k_value_column)});
  return aligned(entries);
}

std::string launch_text(const Launch& launch) {
  constexpr std::size_t k_value_column = 15;  // after "shared_bytes = "
  std::vector<Entry> entries = {{"kernel", toml_text(launch.kernel)},
                                {"grid", quoted_array(launch.grid, k_value_column)},
                                {"block", quoted_array(launch.block, k_value_column)}};
  if (launch.shared_bytes != "0") entries.push_back({"shared_bytes", toml_text(launch.shared_bytes)});
  entries.push_back({"args", quoted_array(launch.args, k_value_column)});
  if (launch.repeat) entries.push_back({"repeat", toml_text(*launch.repeat)});
  return "\n[[launch]]\n" + aligned(entries);
}

std::string row_text(const DispatchRow& row) {
  constexpr std::size_t k_value_column = 11;  // after "tunables = "
  std::vector<Entry> entries;
  if (!row.device.empty()) entries.push_back({"device", toml_text(row.device)});
  if (!row.when.empty()) entries.push_back({"when", quoted_array(row.when, k_value_column)});
  std::vector<std::string> values;
  for (const auto& [name, value] : row.tunables) values.push_back(fmt::format("{} = {}", name, value));
  entries.push_back({"tunables", fmt::format("{{{}}}", join(values))});
  return "\n[[dispatch]]\n" + aligned(entries);
}

template <typename T>
std::string section(std::string_view heading, const std::vector<T>& items,
                    const std::function<Entry(const T&)>& entry_of) {
  if (items.empty()) return "";
  std::vector<Entry> entries;
  for (const auto& item : items) entries.push_back(entry_of(item));
  return fmt::format("\n[{}]\n{}", heading, aligned(entries));
}

}  // namespace

std::string Bundle::to_text() const {
  std::string text = fmt::format("/*{}\n", bundle_format::k_marker) + top_text(*this);
  text += section<Tunable>("tunables", tunables, [](const Tunable& t) { return Entry{t.name, tunable_text(t)}; });
  text += section<Definition>("defines", defines, [](const Definition& d) {
    return Entry{d.name, toml_text(d.expression)};
  });
  text += section<ScratchBuffer>("scratch", scratch, [](const ScratchBuffer& s) {
    return Entry{s.name,
                 fmt::format("{{dtype = {}, elements = {}}}", toml_text(to_string(s.dtype)), toml_text(s.elements))};
  });
  for (const auto& launch : launches) text += launch_text(launch);
  for (const auto& row : dispatch) text += row_text(row);
  return text + "*/\n" + source;
}

}  // namespace kw
