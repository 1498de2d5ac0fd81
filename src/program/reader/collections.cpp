// Methods of lists, tuples and dictionaries.

#include <algorithm>

#include "program/reader/interpreter.hpp"

namespace kw {

Result<std::optional<PyValue>> PyInterpreter::call_list_method(PySequence& items, const std::string& name,
                                                               const PyArguments& arguments, const SourcePlace& where) {
  const auto& given = arguments.positional;
  if (!items.tuple) {
    KW_TRY(auto changed,
           items.set ? change_set(items, name, given, where) : change_list(items, name, arguments, where));
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
                                                          const PyArguments& arguments, const SourcePlace& where) {
  const auto& given = arguments.positional;
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
  } else if (name == "clear" && given.empty()) {
    items.clear();
  } else if (name == "remove" && given.size() == 1) {
    const auto found = std::ranges::find_if(items, [&](const auto& one) { return equal_values(one, given[0]); });
    if (found == items.end()) return fail_at(errc::program_value, where, "remove() of what is not in the list");
    items.erase(found);
  } else if (name == "sort" && given.empty()) {
    KW_TRY_VOID(sort_values(items, arguments, where));
  } else {
    return std::optional<PyValue>();
  }
  return PyValue{};
}

PyValue PyInterpreter::set_of(const std::vector<PyValue>& items) {
  auto* made = heap_.sequence({}, false);
  made->set = true;
  for (const auto& item : items) {
    const auto same = [&](const auto& one) { return equal_values(one, item); };
    if (std::ranges::none_of(made->items, same)) made->items.push_back(item);
  }
  return PyValue{made};
}

/// Methods that change a set, and those that make another one.
Result<std::optional<PyValue>> PyInterpreter::change_set(PySequence& set, const std::string& name,
                                                         const std::vector<PyValue>& given, const SourcePlace& where) {
  const bool one = given.size() == 1;
  const bool takes_many = name == "update" || name == "union" || name == "difference" || name == "intersection";
  if (name == "copy" && given.empty()) return set_of(set.items);
  if (!one || (!takes_many && name != "add" && name != "discard" && name != "remove")) return std::optional<PyValue>();
  KW_TRY_VOID(charge(static_cast<std::int64_t>(set.items.size()), where));
  std::vector<PyValue> more = given;
  if (takes_many) {
    KW_TRY(more, items_of(given[0], where));
    KW_TRY_VOID(charge(static_cast<std::int64_t>(set.items.size() * more.size()), where));
  }
  const auto given_too = [&](const PyValue& held) {
    return std::ranges::any_of(more, [&](const auto& item) { return equal_values(item, held); });
  };
  auto items = set.items;
  if (name == "difference" || name == "discard" || name == "remove") {
    std::erase_if(items, given_too);
  } else if (name == "intersection") {
    std::erase_if(items, [&](const auto& held) { return !given_too(held); });
  } else {
    items.insert(items.end(), more.begin(), more.end());
  }
  auto made = set_of(items);
  if (name == "union" || name == "difference" || name == "intersection") return made;
  set.items = made.object<PySequence>()->items;
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
  return change_dictionary(dictionary, name, arguments, where);
}

/// Methods that change a dictionary.
Result<std::optional<PyValue>> PyInterpreter::change_dictionary(PyDictionary& dictionary, const std::string& name,
                                                                const PyArguments& arguments,
                                                                const SourcePlace& where) {
  const auto& given = arguments.positional;
  auto& items = dictionary.items;
  if (name == "copy" && given.empty()) {
    auto* made = heap_.dictionary();
    made->items = items;
    return PyValue{made};
  }
  if (name == "clear" && given.empty()) {
    items.clear();
    return PyValue{};
  }
  if (name == "update") {
    const auto* other = given.size() == 1 ? given[0].object<PyDictionary>() : nullptr;
    if (given.size() > (other == nullptr ? 0U : 1U)) return std::optional<PyValue>();
    const auto more = other == nullptr ? decltype(dictionary.items)() : other->items;
    KW_TRY_VOID(charge(static_cast<std::int64_t>(items.size() * more.size()), where));
    for (const auto& [key, value] : more) dictionary.put(key, value);
    for (const auto& [key, value] : arguments.keywords) dictionary.put(PyValue{key}, value);
    return PyValue{};
  }
  if ((name != "pop" && name != "setdefault") || given.empty()) return std::optional<PyValue>();
  const auto found = std::ranges::find_if(items, [&](const auto& one) { return equal_values(one.first, given[0]); });
  const auto fallback = given.size() > 1 ? given[1] : PyValue{};
  const auto value = found == items.end() ? fallback : found->second;
  if (name == "setdefault") {
    dictionary.put(given[0], value);
  } else if (found != items.end()) {
    items.erase(found);
  } else if (given.size() == 1) {
    return fail_at(errc::program_value, where, "pop() of a key that is not in the dictionary");
  }
  return value;
}

}  // namespace kw
