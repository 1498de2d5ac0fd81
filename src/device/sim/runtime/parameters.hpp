#pragma once
// What is checked about a kernel's parameters: pointers where its launch passes buffers, 32-bit integers where it
// passes numbers. Included by candidates, as text, so it includes nothing.

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

}  // namespace kw_sim
