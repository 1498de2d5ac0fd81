#pragma once
// Finds what stands inside of a function, a method or a class of a file: "outer(args).inner", "Class.method.inner". The
// function is not called, because most that hold a mod also run a model: its parameters get the arguments, and of its
// statements only those are read that the mod reaches.

#include <deque>
#include <optional>

#include "base/result.hpp"
#include "mod/frontend/module_names.hpp"
#include "python/ast.hpp"

namespace kw {

class NestedNames {
 public:
  /// Both must outlive it, and it must outlive the trace.
  NestedNames(ModuleText& file, ModuleNames& names) : file_(file), names_(names) {}

  /// The value of an attribute of a function or class of the file; nothing when it is an attribute of anything else.
  [[nodiscard]] Result<std::optional<ModValue>> find(const PyExpr& attribute);

 private:
  /// The names inside of what `expr` says; null when that is no function or class of the file.
  Result<ModuleNames*> inside(const PyExpr& expr);
  Result<ModuleNames*> enter(ModuleNames& outer, const PyExpr& name, const PyExpr* call);
  Result<ModuleNames::Parameters> bind(const PyModuleItem& item, ModuleNames& outer, const PyExpr* call);

  ModuleText& file_;
  ModuleNames& names_;
  std::deque<ModuleNames> inner_;
};

}  // namespace kw
