#pragma once
// Where a pointer of a compiled kernel comes from: which buffer or variable, and how far it may lie from there. Two
// pointers of one buffer tell nothing of where it lies when they are compared; others do.

#include <vector>

#include "device/opencl/llvm_library.hpp"

namespace kw::opencl {

/// The convention by which LLVM knows a kernel among functions (spir_kernel).
inline constexpr unsigned k_kernel_convention = 76;

/// A pointer's beginnings, through arithmetic, casts, choices, and calls of the program's own functions.
struct PointerOrigin {
  std::vector<LlvmValue> roots;  ///< each once; null is one
  double reach = 0.0;            ///< no more bytes than that from its root; infinite where no bound is known

  /// Whether there is one root, whose address is the same for as long as the kernel runs: its argument, a variable.
  [[nodiscard]] bool is_of_one_object(const LlvmApi& llvm) const;
};

/// Of a value of pointer type in a function of the module.
[[nodiscard]] PointerOrigin origin_of(const LlvmApi& llvm, LlvmLayout layout, LlvmValue pointer);

/// The opcode of an instruction or of a constant expression; none for other values.
[[nodiscard]] LlvmOpcode opcode_of(const LlvmApi& llvm, LlvmValue value);

/// What calls pass for an argument of a function; none for a kernel's, and for one that is not only called.
[[nodiscard]] std::vector<LlvmValue> passed_for(const LlvmApi& llvm, LlvmValue argument);

}  // namespace kw::opencl
