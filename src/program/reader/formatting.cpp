#include "program/reader/formatting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "program/operators/schema.hpp"

namespace kw {
namespace {

/// "[[fill]align][sign][0][width][.precision][type]", as Python's format() has it.
struct TextFormat {
  char fill = ' ';
  char align = 0;  ///< '<', '>', '^', or '=' for zeros behind the sign
  char sign = '-';
  int width = 0;
  int precision = -1;
  char type = 0;
};

bool is_align(char c) {
  return c == '<' || c == '>' || c == '^' || c == '=';
}

/// Takes a number from the front; -1 where there is none, or it is none that a name has.
int take_number(std::string_view& text) {
  constexpr int k_most = 256;
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number > k_most) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<TextFormat> parsed_format(std::string_view text) {
  TextFormat format;
  if (text.size() > 1 && is_align(text[1])) {
    format.fill = text[0];
    text.remove_prefix(1);
  }
  if (!text.empty() && is_align(text.front())) {
    format.align = text.front();
    text.remove_prefix(1);
  }
  if (!text.empty() && (text.front() == '+' || text.front() == '-' || text.front() == ' ')) {
    format.sign = text.front();
    text.remove_prefix(1);
  }
  if (text.size() > 1 && text.front() == '0') {
    if (format.align == 0) format.align = '=';
    if (format.fill == ' ') format.fill = '0';
    text.remove_prefix(1);
  }
  if (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    format.width = take_number(text);
    if (format.width < 0) return std::nullopt;
  }
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    format.precision = take_number(text);
    if (format.precision < 0) return std::nullopt;
  }
  if (text.size() > 1) return std::nullopt;
  if (!text.empty()) format.type = text.front();
  return format;
}

std::string padded(const std::string& sign, const std::string& digits, const TextFormat& format, char align) {
  const auto used = sign.size() + digits.size();
  const auto width = static_cast<std::size_t>(format.width);
  const auto missing = width > used ? width - used : 0;
  if (format.align != 0) align = format.align;
  const auto filling = [&](std::size_t count) { return std::string(count, format.fill); };
  if (align == '=') return sign + filling(missing) + digits;
  const auto before = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  return filling(before) + sign + digits + filling(missing - before);
}

std::string sign_of(bool negative, const TextFormat& format) {
  if (negative) return "-";
  return format.sign == '-' ? "" : std::string(1, format.sign);
}

/// As repr() of a float: the fewest digits that say which it is.
std::string real_text(double number) {
  auto text = fmt::format("{}", number);
  if (std::isfinite(number) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::optional<std::string> digits_of_real(double magnitude, const TextFormat& format) {
  const int precision = format.precision < 0 ? 6 : format.precision;
  switch (format.type) {
    case 0:
      return format.precision < 0 ? real_text(magnitude) : fmt::format("{:.{}g}", magnitude, precision);
    case 'f':
    case 'F':
      return fmt::format("{:.{}f}", magnitude, precision);
    case 'e':
      return fmt::format("{:.{}e}", magnitude, precision);
    case 'g':
      return fmt::format("{:.{}g}", magnitude, precision);
    case '%':
      return fmt::format("{:.{}f}%", magnitude * 100.0, precision);
    default:
      return std::nullopt;
  }
}

std::optional<std::string> digits_of_integer(std::uint64_t magnitude, const TextFormat& format) {
  switch (format.type) {
    case 0:
    case 'd':
      return fmt::format("{}", magnitude);
    case 'x':
      return fmt::format("{:x}", magnitude);
    case 'X':
      return fmt::format("{:X}", magnitude);
    case 'b':
      return fmt::format("{:b}", magnitude);
    case 'o':
      return fmt::format("{:o}", magnitude);
    default:
      return digits_of_real(static_cast<double>(magnitude), format);
  }
}

std::string by_format(const PyValue& value, const TextFormat& format) {
  std::optional<std::string> digits;
  bool negative = false;
  if (const auto integer = integer_of(value)) {
    const auto number = integer->value();
    negative = number < 0;
    digits = digits_of_integer(negative ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number),
                               format);
  } else if (const auto* real = value.get<double>()) {
    negative = std::signbit(*real) && !std::isnan(*real);
    digits = digits_of_real(std::fabs(*real), format);
  } else if (format.type == 0 || format.type == 's') {
    const auto text = shown_text(value);
    const auto length = format.precision < 0 ? text.size() : static_cast<std::size_t>(format.precision);
    return padded("", text.substr(0, length), format, '<');
  }
  return digits ? padded(sign_of(negative, format), *digits, format, '>') : std::string(k_unknown_text);
}

/// "[flags][width][.precision]type" behind a '%'; takes it from the front.
std::optional<TextFormat> taken_percent_format(std::string_view& text) {
  TextFormat format;
  while (!text.empty() && std::string_view("-+ #0").find(text.front()) != std::string_view::npos) {
    if (text.front() == '-') format.align = '<';
    if (text.front() == '+' || text.front() == ' ') format.sign = text.front();
    if (text.front() == '0' && format.align == 0) {
      format.align = '=';
      format.fill = '0';
    }
    text.remove_prefix(1);
  }
  if (format.align == '<') format.fill = ' ';
  if (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    format.width = take_number(text);
    if (format.width < 0) return std::nullopt;
  }
  if (text.size() > 1 && text.front() == '.') {
    text.remove_prefix(1);
    format.precision = text.front() >= '0' && text.front() <= '9' ? take_number(text) : 0;
    if (format.precision < 0) return std::nullopt;
  }
  if (text.empty()) return std::nullopt;
  format.type = text.front();
  text.remove_prefix(1);
  return format;
}

/// A value behind a '%' with that type of its own.
std::optional<std::string> by_percent(const PyValue& value, TextFormat format) {
  if (format.type == 's' || format.type == 'r') {
    const PyValue text{format.type == 's' ? shown_text(value) : quoted_text(value)};
    format.type = 0;
    if (format.align == 0 || format.align == '=') format.align = '>';
    if (format.fill == '0') format.fill = ' ';
    return by_format(text, format);
  }
  const bool counts = format.type == 'd' || format.type == 'i' || format.type == 'u';
  if (counts) format.type = 'd';
  const auto number = number_of(value);
  if (!number) return std::nullopt;
  if (counts && value.get<double>() != nullptr) return by_format(PyValue{rounded("trunc", value)}, format);
  return by_format(value, format);
}

/// The values behind a '%': a tuple's one after the other, a dictionary's by their names, or one value.
class PercentValues {
 public:
  explicit PercentValues(const PyValue& values)
      : values_(values), several_(values.object<PySequence>()), named_(values.object<PyDictionary>()) {
    if (several_ != nullptr && !several_->tuple) several_ = nullptr;
  }

  /// Of the field that begins here; takes the name "(name)" from the front. Null where there is none.
  const PyValue* taken(std::string_view& text) {
    if (text.starts_with('(')) return taken_by_name(text);
    const auto at = next_++;
    if (several_ != nullptr) return at < several_->items.size() ? &several_->items[at] : nullptr;
    return at == 0 ? &values_ : nullptr;
  }
  [[nodiscard]] bool all_used() const {
    return named_ != nullptr || next_ == (several_ != nullptr ? several_->items.size() : 1);
  }

 private:
  const PyValue* taken_by_name(std::string_view& text) {
    const auto end = text.find(')');
    if (named_ == nullptr || end == std::string_view::npos) return nullptr;
    const PyValue key{std::string(text.substr(1, end - 1))};
    text.remove_prefix(end + 1);
    const auto found =
        std::ranges::find_if(named_->items, [&](const auto& one) { return equal_values(one.first, key); });
    return found == named_->items.end() ? nullptr : &found->second;
  }

  const PyValue& values_;
  const PySequence* several_;
  const PyDictionary* named_;
  std::size_t next_ = 0;
};

/// Walks over a field of a text: what stands in its brackets and quotes belongs to its expression.
class FieldScan {
 public:
  [[nodiscard]] bool is_outside(char c) {
    if (quote_ != 0) {
      if (c == quote_) quote_ = 0;
      return false;
    }
    if (c == '\'' || c == '"') quote_ = c;
    const bool opens = c == '(' || c == '[' || c == '{';
    const bool closes = depth_ > 0 && (c == ')' || c == ']' || c == '}');
    const bool outside = depth_ == 0 && !opens && quote_ == 0;
    depth_ += opens ? 1 : closes ? -1 : 0;
    return outside;
  }

 private:
  int depth_ = 0;
  char quote_ = 0;
};

/// What a field of str.format() names; null for one that is not there.
const PyValue* argument_named(std::string_view name, std::size_t& next, const PyArguments& arguments) {
  std::size_t at = next;
  if (name.empty()) {
    ++next;
  } else if (name.front() >= '0' && name.front() <= '9') {
    at = static_cast<std::size_t>(std::max(take_number(name), 0));
  } else {
    return arguments.keyword(name);
  }
  return at < arguments.positional.size() ? &arguments.positional[at] : nullptr;
}

}  // namespace

std::string shown_text(const PyValue& value) {
  if (value.is_none()) return "None";
  if (const auto* text = value.get<std::string>()) return *text;
  if (const auto* truth = value.get<bool>()) return *truth ? "True" : "False";
  if (const auto* integer = value.get<Extent>()) return fmt::format("{}", integer->value());
  if (const auto* real = value.get<double>()) return real_text(*real);
  if (const auto* type = value.get<ElementType>()) return fmt::format("torch.{}", to_string(*type));
  const auto* items = value.object<PySequence>();
  if (items == nullptr || items->set) return std::string(k_unknown_text);
  std::string text;
  for (const auto& item : items->items) text += (text.empty() ? "" : ", ") + quoted_text(item);
  if (!items->tuple) return "[" + text + "]";
  return "(" + text + (items->items.size() == 1 ? ",)" : ")");
}

std::string quoted_text(const PyValue& value) {
  const auto* text = value.get<std::string>();
  return text == nullptr ? shown_text(value) : fmt::format("'{}'", *text);
}

std::string formatted_text(const PyValue& value, std::string_view format) {
  if (format.empty()) return shown_text(value);
  const auto parsed = parsed_format(format);
  return parsed ? by_format(value, *parsed) : std::string(k_unknown_text);
}

std::optional<std::string> percent_text(std::string_view text, const PyValue& values) {
  PercentValues left(values);
  std::string result;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '%' || text.starts_with('%')) {
      result += c;
      if (c == '%') text.remove_prefix(1);
      continue;
    }
    const auto* value = left.taken(text);
    const auto format = taken_percent_format(text);
    const auto written = value != nullptr && format ? by_percent(*value, *format) : std::nullopt;
    if (!written) return std::nullopt;
    result += *written;
  }
  return left.all_used() ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<std::string> braced_text(std::string_view text, const PyArguments& arguments) {
  std::size_t next = 0;
  std::string result;
  while (!text.empty()) {
    if (text.starts_with("{{") || text.starts_with("}}")) {
      result += text.front();
      text.remove_prefix(2);
      continue;
    }
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '{') {
      result += c;
      continue;
    }
    const auto end = end_of_field(text);
    if (end == text.size()) return std::nullopt;
    const auto field = text_field(text.substr(0, end));
    text.remove_prefix(end + 1);
    const bool part = field.expression.find_first_of(".[") != std::string_view::npos;
    const auto* value =
        argument_named(field.expression.substr(0, field.expression.find_first_of(".[")), next, arguments);
    if (value == nullptr) return std::nullopt;
    result += part ? std::string(k_unknown_text)
                   : formatted_text(field.quoted ? PyValue{quoted_text(*value)} : *value, field.format);
  }
  return result;
}

std::size_t end_of_field(std::string_view text) {
  FieldScan scan;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (scan.is_outside(text[i]) && text[i] == '}') return i;
  }
  return text.size();
}

TextField text_field(std::string_view inside) {
  FieldScan scan;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const char c = inside[i];
    if (!scan.is_outside(c)) continue;
    if (c == ':') return {inside.substr(0, i), inside.substr(i + 1), false};
    const char after = i + 1 < inside.size() ? inside[i + 1] : '\0';
    if (c != '!' || after == '=') continue;
    const auto colon = inside.find(':', i);
    const auto format = colon == std::string_view::npos ? std::string_view() : inside.substr(colon + 1);
    return {inside.substr(0, i), format, after == 'r'};
  }
  return {inside, {}, false};
}

}  // namespace kw
