#pragma once
// A function that has to be there. A struct of these cannot be made with one left out, because none has a default, and
// a null pointer aborts where the struct is made, not where the function would have been called.

#include <concepts>
#include <utility>

#include "base/result.hpp"

namespace kw {

template <typename Signature>
class Required;

template <typename R, typename... Args>
class Required<R(Args...)> {
 public:
  /// A function, or a lambda without captures.
  template <typename F>
  requires std::convertible_to<F, R (*)(Args...)> Required(F function)
      : function_(function) {  // NOLINT(google-explicit-constructor): stands for the function
    KW_CHECK(function_ != nullptr, "a function that has to be there is null");
  }
  R operator()(Args... args) const { return function_(std::forward<Args>(args)...); }

 private:
  R (*function_)(Args...);
};

}  // namespace kw
