// Methods of lists, tuples and dictionaries.

#include <algorithm>

#include "program/reader/interpreter.hpp"

namespace kw {

Result<std::optional<PyValue>> PyInterpreter::call_list_method(PySequence& items, const std::string& name,
                                                               const PyArguments& arguments, const SourcePlace& where) {
  const auto& given = arguments.positional;
  if (!items.tuple) {
    KW_TRY(auto changed, change_list(items, name, given, where));
    if (changed) return changed;
  }
  if (name == "numel" && given.empty()) {  // of a shape
    KW_TRY(auto product, product_of(PyValue{&items}, where));
    return std::optional<PyValue>(std::move(product));
  }
  if (given.size() != 1) return std::optional<PyValue>();
  const auto same = [&](const PyValue& one) { return equal_values(one, given[0]); };
  if (name == "count") return PyValue{Extent(std::count_if(items.items.begin(), items.items.end(), same))};
  const auto found = std::find_if(items.items.begin(), items.items.end(), same);
  if (name == "index" && found != items.items.end()) return PyValue{Extent(found - items.items.begin())};
  return std::optional<PyValue>();
}

/// Methods that change a list.
Result<std::optional<PyValue>> PyInterpreter::change_list(PySequence& list_value, const std::string& name,
                                                          const std::vector<PyValue>& given, const SourcePlace& where) {
  auto& items = list_value.items;
  if (name == "pop") return popped(items, given, where);
  if (name == "copy" && given.empty()) return list(items);
  if (name == "append" && given.size() == 1) {
    items.push_back(given[0]);
  } else if (name == "extend" && given.size() == 1) {
    KW_TRY(auto more, items_of(given[0], where));
    items.insert(items.end(), more.begin(), more.end());
  } else if (name == "insert" && given.size() == 2 && integer_of(given[0])) {
    const auto at = std::clamp<std::int64_t>(integer_of(given[0])->value(), 0, static_cast<std::int64_t>(items.size()));
    items.insert(items.begin() + at, given[1]);
  } else if (name == "reverse" && given.empty()) {
    std::reverse(items.begin(), items.end());
  } else {
    return std::optional<PyValue>();
  }
  return PyValue{};
}

Result<std::optional<PyValue>> PyInterpreter::popped(std::vector<PyValue>& items, const std::vector<PyValue>& given,
                                                     const SourcePlace& where) {
  const auto size = static_cast<std::int64_t>(items.size());
  const auto asked = given.empty() ? Extent(size - 1) : integer_of(given[0]).value_or(size);
  const auto at = asked.value() < 0 ? asked.value() + size : asked.value();
  if (at < 0 || at >= size) return fail_at(errc::program_value, where, "pop() outside of the list");
  auto taken = items[static_cast<std::size_t>(at)];
  items.erase(items.begin() + at);
  return taken;
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
