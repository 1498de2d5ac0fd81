#include "program/operators/schema.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "program/errors.hpp"

namespace kw {
namespace {

constexpr std::size_t k_any = 99;

struct SchemaWord {
  std::string_view word;
  SchemaType type;
};
constexpr std::array<SchemaWord, 10> k_schema_words = {{{"Tensor", SchemaType::tensor},
                                                        {"Operand", SchemaType::operand},
                                                        {"int", SchemaType::integer},
                                                        {"padding", SchemaType::integers},
                                                        {"float", SchemaType::real},
                                                        {"number", SchemaType::number},
                                                        {"OrderOfNorm", SchemaType::number},
                                                        {"bool", SchemaType::boolean},
                                                        {"str", SchemaType::text},
                                                        {"dtype", SchemaType::dtype}}};

ArgumentValue schema_literal(std::string_view text) {
  if (text == "None") return std::monostate{};
  if (text == "True" || text == "False") return text == "True";
  if (text == "[]") return Shape{};
  if (text.front() == '\'') return std::string(text.substr(1, text.size() - 2));
  const std::string digits(text);
  if (digits.find_first_of(".e") != std::string::npos) return std::strtod(digits.c_str(), nullptr);
  return Extent(std::strtoll(digits.c_str(), nullptr, 10));
}

SchemaParameter schema_parameter(std::string_view text) {
  SchemaParameter parameter;
  const auto space = text.find(' ');
  auto type = text.substr(0, space);
  auto name = text.substr(space + 1);
  if (const auto equals = name.find('='); equals != std::string_view::npos) {
    parameter.initial = schema_literal(name.substr(equals + 1));
    name = name.substr(0, equals);
  }
  parameter.name = name;
  if (type.ends_with('?')) {
    parameter.optional = true;
    type.remove_suffix(1);
  }
  const auto bracket = type.find_first_of("[.");
  const auto word = type.substr(0, bracket);
  const auto found = std::find_if(k_schema_words.begin(), k_schema_words.end(),
                                  [&](const SchemaWord& one) { return one.word == word; });
  KW_CHECK(found != k_schema_words.end(), "schema type {}", type);
  parameter.type = found->type;
  parameter.or_text = word == "padding" || word == "OrderOfNorm";
  if (bracket != std::string_view::npos) {
    parameter.type = parameter.type == SchemaType::tensor ? SchemaType::tensors : SchemaType::integers;
    parameter.variadic = type.ends_with("...");
    const auto inside = type.substr(bracket + 1);
    if (!parameter.variadic && inside.size() > 1) {
      parameter.repeat = inside[0] == '*' ? k_any : static_cast<std::size_t>(inside[0] - '0');
    }
  }
  return parameter;
}

std::optional<ArgumentValue> converted_to_integers(const SchemaParameter& parameter, const ArgumentValue& value) {
  if (parameter.or_text && std::holds_alternative<std::string>(value)) return value;
  const bool any_number = parameter.repeat == 0 || parameter.repeat == k_any;
  if (const auto* integer = std::get_if<Extent>(&value); integer != nullptr && parameter.repeat > 0) {
    return ArgumentValue(Shape(any_number ? 1 : parameter.repeat, *integer));
  }
  const auto* list = std::get_if<Shape>(&value);
  if (list == nullptr) return std::nullopt;
  if (list->size() == 1 && !any_number) return ArgumentValue(Shape(parameter.repeat, list->front()));
  return any_number || list->size() == parameter.repeat ? std::optional<ArgumentValue>(value) : std::nullopt;
}

/// Converts as PyTorch does: an integer to a float or a list, a boolean to an integer; nothing else.
std::optional<ArgumentValue> converted_to(const SchemaParameter& parameter, const ArgumentValue& value) {
  if (std::holds_alternative<std::monostate>(value)) {
    return parameter.optional ? std::optional<ArgumentValue>(value) : std::nullopt;
  }
  const auto* integer = std::get_if<Extent>(&value);
  const auto* truth = std::get_if<bool>(&value);
  const bool number = integer != nullptr || truth != nullptr || std::holds_alternative<double>(value);
  const auto* tensors = std::get_if<std::vector<ValueRef>>(&value);
  const auto* list = std::get_if<Shape>(&value);
  const auto when = [&](bool fits) { return fits ? std::optional<ArgumentValue>(value) : std::nullopt; };
  switch (parameter.type) {
    case SchemaType::tensor:
      return when(std::holds_alternative<ValueRef>(value));
    case SchemaType::operand:
      return when(number || std::holds_alternative<ValueRef>(value));
    case SchemaType::tensors:
      if (list != nullptr && list->empty()) return ArgumentValue(std::vector<ValueRef>{});
      return when(tensors != nullptr);
    case SchemaType::integer:
      if (truth != nullptr) return ArgumentValue(Extent(*truth ? 1 : 0));
      return when(integer != nullptr);
    case SchemaType::integers:
      return converted_to_integers(parameter, value);
    case SchemaType::real:
      if (integer != nullptr) return ArgumentValue(static_cast<double>(integer->value()));
      return when(std::holds_alternative<double>(value));
    case SchemaType::number:
      return when(number || (parameter.or_text && std::holds_alternative<std::string>(value)));
    case SchemaType::boolean:
      if (integer != nullptr) return ArgumentValue(integer->value() != 0);
      return when(truth != nullptr);
    case SchemaType::text:
      return when(std::holds_alternative<std::string>(value));
    case SchemaType::dtype:
      return when(std::holds_alternative<ElementType>(value));
  }
  return std::nullopt;
}

std::string wanted_kind(const SchemaParameter& parameter) {
  switch (parameter.type) {
    case SchemaType::tensor:
      return "a tensor";
    case SchemaType::operand:
      return "a tensor or a number";
    case SchemaType::tensors:
      return "a list of tensors";
    case SchemaType::integer:
      return "an integer";
    case SchemaType::integers:
      if (parameter.repeat == 0 || parameter.repeat == k_any) return "a list of integers";
      return fmt::format("an integer or a list of {} of them", parameter.repeat);
    case SchemaType::real:
    case SchemaType::number:
      return "a number";
    case SchemaType::boolean:
      return "True or False";
    case SchemaType::text:
      return "a text";
    case SchemaType::dtype:
      break;
  }
  return "a dtype such as torch.float32";
}

class ArgumentBinder {
 public:
  ArgumentBinder(const std::vector<SchemaParameter>& schema, const std::string& shown, const SourcePlace& where)
      : schema_(schema), shown_(shown), where_(where), values_(schema.size()) {}

