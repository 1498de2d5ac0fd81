#pragma once
// Pointers that a compiled kernel keeps in memory: they may lie in variables of one work-item, of which only pointers
// are read and written, and nowhere else. Anything else could read the bytes of one as a number.

#include <optional>
#include <string>

#include "device/opencl/llvm_library.hpp"

namespace kw::opencl {

/// Whether values of the type are pointers, or have one among their parts.
[[nodiscard]] bool holds_pointer(const LlvmApi& llvm, LlvmType type);

/// Why an access to memory (load, store, or an atomic one) may not move the pointer that it moves, as the end of a
/// sentence that begins with the function; nothing when it moves none, or may.
[[nodiscard]] std::optional<std::string> pointer_in_memory(const LlvmApi& llvm, LlvmLayout layout, LlvmValue access);

}  // namespace kw::opencl
