#include "spec/mod_value.hpp"

#include <iterator>

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
                                            "'...'"};
  static_assert(std::size(k_words) == std::variant_size_v<decltype(ModValue::held)>);
  if (const auto* tuple = value.as<TupleRef>(); tuple != nullptr && tuple->list) return "a list";
  return k_words[value.held.index()];
}

int height_of(const ModValue& value) {
  if (const auto* tuple = value.as<TupleRef>()) return tuple->height;
  if (const auto* closure = value.as<ClosureRef>()) return closure->height;
  if (const auto* partial = value.as<PartialRef>()) return partial->height;
  if (const auto* joined = value.as<JoinedMasksRef>()) return joined->height;
  return 0;
}

bool is_callable(const ModValue& value) {
  return value.as<ClosureRef>() != nullptr || value.as<LibraryRef>() != nullptr || value.as<MethodRef>() != nullptr ||
         value.as<PartialRef>() != nullptr || value.as<JoinedMasksRef>() != nullptr;
}

}  // namespace kw
