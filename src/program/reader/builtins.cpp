// Functions of Python and of math.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "program/reader/formatting.hpp"
#include "program/reader/interpreter.hpp"
#include "program/reader/module_table.hpp"

namespace kw {
namespace {

struct RealFunction {
  std::string_view name;
  double (*apply)(double);
};
constexpr RealFunction k_real_functions[] = {{"sqrt", std::sqrt}, {"exp", std::exp},     {"sin", std::sin},
                                             {"cos", std::cos},   {"tan", std::tan},     {"tanh", std::tanh},
                                             {"log2", std::log2}, {"log10", std::log10}, {"log1p", std::log1p},
                                             {"fabs", std::fabs}, {"expm1", std::expm1}, {"erf", std::erf}};

constexpr double k_largest_integer = 9.0e18;

/// Where math.NAME is a number.
bool in_domain(std::string_view name, double number) {
  if (name == "sqrt") return number >= 0.0;
  if (name == "log1p") return number > -1.0;
  return !name.starts_with("log") || number > 0.0;
}

/// isinstance() for the types of Python and PyTorch.
bool is_of_library(const PyValue& value, std::string_view type) {
  const auto* items = value.object<PySequence>();
  const auto* tensor = value.object<TensorBox>();
  if (type == "int") return value.get<Extent>() != nullptr || value.get<bool>() != nullptr;
  if (type == "float") return value.get<double>() != nullptr;
  if (type == "bool") return value.get<bool>() != nullptr;
  if (type == "str") return value.get<std::string>() != nullptr;
  if (type == "slice") return value.object<PySliceValue>() != nullptr;
  if (type == "dict") return value.object<PyDictionary>() != nullptr;
  if (type == "set") return items != nullptr && items->set;
  if (type == "list" || type == "tuple") return items != nullptr && !items->set && items->tuple == (type == "tuple");
  if (type == "torch.nn.Parameter") return tensor != nullptr && tensor->is_parameter;
  return type == "torch.Tensor" && tensor != nullptr;
}

/// What float("inf") and the like are.
std::optional<double> number_named(std::string_view text) {
  if (text == "inf") return HUGE_VAL;
  if (text == "-inf") return -HUGE_VAL;
  return text == "nan" ? std::optional(std::numeric_limits<double>::quiet_NaN()) : std::nullopt;
}

}  // namespace

PyValue PyInterpreter::list(std::vector<PyValue> items, bool tuple) {
  return PyValue{heap_.sequence(std::move(items), tuple)};
}

Result<std::vector<PyValue>> PyInterpreter::items_of(const PyValue& value, const SourcePlace& where) {
  std::vector<PyValue> items;
  if (const auto* sequence = value.object<PySequence>()) {
    items = sequence->items;
  } else if (const auto* dictionary = value.object<PyDictionary>()) {
    for (const auto& [key, one] : dictionary->items) items.push_back(key);
  } else if (value.object<TensorBox>() != nullptr) {
    KW_TRY(const auto operand, argument(value, where));
    KW_TRY(const auto parts, one_operator("unbind", {{"", operand, where}}, where));
    items = parts.object<PySequence>()->items;
  } else if (auto* object = value.object<PyObject>();
             object != nullptr && object->library != nullptr && object->library->kind != ModuleKind::plain) {
    if (object->library->kind == ModuleKind::module_dict) {
      for (const auto& [name, child] : object->attributes) items.push_back(PyValue{name});
    } else {
      items = children_of(*object);
    }
  } else if (const auto* text = value.get<std::string>()) {
    for (const char c : *text) items.push_back(PyValue{std::string(1, c)});
  } else {
    return fail_at(errc::program_type, where, fmt::format("{} cannot be iterated over", kind_text(value)));
  }
  KW_TRY_VOID(charge(static_cast<std::int64_t>(items.size()), where));
  return items;
}

Result<PyValue> PyInterpreter::length_of(const PyValue& value, const SourcePlace& where) {
  if (const auto* tensor = value.object<TensorBox>()) {
    const auto& shape = type_of(*tensor).shape;
    if (shape.empty()) return fail_at(errc::program_type, where, "len() of a single number");
    return PyValue{shape.front()};
  }
  KW_TRY(const auto items, items_of(value, where));
  return PyValue{Extent(static_cast<std::int64_t>(items.size()))};
}

Result<PyValue> PyInterpreter::range(const PyArguments& arguments, const SourcePlace& where) {
  const auto& given = arguments.positional;
  std::vector<std::int64_t> numbers;
  for (const auto& one : given) {
    const auto number = integer_of(one);
    if (!number)
      return fail_at(errc::program_type, where, fmt::format("range() of {}", kind_text(one)), "use integers");
    numbers.push_back(number->value());
  }
  if (numbers.empty() || numbers.size() > 3)
    return fail_at(errc::program_call, where, "range() takes one to three integers");
  const auto first = numbers.size() > 1 ? numbers[0] : 0;
  const auto last = numbers.size() > 1 ? numbers[1] : numbers[0];
  const auto step = numbers.size() > 2 ? numbers[2] : 1;
  if (step == 0) return fail_at(errc::program_value, where, "range() with a step of 0");
  std::vector<PyValue> items;
  for (auto i = first; step > 0 ? i < last : i > last;) {
    if (static_cast<std::int64_t>(items.size()) >= k_longest_list)
      return fail_at(errc::program_limit, where, fmt::format("a range of more than {} numbers", k_longest_list),
                     "write the loop as operations on tensors");
    items.push_back(PyValue{Extent(i)});
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  KW_TRY_VOID(charge(static_cast<std::int64_t>(items.size()), where));
  return list(std::move(items));
}

Result<std::optional<PyValue>> PyInterpreter::call_builtin(const std::string& name, const PyArguments& arguments,
                                                           const SourcePlace& where) {
  if (name == "print") return PyValue{};
  if (name == "range") {
    KW_TRY(auto items, range(arguments, where));
    return std::optional<PyValue>(std::move(items));
  }
  if (name == "dict") {
    auto* made = heap_.dictionary();
    if (!arguments.positional.empty() && arguments.positional[0].object<PyDictionary>() != nullptr) {
      *made = *arguments.positional[0].object<PyDictionary>();
    } else if (!arguments.positional.empty()) {
      KW_TRY(const auto pairs, ordered_dictionary(arguments, where));
      made = pairs.object<PyDictionary>();
    }
    for (const auto& [key, value] : arguments.keywords) made->put(PyValue{key}, value);
    return PyValue{made};
  }
  const auto& given = arguments.positional;
  if (name == "slice" && !given.empty() && given.size() <= 3) {
    const auto at = [&](std::size_t i) { return i < given.size() ? given[i] : PyValue{}; };
    return given.size() == 1 ? PyValue{heap_.slice({{}, at(0), {}})} : PyValue{heap_.slice({at(0), at(1), at(2)})};
  }
  KW_TRY(auto reflected, call_reflecting(name, arguments, where));
  if (reflected) return reflected;
  KW_TRY(auto iterated, call_iterating(name, arguments, where));
  if (iterated) return iterated;
  return call_number(name, arguments, where);
}

bool PyInterpreter::is_instance(const PyValue& value, const PyValue& type) const {
  if (const auto* types = type.object<PySequence>()) {
    return std::any_of(types->items.begin(), types->items.end(), [&](const auto& one) {
      return one.template object<PySequence>() == nullptr && is_instance(value, one);
    });
  }
  const auto* object = value.object<PyObject>();
  if (const auto* row = type.get<const ModuleRow*>()) return object != nullptr && object->library == *row;
  if (const auto* own = type.object<PyClass>()) {
    std::vector<const PyClass*> open;
    if (object != nullptr && object->type != nullptr) open.push_back(object->type);
    while (!open.empty()) {
      const auto* here = open.back();
      open.pop_back();
      if (here == own) return true;
      open.insert(open.end(), here->bases.begin(), here->bases.end());
    }
    return false;
  }
  const auto* name = type.get<PyLibraryName>();
  if (name == nullptr) return false;
  return name->path == "torch.nn.Module" ? is_module(value) : is_of_library(value, name->path);
}

Result<std::optional<PyValue>> PyInterpreter::call_reflecting(const std::string& name, const PyArguments& arguments,
                                                              const SourcePlace& where) {
  const auto& given = arguments.positional;
  if (name == "isinstance" && given.size() == 2) return PyValue{is_instance(given[0], given[1])};
  if (name == "callable" && given.size() == 1)
    return PyValue{given[0].object<PyClosure>() != nullptr || given[0].object<PyObject>() != nullptr};
  const auto* attribute_name = given.size() > 1 ? given[1].get<std::string>() : nullptr;
  if (attribute_name != nullptr) KW_TRY_VOID(check_name(*attribute_name, where));
  if (name == "hasattr" && attribute_name != nullptr) {
    KW_TRY(const auto found, find_attribute(given[0], *attribute_name, where));
    return PyValue{found.has_value()};
  }
  if (name == "getattr" && attribute_name != nullptr) {
    KW_TRY(auto found, find_attribute(given[0], *attribute_name, where));
    if (found) return found;
    if (given.size() > 2) return given[2];
    return unknown_attribute(given[0], *attribute_name, where);
  }
  if (name == "setattr" && given.size() == 3 && attribute_name != nullptr) {
    KW_TRY_VOID(set_attribute(given[0], *attribute_name, given[2], where));
    return PyValue{};
  }
  if (name == "type" && given.size() == 1) {
    const auto* object = given[0].object<PyObject>();
    if (object != nullptr && object->type != nullptr) return PyValue{object->type};
    if (object != nullptr) return PyValue{object->library};
    return PyValue{std::string(kind_text(given[0]))};
  }
  return std::optional<PyValue>();
}

/// zip() and map(): rows as long as the shortest column.
Result<PyValue> PyInterpreter::rows_of(bool mapped, const std::vector<PyValue>& given, const SourcePlace& where) {
  std::vector<std::vector<PyValue>> columns;
  for (std::size_t i = mapped ? 1 : 0; i < given.size(); ++i) {
    KW_TRY(auto items, items_of(given[i], where));
    columns.push_back(std::move(items));
  }
  std::size_t count = columns.empty() ? 0 : columns.front().size();
  for (const auto& column : columns) count = std::min(count, column.size());
  std::vector<PyValue> rows;
  for (std::size_t row = 0; row < count; ++row) {
    std::vector<PyValue> items;
    for (const auto& column : columns) items.push_back(column[row]);
    if (!mapped) {
      rows.push_back(list(std::move(items), true));
      continue;
    }
    KW_TRY(auto value, call(given[0], {std::move(items), {}}, "map", where));
    rows.push_back(std::move(value));
  }
  return list(std::move(rows));
}

/// any(), all() and sum().
Result<std::optional<PyValue>> PyInterpreter::reduced(const std::string& name, const std::vector<PyValue>& items,
                                                      const PyValue& start, const SourcePlace& where) {
  if (name == "sum") {
    PyValue total = start.is_none() ? PyValue{Extent(0)} : start;
    for (const auto& item : items) {
      KW_TRY(total, binary("+", total, item, where));
    }
    return total;
  }
  if (name != "any" && name != "all") return std::optional<PyValue>();
  for (const auto& item : items) {
    KW_TRY(const bool holds, truth(item, where));
    if (holds == (name == "any")) return PyValue{holds};
  }
  return PyValue{name == "all"};
}

Result<void> PyInterpreter::sort_values(std::vector<PyValue>& items, const PyArguments& order,
                                        const SourcePlace& where) {
  struct Keyed {
    PyValue key;
    PyValue item;
  };
  std::vector<Keyed> keyed;
  const auto* function = order.keyword("key");
  for (auto& item : items) {
    PyValue key = item;
    if (function != nullptr && !function->is_none()) {
      KW_TRY(key, call(*function, {{item}, {}}, "key", where));
    }
    keyed.push_back({std::move(key), std::move(item)});
  }
  const bool texts = std::ranges::all_of(keyed, [](const Keyed& one) { return one.key.get<std::string>() != nullptr; });
  const bool numbers = std::ranges::all_of(keyed, [](const Keyed& one) { return number_of(one.key).has_value(); });
  if (!numbers && !texts)
    return fail_at(errc::program_unsupported, where, "only numbers, or texts, are sorted", "write the order out");
  const auto below = [&](const Keyed& a, const Keyed& b) {
    return texts ? *a.key.get<std::string>() < *b.key.get<std::string>() : *number_of(a.key) < *number_of(b.key);
  };
  bool reversed = false;
  if (const auto* asked = order.keyword("reverse")) {
    KW_TRY(reversed, truth(*asked, where));
  }
  std::ranges::stable_sort(keyed, [&](const Keyed& a, const Keyed& b) { return reversed ? below(b, a) : below(a, b); });
  std::ranges::transform(keyed, items.begin(), [](Keyed& one) { return std::move(one.item); });
  return {};
}

/// next(): whatever Python iterates over once is a list of its own, of which it takes the first item.
Result<PyValue> PyInterpreter::next_item(const std::vector<PyValue>& given, const SourcePlace& where) {
  auto* items = given[0].object<PySequence>();
  if (items == nullptr || items->tuple)
    return fail_at(errc::program_type, where, fmt::format("next() of {}", kind_text(given[0])), "use iter()");
  if (!items->items.empty()) {
    auto first = items->items.front();
    items->items.erase(items->items.begin());
    return first;
  }
  if (given.size() > 1) return given[1];
  return fail_at(errc::program_value, where, "next() behind the last item");
}

Result<std::optional<PyValue>> PyInterpreter::call_iterating(const std::string& name, const PyArguments& arguments,
                                                             const SourcePlace& where) {
  constexpr std::string_view k_iterating[] = {"list", "tuple", "enumerate", "reversed", "any",
                                              "all",  "sum",   "sorted",    "iter",     "set"};
  const auto& given = arguments.positional;
  if ((name == "list" || name == "tuple") && given.empty()) return list({}, name == "tuple");
  if (name == "set" && given.empty()) return set_of({});
  if (given.empty()) return std::optional<PyValue>();
  if (name == "next") {
    KW_TRY(auto item, next_item(given, where));
    return std::optional<PyValue>(std::move(item));
  }
  if (name == "len" || name == "zip" || name == "map") {
    KW_TRY(auto made, name == "len" ? length_of(given[0], where) : rows_of(name == "map", given, where));
    return std::optional<PyValue>(std::move(made));
  }
  if (std::find(std::begin(k_iterating), std::end(k_iterating), name) == std::end(k_iterating))
    return std::optional<PyValue>();
  KW_TRY(auto items, items_of(given[0], where));
  KW_TRY(auto one, reduced(name, items, given.size() > 1 ? given[1] : PyValue{}, where));
  if (one) return one;
  if (name == "reversed") std::reverse(items.begin(), items.end());
  if (name == "sorted") {
    KW_TRY_VOID(sort_values(items, arguments, where));
  }
  if (name == "set") return set_of(items);
  if (name == "enumerate") {
    auto number = given.size() > 1 ? integer_of(given[1]).value_or(0).value() : 0;
    for (auto& item : items) item = list({PyValue{Extent(number++)}, item}, true);
  }
  return list(std::move(items), name == "tuple");
}

Result<PyValue> PyInterpreter::extremum(bool largest, const PyArguments& arguments, const SourcePlace& where) {
  auto items = arguments.positional;
  if (items.size() == 1) {
    KW_TRY(items, items_of(arguments.positional[0], where));
  }
  if (items.empty()) return fail_at(errc::program_value, where, "min() or max() of nothing");
  PyValue best = items.front();
  for (const auto& item : items) {
    const auto a = number_of(item);
    const auto b = number_of(best);
    if (!a || !b)
      return fail_at(errc::program_type, where, fmt::format("min() or max() of {}", kind_text(item)),
                     "use torch.minimum and torch.maximum for tensors");
    if (largest ? *a > *b : *a < *b) best = item;
  }
  return best;
}

Result<std::optional<PyValue>> PyInterpreter::call_number(const std::string& name, const PyArguments& arguments,
                                                          const SourcePlace& where) {
  const auto& given = arguments.positional;
  if (given.empty()) return std::optional<PyValue>();
  if (name == "min" || name == "max") {
    KW_TRY(auto best, extremum(name == "max", arguments, where));
    return std::optional<PyValue>(std::move(best));
  }
  if (name == "str") return PyValue{shown_text(given[0])};
  if (name == "bool") {
    KW_TRY(const bool holds, truth(given[0], where));
    return PyValue{holds};
  }
  if (name == "pow" && given.size() == 2) {
    KW_TRY(auto power, binary("**", given[0], given[1], where));
    return std::optional<PyValue>(std::move(power));
  }
  if (name == "abs" && given[0].object<TensorBox>() != nullptr) {
    KW_TRY(const auto operand, argument(given[0], where));
    KW_TRY(auto result, one_operator("abs", {{"", operand, where}}, where));
    return std::optional<PyValue>(std::move(result));
  }
  if (name != "int" && name != "float" && name != "round" && name != "abs") return std::optional<PyValue>();
  KW_TRY(auto converted, converted_number(name, given, where));
  return std::optional<PyValue>(std::move(converted));
}

/// int(), float(), round() and abs() of a number.
Result<PyValue> PyInterpreter::converted_number(const std::string& name, const std::vector<PyValue>& given,
                                                const SourcePlace& where) {
  const auto number = number_of(given[0]);
  if (!number) {
    const auto* text = given[0].get<std::string>();
    const auto special = name == "float" && text != nullptr ? number_named(*text) : std::nullopt;
    if (special) return PyValue{*special};
    return fail_at(errc::program_type, where, fmt::format("{}() of {}", name, kind_text(given[0])),
                   given[0].object<TensorBox>() != nullptr
                       ? "keep it a tensor: its values are not known before the module runs"
                       : "");
  }
  if (name == "float") return real_of(*number, floor_of(given[0]));
  if (const auto integer = integer_of(given[0])) {
    const bool turned = name == "abs" && integer->value() < 0;
    return turned ? integers("-", 0, *integer, where) : Result<PyValue>(PyValue{*integer});
  }
  if (name == "abs") return PyValue{std::fabs(*number)};
  if (name == "round" && given.size() > 1) return PyValue{*number};
  if (!(std::fabs(*number) < k_largest_integer))
    return fail_at(errc::program_value, where, fmt::format("{}({}) does not fit 64 bits", name, *number));
  return PyValue{rounded(name, given[0])};
}

/// math functions of integers.
std::optional<PyValue> PyInterpreter::integer_math(const std::string& name, const std::vector<PyValue>& given) {
  constexpr std::int64_t k_most = std::int64_t{1} << 52U;
  const auto first = integer_of(given[0]);
  if (!first || first->value() < 0 || first->value() > k_most) return std::nullopt;
  if (name == "isqrt")
    return PyValue{Extent(static_cast<std::int64_t>(std::sqrt(static_cast<double>(first->value()))))};
  const auto second = given.size() > 1 ? integer_of(given[1]) : std::nullopt;
  if (name == "gcd" && second && second->value() > -k_most)
    return PyValue{Extent(std::gcd(first->value(), second->value()))};
  return std::nullopt;
}

Result<PyValue> PyInterpreter::product_of(const PyValue& iterable, const SourcePlace& where) {
  KW_TRY(const auto items, items_of(iterable, where));
  PyValue product{Extent(1)};
  for (const auto& item : items) {
    KW_TRY(product, binary("*", product, item, where));
  }
  return product;
}

Result<PyValue> PyInterpreter::call_math(const std::string& name, const PyArguments& arguments,
                                         const SourcePlace& where) {
  const auto& given = arguments.positional;
  if (given.empty()) return fail_at(errc::program_call, where, fmt::format("math.{} needs an argument", name));
  if (name == "prod") return product_of(given[0], where);
  std::vector<double> numbers;
  for (const auto& one : given) {
    const auto number = number_of(one);
    if (!number)
      return fail_at(errc::program_type, where, fmt::format("math.{} of {}", name, kind_text(one)),
                     one.object<TensorBox>() != nullptr ? fmt::format("use torch.{}", name) : "");
    numbers.push_back(*number);
  }
  const double first = numbers[0];
  if (auto result = integer_math(name, given)) return *std::move(result);
  if ((name == "floor" || name == "ceil" || name == "trunc") && std::fabs(first) < k_largest_integer) {
    if (const auto integer = integer_of(given[0])) return PyValue{*integer};
    return PyValue{rounded(name, given[0])};
  }
  const bool outside = !in_domain(name, first);
  if (outside) return fail_at(errc::program_value, where, fmt::format("math.{} of {}", name, first));
  if (name == "log") return PyValue{numbers.size() > 1 ? std::log(first) / std::log(numbers[1]) : std::log(first)};
  if (name == "pow" && numbers.size() == 2) return PyValue{std::pow(first, numbers[1])};
  for (const auto& function : k_real_functions) {
    if (function.name == name) return PyValue{function.apply(first)};
  }
  return fail_at(errc::program_name, where, fmt::format("math.{} is not read", name), "write the number itself");
}

}  // namespace kw
