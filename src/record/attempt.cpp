#include "record/attempt.hpp"

namespace kw {

std::string_view to_string(Comparison comparison) {
  switch (comparison) {
    case Comparison::faster:
      return "faster";
    case Comparison::slower:
      return "slower";
    case Comparison::equivalent:
      return "equivalent";
    case Comparison::undecided:
      return "undecided";
    case Comparison::unreliable:
      return "unreliable";
  }
  return "unknown";
}

}  // namespace kw
