#pragma once
// How the worker calls a kernel.
#include "parameters.hpp"

namespace kw_sim {

template <int... I>
struct Indices {};
template <int N, int... I>
struct Counted : Counted<N - 1, N - 1, I...> {};
template <int... I>
struct Counted<0, I...> {
  typedef Indices<I...> type;
};

template <typename T>
inline __attribute__((always_inline)) T passed(unsigned long long value) {
  if constexpr (Parameter<T>::pointer) {
    return reinterpret_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}
template <typename... P, int... I>
inline __attribute__((always_inline)) void enter(void (*kernel)(P...), const unsigned long long* arguments,
                                                 Indices<I...>) {
  kernel(passed<P>(arguments[I])...);
}
template <typename... P>
inline __attribute__((always_inline)) void enter(void (*kernel)(P...), const unsigned long long* arguments) {
  enter(kernel, arguments, typename Counted<sizeof...(P)>::type());
}

}  // namespace kw_sim

#define KW_ENTRY extern "C" __attribute__((visibility("default"), no_sanitize("thread"))) void
