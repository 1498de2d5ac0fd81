#pragma once
// What is refused while a tensor program is read.

#include "base/result.hpp"

namespace kw::errc {
inline constexpr ErrorCode program_syntax{"program.syntax"};  ///< not Python, or not the part of it we read
inline constexpr ErrorCode program_unsupported{
    "program.unsupported"};                                       ///< Python or PyTorch, but not read; see the hint
inline constexpr ErrorCode program_limit{"program.limit"};        ///< too large, too deep, or too long to read
inline constexpr ErrorCode program_name{"program.unknown_name"};  ///< a name, class, attribute or function
inline constexpr ErrorCode program_call{"program.call"};          ///< arguments that do not fit what is called
inline constexpr ErrorCode program_type{"program.type"};          ///< a value of the wrong type
inline constexpr ErrorCode program_shape{"program.shape"};        ///< tensors whose shapes do not fit
inline constexpr ErrorCode program_value{"program.value"};        ///< a value out of its range; a failed assert
inline constexpr ErrorCode program_axis{"program.axis"};          ///< an axis that is set, but is none of the file's
inline constexpr ErrorCode program_structure{
    "program.structure"};  ///< other axes make it another program, not the same one in another size
}  // namespace kw::errc
