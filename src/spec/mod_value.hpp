#pragma once
// What a Python expression in a mod evaluates to while it is traced: either a value Python itself would know at trace
// time (numbers, functions, names of library functions) or a node that is known only when the kernel runs.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "spec/mod_expr.hpp"
#include "spec/py_ast.hpp"

namespace kw {

struct ModValue;
struct TraceScope;

struct NodeRef {
  ExprId id = -1;
};
/// A def or lambda with the scope it was made in; both outlive the trace.
struct ClosureRef {
  const PyFunction* function = nullptr;
  const TraceScope* scope = nullptr;
};
/// Something of a library, by its full name: "torch", "torch.where", "math.log".
struct LibraryRef {
  std::string path;
};
/// `x.abs` before it is called.
struct MethodRef {
  std::string name;
  std::shared_ptr<const ModValue> self;  // shared only because a ModValue is copied freely; never changed
};
struct TupleRef {
  std::shared_ptr<const std::vector<ModValue>> items;
};

struct ModValue {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, NodeRef, ClosureRef, LibraryRef, MethodRef,
               TupleRef>
      held;

  template <typename T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&held);
  }
  [[nodiscard]] bool is_none() const { return held.index() == 0; }
  /// bool, int or float known at trace time.
  [[nodiscard]] bool is_number() const { return held.index() >= 1 && held.index() <= 3; }
  [[nodiscard]] bool is_node() const { return as<NodeRef>() != nullptr; }
};

/// "an integer", "a value traced from the indices", ... for messages.
[[nodiscard]] std::string describe(const ModValue& value);

}  // namespace kw
