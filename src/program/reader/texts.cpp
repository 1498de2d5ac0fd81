// Methods of Python's texts.

#include <algorithm>
#include <cctype>

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

std::optional<bool> asked(const std::string& text, const std::string& name, const std::string& other) {
  if (name == "startswith") return text.starts_with(other);
  if (name == "endswith") return text.ends_with(other);
  return std::nullopt;
}

}  // namespace

Result<std::optional<PyValue>> PyInterpreter::call_text_method(const std::string& text, const std::string& name,
                                                               const PyArguments& arguments, const SourcePlace& where) {
  KW_TRY_VOID(charge(static_cast<std::int64_t>(text.size()), where));
  const auto& given = arguments.positional;
  if (name == "format") return PyValue{text};  // texts that are made for people change nothing
  std::vector<std::string> texts;
  if (name == "join" && given.size() == 1) {
    KW_TRY(const auto items, items_of(given[0], where));
    for (const auto& item : items) {
      const auto* one = item.get<std::string>();
      if (one == nullptr) return fail_at(errc::program_type, where, fmt::format("join() of {}", kind_text(item)));
      texts.push_back(*one);
    }
    return PyValue{joined(texts, text)};
  }
  for (const auto& one : given) {
    if (const auto* other = one.get<std::string>()) texts.push_back(*other);
  }
  if (texts.size() != given.size()) return std::optional<PyValue>();
  if (name == "split" && texts.size() < 2) {
    std::vector<PyValue> parts;
    for (auto& part : split(text, texts.empty() ? "" : texts[0])) parts.push_back(PyValue{std::move(part)});
    return list(std::move(parts));
  }
  if (name == "replace" && texts.size() == 2 && !texts[0].empty())
    return PyValue{joined(split(text, texts[0]), texts[1])};
  if (texts.size() == 1) {
    if (const auto holds = asked(text, name, texts[0])) return PyValue{*holds};
  }
  if (!texts.empty()) return std::optional<PyValue>();
  if (name == "strip") return PyValue{stripped(text)};
  if (name == "lower") return PyValue{with_case(text, std::tolower)};
  if (name == "upper") return PyValue{with_case(text, std::toupper)};
  if (name == "isdigit")
    return PyValue{!text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })};
  return std::optional<PyValue>();
}

}  // namespace kw
