#pragma once
// What the machine code of PoCL's kernels consists of, read from the shared libraries that it compiles them to: how
// wide it computes, what it spills, what it calls. Advice to a model has to come from what the compiler made, not from
// the source's words. Judges nothing; object_policy.hpp does.

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "record/instruction_mix.hpp"

namespace kw::opencl {

/// Of the kernel's function that works on one group and of the library's functions that it calls: the innermost loop
/// with the most arithmetic on floats, or all of the function with most of it where no loop has any. Nothing when the
/// bytes are no library of PoCL's for x86-64.
[[nodiscard]] std::optional<InstructionMix> machine_code_of(std::string_view library);

/// The same for all kernels in PoCL's cache, by name. Those that cannot be read are left out.
[[nodiscard]] std::vector<InstructionMix> machine_code_in_cache(const std::filesystem::path& cache);

}  // namespace kw::opencl
