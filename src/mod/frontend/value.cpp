#include "mod/frontend/value.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace kw {

std::string describe(const ModValue& value) {
  static constexpr const char* k_words[] = {"None",
                                            "a boolean",
                                            "an integer",
                                            "a float",
                                            "a string",
                                            "a value computed in the kernel",
                                            "a function",
                                            "a name of a library",
                                            "a method that is not called",
                                            "a tuple",
                                            "a captured tensor",
                                            "a function",
                                            "a function",
                                            "a slice",
                                            "'...'",
                                            "an autograd function"};
  static_assert(std::size(k_words) == std::variant_size_v<decltype(ModValue::held)>);
  if (const auto* tuple = value.as<TupleRef>(); tuple != nullptr && tuple->list) return "a list";
  return k_words[value.held.index()];
}

int height_of(const ModValue& value) {
  if (const auto* tuple = value.as<TupleRef>()) return tuple->height;
  if (const auto* closure = value.as<ClosureRef>()) return closure->height;
  if (const auto* partial = value.as<PartialRef>()) return partial->height;
  if (const auto* joined = value.as<JoinedMasksRef>()) return joined->height;
  if (const auto* autograd = value.as<AutogradRef>()) return autograd->height;
  return 0;
}

bool holds_list(const ModValue& value) {
  return search_list(value).found;
}

bool is_callable(const ModValue& value) {
  return value.as<ClosureRef>() != nullptr || value.as<LibraryRef>() != nullptr || value.as<MethodRef>() != nullptr ||
         value.as<PartialRef>() != nullptr || value.as<JoinedMasksRef>() != nullptr;
}

ListSearch search_list(const ModValue& value) {
  ListSearch search;
  std::vector<const ModValue*> open = {&value};
  std::set<const void*> seen;  // contents may be shared many times over
  const auto add_all = [&](const auto& shared) {
    if (shared == nullptr || !seen.insert(shared.get()).second) return;
    for (const auto& item : *shared) open.push_back(&item);
  };
  while (!open.empty()) {
    const auto& next = *open.back();
    open.pop_back();
    ++search.looked_at;
    if (const auto* tuple = next.as<TupleRef>()) {
      search.found = search.found || tuple->list;
      if (search.found) return search;
      add_all(tuple->items);
    } else if (const auto* closure = next.as<ClosureRef>()) {
      if (closure->defaults == nullptr || !seen.insert(closure->defaults.get()).second) continue;
      for (const auto& [name, initial] : *closure->defaults) open.push_back(&initial);
    } else if (const auto* partial = next.as<PartialRef>()) {
      open.push_back(partial->callee.get());
      if (!seen.insert(partial->given.get()).second) continue;
      for (const auto& given : partial->given->positional) open.push_back(&given);
      for (const auto& [name, given] : partial->given->keywords) open.push_back(&given);
    } else if (const auto* joined = next.as<JoinedMasksRef>()) {
      add_all(joined->masks);
    } else if (const auto* method = next.as<MethodRef>()) {
      open.push_back(method->self.get());
    } else if (const auto* autograd = next.as<AutogradRef>()) {
      open.push_back(autograd->apply.get());
    } else if (const auto* slice = next.as<SliceRef>()) {
      add_all(slice->parts);
    }
  }
  return search;
}

}  // namespace kw
