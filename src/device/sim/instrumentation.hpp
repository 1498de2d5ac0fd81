#pragma once
// Whether the simulator will see what a compiled candidate does: looked up in the object file that the compiler made,
// before it is linked. Whatever a source did to lose the instrumentation has to show here.

#include <optional>
#include <string>
#include <string_view>

namespace kw::sim {

/// Why not, as words that follow "the compiled kernel": it defines a name of the simulator or of the instrumentation,
/// needs a function of the machine that is no arithmetic, has a section that compilers do not make of kernels, or a
/// function that reaches memory without a call of the instrumentation. Only names and sections are looked at on
/// processors other than x86-64.
///
/// Functions are the unit in which a compiler instruments. Accesses that need no call: the stack, constants, and
/// writing through a function's first argument, which is how large results are returned.
[[nodiscard]] std::optional<std::string> uninstrumented(std::string_view object);

}  // namespace kw::sim
