#pragma once
// What a Python expression in a mod evaluates to while it is traced: either a value Python itself would know at trace
// time (numbers, functions, tuples, names of library functions) or a node that is known only when the kernel runs.
// Containers share their contents, which are never changed but in lists; they nest at most k_max_value_height deep when
// they are made, and a list that grows at most doubles that.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mod/expression/expr.hpp"
#include "python/ast.hpp"

namespace kw {

struct ModValue;
struct CallArguments;
struct TraceScope;

inline constexpr int k_max_value_height = 100;

struct NodeRef {
  ExprId id = -1;
};
/// A def or lambda with the scope it was made in; both outlive the trace.
struct ClosureRef {
  const PyFunction* function = nullptr;
  const TraceScope* scope = nullptr;
  std::shared_ptr<const std::map<std::string, ModValue>> defaults;  ///< by parameter; null when there are none
  int height = 1;
};
/// Something of a library, by its full name: "torch", "torch.where", "math.log".
struct LibraryRef {
  std::string path;
};
/// `x.abs` before it is called.
struct MethodRef {
  std::string name;
  std::shared_ptr<const ModValue> self;
};
/// A tuple or a list. All names of a list share its items, and only of a list are they ever changed. What is put into a
/// list after it was made holds no list itself: nothing can come to hold itself.
struct TupleRef {
  std::shared_ptr<std::vector<ModValue>> items;
  bool list = false;
  int height = 1;
};
/// A captured tensor of which at least one dimension has no index yet.
struct TensorRef {
  const ModCapture* capture = nullptr;
  std::vector<std::optional<ExprId>> indices;  ///< one per dimension
  std::vector<ScalarType> casts;               ///< to be done, in order, on the element that will be read
};
/// functools.partial(callee, ...).
struct PartialRef {
  std::shared_ptr<const ModValue> callee;
  std::shared_ptr<const CallArguments> given;
  int height = 1;
};
/// and_masks(...) or or_masks(...).
struct JoinedMasksRef {
  bool all = true;  ///< and_masks
  std::shared_ptr<const std::vector<ModValue>> masks;
  int height = 1;
};
/// first:last:step inside a subscript, each None where it is left out.
struct SliceRef {
  std::shared_ptr<const std::vector<ModValue>> parts;
};
struct EllipsisRef {};
/// A class derived from torch.autograd.Function, of which only the method forward counts here.
struct AutogradRef {
  std::shared_ptr<const ModValue> apply;
  int height = 1;
};

struct ModValue {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, NodeRef, ClosureRef, LibraryRef, MethodRef,
               TupleRef, TensorRef, PartialRef, JoinedMasksRef, SliceRef, EllipsisRef, AutogradRef>
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

struct CallArguments {
  std::vector<ModValue> positional;
  std::vector<std::pair<std::string, ModValue>> keywords;
};

/// A function and where it was bound.
struct FoundFunction {
  ModValue function;
  SourcePlace where;
};

/// "an integer", "a value traced from the indices", ... for messages.
[[nodiscard]] std::string describe(const ModValue& value);
/// How deep containers nest in a value; 0 for what holds no other value.
[[nodiscard]] int height_of(const ModValue& value);
[[nodiscard]] bool is_callable(const ModValue& value);
struct ListSearch {
  bool found = false;
  std::size_t looked_at = 0;  ///< values
};
/// Whether `value` is a list or holds one at any depth.
[[nodiscard]] ListSearch search_list(const ModValue& value);
/// A list, or a tuple with a list inside: what Python code can change.
[[nodiscard]] bool holds_list(const ModValue& value);

}  // namespace kw
