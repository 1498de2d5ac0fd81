#pragma once
// Rules for the lists of fields of records (*_fields.hpp), from which json.cpp both writes and reads, so that the two
// cannot drift apart. A visitor is called as visit("key", field); std::optional fields may be absent from a file, all
// others must be there. Keys are on disk: never rename one. A field added later must be a std::optional, or a list that
// is written as visit.unless_empty("key", list), or come with a new format number.

#include <array>
#include <concepts>
#include <type_traits>

namespace kw {

/// T is U, const or not: one function describes a record for writing and for reading.
template <typename T, typename U>
concept AnyConst = std::same_as<std::remove_const_t<T>, U>;

/// The values an enum may have on disk. A number outside it comes from a newer program or a damaged file.
template <typename E>
inline constexpr std::array<E, 0> k_known_values{};

}  // namespace kw
