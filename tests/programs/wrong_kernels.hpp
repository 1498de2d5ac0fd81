#pragma once
// Wrong kernels of tensor programs. Most are the plain kernel of a module that is nearly the right one: what people and
// models get wrong is a change of one call. What no module says is a line of the plain kernel that was changed. The
// honest twin is the plain kernel of the right module. Expressions are of x, the first input, and of more, the others.

#include <ostream>
#include <vector>

namespace kw {

struct ModulePair {
  const char* name;
  const char* right;
  const char* wrong;
  const char* init = "";
  const char* inputs = "torch.rand(B, C, H, W)";
  friend void PrintTo(const ModulePair& pair, std::ostream* out) { *out << pair.name; }
};
[[nodiscard]] const std::vector<ModulePair>& wrong_modules();

struct KernelEdit {
  const char* name;
  const char* module;
  const char* line;  ///< or a part of one, in the plain kernel in OpenCL
  const char* instead;
  const char* inputs = "torch.rand(B, C, H, W)";
  const char* precision = "strict";
  friend void PrintTo(const KernelEdit& edit, std::ostream* out) { *out << edit.name; }
};
[[nodiscard]] const std::vector<KernelEdit>& wrong_lines();

}  // namespace kw
