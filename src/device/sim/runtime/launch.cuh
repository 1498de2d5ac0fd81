#pragma once
// How the worker calls a kernel, and what is checked about its parameters: pointers where the launch passes buffers,
// 32-bit integers where it passes numbers.

namespace kw_sim {

template <typename T>
struct Parameter {
  static constexpr bool pointer = false;
  static constexpr bool integer = false;
};
template <typename T>
struct Parameter<T*> {
  static constexpr bool pointer = true;
  static constexpr bool integer = false;
};
template <>
struct Parameter<int> {
  static constexpr bool pointer = false;
  static constexpr bool integer = true;
};
template <>
struct Parameter<unsigned> : Parameter<int> {};
template <typename T>
struct Parameter<const T> : Parameter<T> {};
template <typename T>
struct Parameter<T* __restrict__> : Parameter<T*> {};

template <typename... P>
constexpr int parameters(void (*)(P...)) {
  return sizeof...(P);
}
template <typename... P>
constexpr bool takes_pointer(void (*)(P...), int index) {
  const bool pointers[] = {Parameter<P>::pointer..., false};
  return index < static_cast<int>(sizeof...(P)) && pointers[index];
}
template <typename... P>
constexpr bool takes_integer(void (*)(P...), int index) {
  const bool integers[] = {Parameter<P>::integer..., false};
  return index < static_cast<int>(sizeof...(P)) && integers[index];
}

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
