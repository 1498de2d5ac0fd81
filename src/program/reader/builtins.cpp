// Functions of Python and of math, and the methods of lists and dictionaries.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "program/reader/interpreter.hpp"

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
    if (!arguments.positional.empty() && arguments.positional[0].object<PyDictionary>() != nullptr)
      *made = *arguments.positional[0].object<PyDictionary>();
    for (const auto& [key, value] : arguments.keywords) made->items.emplace_back(PyValue{key}, value);
    return PyValue{made};
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
  if (name->path == "int") return value.get<Extent>() != nullptr || value.get<bool>() != nullptr;
  if (name->path == "float") return value.get<double>() != nullptr;
  if (name->path == "bool") return value.get<bool>() != nullptr;
  if (name->path == "str") return value.get<std::string>() != nullptr;
  if (name->path == "list" || name->path == "tuple")
    return value.object<PySequence>() != nullptr && value.object<PySequence>()->tuple == (name->path == "tuple");
  if (name->path == "dict") return value.object<PyDictionary>() != nullptr;
  if (name->path == "torch.Tensor") return value.object<TensorBox>() != nullptr;
  if (name->path == "torch.nn.Parameter")
    return value.object<TensorBox>() != nullptr && value.object<TensorBox>()->is_parameter;
  return name->path == "torch.nn.Module" && is_module(value);
}