  Result<std::vector<Argument>> run(const std::vector<GivenArgument>& given) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!given[i].keyword.empty()) {
        KW_TRY_VOID(keyword(given[i]));
        continue;
      }
      if (next >= schema_.size()) return too_many(given[i].where);
      if (schema_[next].variadic && std::holds_alternative<Extent>(given[i].value)) {
        i = variadic(given, i, next) - 1;
      } else {
        KW_TRY_VOID(set(next, given[i]));
      }
      ++next;
    }
    return finished();
  }

 private:
  [[nodiscard]] tl::unexpected<Error> too_many(const SourcePlace& where) const {
    return fail_at(
        errc::program_call, where,
        fmt::format("{} takes at most {} argument{}", shown_, schema_.size(), schema_.size() == 1 ? "" : "s"),
        "it is called as " + usage());
  }

  [[nodiscard]] std::string usage() const {
    return shown_ + "(" +
           join(schema_, ", ",
                [](const SchemaParameter& one) {
                  return one.initial ? fmt::format("{}={}", one.name, argument_text(*one.initial)) : one.name;
                }) +
           ")";
  }

  Result<void> keyword(const GivenArgument& given) {
    // PyTorch takes NumPy's names as well.
    const std::string name = given.keyword == "axis" ? "dim" : given.keyword == "keepdims" ? "keepdim" : given.keyword;
    const auto found = std::find_if(schema_.begin(), schema_.end(), [&](const auto& one) { return one.name == name; });
    if (found != schema_.end()) {
      const auto index = static_cast<std::size_t>(found - schema_.begin());
      if (!values_[index]) return set(index, given);
      return fail_at(errc::program_call, given.where, fmt::format("{} gets '{}' twice", shown_, name));
    }
    // What only says where memory lies, or that a gradient is wanted, changes nothing here.
    for (const std::string_view ignored :
         {"device", "requires_grad", "pin_memory", "memory_format", "layout", "non_blocking", "copy", "generator"}) {
      if (given.keyword == ignored) return {};
    }
    std::vector<std::string> known;
    for (const auto& one : schema_) known.push_back(one.name);
    const auto near = closest_name(name, known);
    return fail_at(errc::program_call, given.where, fmt::format("{} has no argument '{}'", shown_, given.keyword),
                   near ? fmt::format("did you mean '{}'?", *near) : "it is called as " + usage());
  }

  /// Takes the integers from `at` on; returns the index behind them.
  std::size_t variadic(const std::vector<GivenArgument>& given, std::size_t at, std::size_t parameter) {
    Shape list;
    for (; at < given.size() && given[at].keyword.empty(); ++at) {
      const auto* integer = std::get_if<Extent>(&given[at].value);
      if (integer == nullptr) break;
      list.push_back(*integer);
    }
    values_[parameter] = ArgumentValue(std::move(list));
    return at;
  }

  Result<void> set(std::size_t index, const GivenArgument& given) {
    values_[index] = converted_to(schema_[index], given.value);
    if (values_[index]) return {};
    return fail_at(errc::program_call, given.where,
                   fmt::format("'{}' of {} is {}, not {}", schema_[index].name, shown_, argument_kind(given.value),
                               wanted_kind(schema_[index])));
  }

  Result<std::vector<Argument>> finished() {
    std::vector<Argument> arguments;
    for (std::size_t i = 0; i < schema_.size(); ++i) {
      const auto& parameter = schema_[i];
      if (!values_[i] && !parameter.initial) {
        return fail_at(errc::program_call, where_, fmt::format("{} needs '{}'", shown_, parameter.name),
                       "it is called as " + usage());
      }
      const bool is_default = parameter.initial && (!values_[i] || same_value(*values_[i], *parameter.initial));
      auto value = values_[i] ? *std::move(values_[i]) : converted_to(parameter, *parameter.initial);
      KW_CHECK(value.has_value(), "the default of {} of {}", parameter.name, shown_);
      arguments.push_back({parameter.name, *std::move(value), is_default, parameter.is_tensor()});
    }
    return arguments;
  }

  const std::vector<SchemaParameter>& schema_;
  const std::string& shown_;
  const SourcePlace& where_;
  std::vector<std::optional<ArgumentValue>> values_;
};

}  // namespace

