#pragma once
// Bounds and names of the bundle format, shared by the reader and the writer. Bundles are untrusted bytes; bundle.hpp
// states the bounds to users.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kw::bundle_format {

inline constexpr std::string_view k_marker = "kernelwright";  ///< the first line is "/*kernelwright"
inline constexpr std::int64_t k_version = 1;
inline constexpr std::size_t k_max_text_bytes = std::size_t{4} << 20;
inline constexpr std::size_t k_max_launches = 4096;
inline constexpr std::size_t k_max_planned_launches = 16384;  ///< of a workload, each repetition counted
inline constexpr std::size_t k_max_scratch = 4096;
inline constexpr std::size_t k_max_tunables = 32;
inline constexpr std::size_t k_max_values = 64;
inline constexpr std::size_t k_max_defines = 32;
inline constexpr std::size_t k_max_constraints = 32;
inline constexpr std::size_t k_max_args = 64;
inline constexpr std::size_t k_max_rows = 64;
inline constexpr std::size_t k_max_conditions = 16;  ///< of a row
inline constexpr std::size_t k_max_device_bytes = 256;
inline constexpr std::size_t k_max_free_text_bytes = 1024;

inline constexpr std::string_view k_shared_arg = "shared";
inline constexpr std::string_view k_repetition = "repetition";
/// Names that already mean something where a bundle's names are used.
inline constexpr std::array<std::string_view, 5> k_reserved = {k_shared_arg, "ceil_div", "round_up", "min", "max"};

[[nodiscard]] inline bool is_reserved(std::string_view name) {
  return std::find(k_reserved.begin(), k_reserved.end(), name) != k_reserved.end();
}

}  // namespace kw::bundle_format