Result<std::optional<PyValue>> PyInterpreter::call_reflecting(const std::string& name, const PyArguments& arguments,
                                                              const SourcePlace& where) {
  const auto& given = arguments.positional;
  if (name == "isinstance" && given.size() == 2) return PyValue{is_instance(given[0], given[1])};
  if (name == "callable" && given.size() == 1)
    return PyValue{given[0].object<PyClosure>() != nullptr || given[0].object<PyObject>() != nullptr};
  const auto* attribute_name = given.size() > 1 ? given[1].get<std::string>() : nullptr;
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

Result<std::optional<PyValue>> PyInterpreter::call_iterating(const std::string& name, const PyArguments& arguments,
                                                             const SourcePlace& where) {
  const auto& given = arguments.positional;
  if ((name == "list" || name == "tuple") && given.empty()) return list({}, name == "tuple");
  if (given.empty()) return std::optional<PyValue>();
  if (name == "len") {
    KW_TRY(auto length, length_of(given[0], where));
    return std::optional<PyValue>(std::move(length));
  }
  if (name == "zip" || name == "map") {
    std::vector<std::vector<PyValue>> columns;
    for (std::size_t i = name == "map" ? 1 : 0; i < given.size(); ++i) {
      KW_TRY(auto items, items_of(given[i], where));
      columns.push_back(std::move(items));
    }
    std::vector<PyValue> rows;
    for (std::size_t row = 0; !columns.empty() && std::all_of(columns.begin(), columns.end(),
                                                              [&](const auto& one) { return row < one.size(); });
         ++row) {
      std::vector<PyValue> items;
      for (const auto& column : columns) items.push_back(column[row]);
      if (name == "zip") {
        rows.push_back(list(std::move(items), true));
      } else {
        KW_TRY(auto value, call(given[0], {std::move(items), {}}, "map", where));
        rows.push_back(std::move(value));
      }
    }
    return list(std::move(rows));
  }
  const bool iterates = name == "list" || name == "tuple" || name == "enumerate" || name == "reversed" ||
                        name == "any" || name == "all" || name == "sum" || name == "sorted" || name == "iter";
  if (!iterates) return std::optional<PyValue>();
  KW_TRY(auto items, items_of(given[0], where));
  if (name == "any" || name == "all") {
    for (const auto& item : items) {
      KW_TRY(const bool holds, truth(item, where));
      if (holds == (name == "any")) return PyValue{holds};
    }
    return PyValue{name == "all"};
  }
  if (name == "sum") {
    PyValue total = given.size() > 1 ? given[1] : PyValue{Extent(0)};
    for (const auto& item : items) {
      KW_TRY(total, binary("+", total, item, where));
    }
    return total;
  }
  if (name == "sorted") {
    if (!std::all_of(items.begin(), items.end(), [](const auto& one) { return number_of(one).has_value(); }))
      return fail_at(errc::program_unsupported, where, "only numbers are sorted", "write the order out");
    std::stable_sort(items.begin(), items.end(),
                     [](const auto& a, const auto& b) { return *number_of(a) < *number_of(b); });
  }
  if (name == "reversed") std::reverse(items.begin(), items.end());
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
  if (name == "str") {
    if (const auto* text = given[0].get<std::string>()) return PyValue{*text};
    const auto number = integer_of(given[0]);
    return PyValue{number ? fmt::format("{}", number->value()) : kind_text(given[0])};
  }
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
  const auto number = number_of(given[0]);
  const bool converts = name == "int" || name == "float" || name == "round" || name == "abs";
  if (!converts) return std::optional<PyValue>();
  if (!number) {
    const auto* text = given[0].get<std::string>();
    if (name == "float" && text != nullptr && (*text == "inf" || *text == "-inf"))
      return PyValue{*text == "inf" ? HUGE_VAL : -HUGE_VAL};
    return fail_at(errc::program_type, where, fmt::format("{}() of {}", name, kind_text(given[0])),
                   given[0].object<TensorBox>() != nullptr
                       ? "keep it a tensor: its values are not known before the module runs"
                       : "");
  }
  if (name == "float") return PyValue{*number};
  if (const auto integer = integer_of(given[0])) {
    if (name != "abs" || integer->value() >= 0) return PyValue{*integer};
    KW_TRY(auto positive, integers("-", 0, *integer, where));
    return std::optional<PyValue>(std::move(positive));
  }
  if (name == "abs") return PyValue{std::fabs(*number)};
  if (name == "round" && given.size() > 1) return PyValue{*number};
  if (!(std::fabs(*number) < k_largest_integer))
    return fail_at(errc::program_value, where, fmt::format("{}({}) does not fit 64 bits", name, *number));
  return PyValue{Extent(static_cast<std::int64_t>(name == "int" ? std::trunc(*number) : std::nearbyint(*number)))};
}

Result<PyValue> PyInterpreter::call_math(const std::string& name, const PyArguments& arguments,
                                         const SourcePlace& where) {
  const auto& given = arguments.positional;
  std::vector<double> numbers;
  for (const auto& one : given) {
    const auto number = number_of(one);
    if (!number && name != "prod")
      return fail_at(errc::program_type, where, fmt::format("math.{} of {}", name, kind_text(one)),
                     one.object<TensorBox>() != nullptr ? fmt::format("use torch.{}", name) : "");
    numbers.push_back(number.value_or(0.0));
  }
  if (given.empty()) return fail_at(errc::program_call, where, fmt::format("math.{} needs an argument", name));
  if (name == "prod") {
    KW_TRY(const auto items, items_of(given[0], where));
    PyValue product{Extent(1)};
    for (const auto& item : items) {
      KW_TRY(product, binary("*", product, item, where));
    }
    return product;
  }
  if ((name == "floor" || name == "ceil" || name == "trunc") && std::fabs(numbers[0]) < k_largest_integer) {
    if (const auto integer = integer_of(given[0])) return PyValue{*integer};
    return PyValue{Extent(static_cast<std::int64_t>(name == "floor"  ? std::floor(numbers[0])
                                                    : name == "ceil" ? std::ceil(numbers[0])
                                                                     : std::trunc(numbers[0])))};
  }
  if (name == "log") {
    if (!(numbers[0] > 0.0)) return fail_at(errc::program_value, where, "math.log of a number that is not positive");
    return PyValue{numbers.size() > 1 ? std::log(numbers[0]) / std::log(numbers[1]) : std::log(numbers[0])};
  }
  if (name == "sqrt" && numbers[0] < 0.0) return fail_at(errc::program_value, where, "math.sqrt of a negative number");
  if (name == "pow" && numbers.size() == 2) return PyValue{std::pow(numbers[0], numbers[1])};
  if ((name == "gcd" || name == "isqrt") && integer_of(given[0])) {
    const auto first = integer_of(given[0])->value();
    if (name == "isqrt" && first >= 0)
      return PyValue{Extent(static_cast<std::int64_t>(std::sqrt(static_cast<double>(first))))};
    const auto second = numbers.size() > 1 ? integer_of(given[1]) : std::nullopt;
    if (name == "gcd" && second && std::fabs(numbers[0]) < k_largest_integer &&
        std::fabs(numbers[1]) < k_largest_integer)
      return PyValue{Extent(std::gcd(first, second->value()))};
  }
  for (const auto& function : k_real_functions) {
    if (function.name == name) return PyValue{function.apply(numbers[0])};
  }
  return fail_at(errc::program_name, where, fmt::format("math.{} is not read", name), "write the number itself");
}

Result<std::optional<PyValue>> PyInterpreter::call_list_method(PySequence& items, const std::string& name,
                                                               const PyArguments& arguments, const SourcePlace& where) {
  const auto& given = arguments.positional;
  if (items.tuple) {
    if (name != "numel" && name != "index" && name != "count") return std::optional<PyValue>();
  } else if (name == "append" && given.size() == 1) {
    items.items.push_back(given[0]);
    return PyValue{};
  } else if (name == "extend" && given.size() == 1) {
    KW_TRY(auto more, items_of(given[0], where));
    items.items.insert(items.items.end(), more.begin(), more.end());
    return PyValue{};
  } else if (name == "insert" && given.size() == 2 && integer_of(given[0])) {
    const auto at =
        std::clamp<std::int64_t>(integer_of(given[0])->value(), 0, static_cast<std::int64_t>(items.items.size()));
    items.items.insert(items.items.begin() + at, given[1]);
    return PyValue{};
  } else if (name == "pop" && !items.items.empty() && (given.empty() || integer_of(given[0]))) {
    const auto size = static_cast<std::int64_t>(items.items.size());
    auto at = given.empty() ? size - 1 : integer_of(given[0])->value();
    if (at < 0) at += size;
    if (at < 0 || at >= size) return fail_at(errc::program_value, where, "pop() outside of the list");
    auto popped = items.items[static_cast<std::size_t>(at)];
    items.items.erase(items.items.begin() + at);
    return popped;
  } else if (name == "reverse" && given.empty()) {
    std::reverse(items.items.begin(), items.items.end());
    return PyValue{};
  } else if (name == "copy" && given.empty()) {
    return list(items.items);
  }
  if (name == "numel" && given.empty()) {  // of a shape
    PyValue product{Extent(1)};
    for (const auto& item : items.items) {
      KW_TRY(product, binary("*", product, item, where));
    }
    return product;
  }
  if ((name == "index" || name == "count") && given.size() == 1) {
    const auto found = std::find_if(items.items.begin(), items.items.end(),
                                    [&](const auto& one) { return equal_values(one, given[0]); });
    if (name == "index" && found != items.items.end()) return PyValue{Extent(found - items.items.begin())};
    if (name == "count")
      return PyValue{Extent(std::count_if(items.items.begin(), items.items.end(),
                                          [&](const auto& one) { return equal_values(one, given[0]); }))};
  }
  return std::optional<PyValue>();
}

Result<std::optional<PyValue>> PyInterpreter::call_dictionary_method(PyDictionary& dictionary, const std::string& name,
                                                                     const PyArguments& arguments,
                                                                     const SourcePlace& where) {
  KW_TRY_VOID(charge(static_cast<std::int64_t>(dictionary.items.size()), where));
  std::vector<PyValue> items;
  if (name == "keys" || name == "values" || name == "items") {
    for (const auto& [key, value] : dictionary.items)
      items.push_back(name == "keys" ? key : name == "values" ? value : list({key, value}, true));
    return list(std::move(items));
  }
  if (name == "get" && !arguments.positional.empty()) {
    for (const auto& [key, value] : dictionary.items) {
      if (equal_values(key, arguments.positional[0])) return value;
    }
    return arguments.positional.size() > 1 ? arguments.positional[1] : PyValue{};
  }
  return std::optional<PyValue>();
}

}  // namespace kw