std::vector<SchemaParameter> parse_schema(std::string_view text) {
  std::vector<SchemaParameter> parameters;
  while (!text.empty()) {
    const auto comma = text.find(", ");
    parameters.push_back(schema_parameter(text.substr(0, comma)));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 2);
  }
  return parameters;
}

Result<std::vector<Argument>> bind_arguments(const std::vector<SchemaParameter>& schema,
                                             const std::vector<GivenArgument>& given, const std::string& shown,
                                             const SourcePlace& where) {
  return ArgumentBinder(schema, shown, where).run(given);
}

bool same_value(const ArgumentValue& a, const ArgumentValue& b) {
  const auto number = [](const ArgumentValue& value) -> std::optional<double> {
    if (const auto* integer = std::get_if<Extent>(&value)) return static_cast<double>(integer->value());
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::nullopt;
  };
  if (const auto left = number(a), right = number(b); left && right) return *left == *right;
  const auto* list = std::get_if<Shape>(&a);
  if (const auto* single = std::get_if<Extent>(&b); list != nullptr && single != nullptr) {
    return !list->empty() && std::all_of(list->begin(), list->end(), [&](const Extent& one) { return one == *single; });
  }
  if (std::holds_alternative<Extent>(a) && std::holds_alternative<Shape>(b)) return same_value(b, a);
  if (a.index() != b.index() || std::holds_alternative<ValueRef>(a)) return false;
  if (const auto* other = std::get_if<Shape>(&b); list != nullptr && other != nullptr) return *list == *other;
  if (std::holds_alternative<std::string>(a)) return std::get<std::string>(a) == std::get<std::string>(b);
  if (std::holds_alternative<bool>(a)) return std::get<bool>(a) == std::get<bool>(b);
  if (std::holds_alternative<ElementType>(a)) return std::get<ElementType>(a) == std::get<ElementType>(b);
  return std::holds_alternative<std::monostate>(a);
}

std::string argument_text(const ArgumentValue& value) {
  struct Printer {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(const ValueRef& tensor) const { return fmt::format("%{}", tensor.value); }
    std::string operator()(const std::vector<ValueRef>& tensors) const {
      return "[" + join(tensors, ", ", [](const ValueRef& one) { return fmt::format("%{}", one.value); }) + "]";
    }
    std::string operator()(bool truth) const { return truth ? "True" : "False"; }
    std::string operator()(const Extent& integer) const { return fmt::format("{}", integer.value()); }
    std::string operator()(double real) const {
      if (std::isinf(real)) return real > 0 ? "inf" : "-inf";
      auto text = fmt::format("{}", real);
      if (text.find_first_of(".en") == std::string::npos) text += ".0";
      return text;
    }
    std::string operator()(const std::string& text) const { return "'" + text + "'"; }
    std::string operator()(const Shape& list) const { return "[" + join(values_of(list)) + "]"; }
    std::string operator()(ElementType type) const { return fmt::format("torch.{}", to_string(type)); }
  };
  return std::visit(Printer{}, value);
}

std::string_view argument_kind(const ArgumentValue& value) {
  constexpr std::array<std::string_view, 9> k_kinds = {"None",      "a tensor",           "a list of tensors",
                                                       "a boolean", "an integer",         "a float",
                                                       "a text",    "a list of integers", "a dtype"};
  return k_kinds[value.index()];
}

}  // namespace kw
