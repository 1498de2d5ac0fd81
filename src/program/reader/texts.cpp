// Methods of Python's texts.

#include <algorithm>
#include <cctype>

#include "program/reader/formatting.hpp"
#include "program/reader/interpreter.hpp"

namespace kw {
namespace {

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

std::string stripped(const std::string& text) {
  const auto first = std::ranges::find_if_not(text, is_space);
  const auto last = std::find_if_not(text.rbegin(), std::make_reverse_iterator(first), is_space);
  return {first, last.base()};
}

std::string with_case(std::string text, int (*change)(int)) {
  for (char& c : text) c = static_cast<char>(change(static_cast<unsigned char>(c)));
  return text;
}

/// Without a separator at white space, of which none is left.
std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size();) {
    const bool apart = separator.empty() ? is_space(text[i]) : text.compare(i, separator.size(), separator) == 0;
    if (apart) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
    i += apart && !separator.empty() ? separator.size() : 1;
  }
  if (separator.empty()) std::erase(parts, "");
  return parts;
}

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  return fmt::format("{}", fmt::join(parts, between));
}

/// Methods whose arguments are texts, but for join() and split().
std::optional<PyValue> changed_text(const std::string& text, const std::string& name,
                                    const std::vector<std::string>& given) {
  if (name == "replace" && given.size() == 2 && !given[0].empty())
    return PyValue{joined(split(text, given[0]), given[1])};
  if (name == "startswith" && given.size() == 1) return PyValue{text.starts_with(given[0])};
  if (name == "endswith" && given.size() == 1) return PyValue{text.ends_with(given[0])};
  if (!given.empty()) return std::nullopt;
  if (name == "strip") return PyValue{stripped(text)};
  if (name == "lower") return PyValue{with_case(text, std::tolower)};
  if (name == "upper") return PyValue{with_case(text, std::toupper)};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name == "isdigit") return PyValue{!text.empty() && std::ranges::all_of(text, is_digit)};
  return std::nullopt;
}

/// Nothing where one of them is no text.
std::optional<std::vector<std::string>> texts_of(const std::vector<PyValue>& values) {
  std::vector<std::string> texts;
  for (const auto& one : values) {
    const auto* text = one.get<std::string>();
    if (text == nullptr) return std::nullopt;
    texts.push_back(*text);
  }
  return texts;
}

}  // namespace

Result<std::optional<PyValue>> PyInterpreter::call_text_method(const std::string& text, const std::string& name,
                                                               const PyArguments& arguments, const SourcePlace& where) {
  KW_TRY_VOID(charge(static_cast<std::int64_t>(text.size()), where));
  const auto& given = arguments.positional;
  if (name == "format") {
    auto written = braced_text(text, arguments);
    if (!written) return fail_at(errc::program_value, where, "the arguments of format() do not fit the text");
    return PyValue{*std::move(written)};
  }
  if (name == "join" && given.size() == 1) {
    KW_TRY(const auto items, items_of(given[0], where));
    const auto parts = texts_of(items);
    if (!parts) return fail_at(errc::program_type, where, "join() of what is no text");
    return PyValue{joined(*parts, text)};
  }
  const auto texts = texts_of(given);
  if (!texts) return std::optional<PyValue>();
  if (name != "split" || texts->size() > 1) return changed_text(text, name, *texts);
  std::vector<PyValue> parts;
  for (auto& part : split(text, texts->empty() ? "" : texts->front())) parts.push_back(PyValue{std::move(part)});
  return list(std::move(parts));
}

}  // namespace kw
