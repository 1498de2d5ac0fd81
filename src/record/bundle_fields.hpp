#pragma once
// The fields of a bundle and of a choice of its tunables; the rules are those of fields.hpp.

#include "record/bundle.hpp"
#include "record/fields.hpp"

namespace kw {

template <>
inline constexpr auto k_known_values<DType> = std::to_array({DType::f32, DType::f16, DType::i32, DType::boolean,
                                                             DType::bf16});

template <typename V, AnyConst<Tunable> T>
void fields(V& visit, T& r) {
  visit("name", r.name);
  visit("values", r.values);
  visit("default", r.default_value);
}

template <typename V, AnyConst<Definition> T>
void fields(V& visit, T& r) {
  visit("name", r.name);
  visit("expression", r.expression);
}

template <typename V, AnyConst<ScratchBuffer> T>
void fields(V& visit, T& r) {
  visit("name", r.name);
  visit("dtype", r.dtype);
  visit("elements", r.elements);
}

template <typename V, AnyConst<Launch> T>
void fields(V& visit, T& r) {
  visit("kernel", r.kernel);
  visit("grid", r.grid);
  visit("block", r.block);
  visit("shared_bytes", r.shared_bytes);
  visit("args", r.args);
  visit("repeat", r.repeat);
}

template <typename V, AnyConst<DispatchRow> T>
void fields(V& visit, T& r) {
  visit("device", r.device);
  visit("when", r.when);
  visit("tunables", r.tunables);
}

// A bundle is stored by its fields and not as its text: a rejected candidate may hold a bundle whose text no parser
// takes, and the archive must give that back as well.
template <typename V, AnyConst<Bundle> T>
void fields(V& visit, T& r) {
  visit("target", r.target);
  visit("problem", r.problem);
  visit("generator", r.generator);
  visit("deterministic", r.deterministic);
  visit("tunables", r.tunables);
  visit("constraints", r.constraints);
  visit("defines", r.defines);
  visit("scratch", r.scratch);
  visit("launches", r.launches);
  visit.unless_empty("dispatch", r.dispatch);
  visit("source", r.source);
}

template <typename V, AnyConst<Candidate> T>
void fields(V& visit, T& r) {
  visit("bundle", r.bundle);
  visit("tunables", r.tunables);
}

}  // namespace kw
