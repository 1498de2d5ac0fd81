#pragma once
// The values of Python while a module is read. Objects live in a PyHeap and are referred to by plain pointers, because
// Python's objects refer to one another in circles; the heap lives as long as the reading.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "program/graph/graph.hpp"
#include "python/ast.hpp"

namespace kw {

struct ModuleRow;
struct PySequence;
struct PyDictionary;
struct PyObject;
struct PyClass;
struct PyClosure;
struct PyBoundMethod;
struct PySliceValue;
struct PyView;

struct PyNone {
  friend bool operator==(const PyNone&, const PyNone&) = default;
};
struct PyEllipsis {
  friend bool operator==(const PyEllipsis&, const PyEllipsis&) = default;
};

/// A tensor as Python's variable holds it: operations in place change `value`, for all variables at once.
struct TensorBox {
  bool in_sources = false;  ///< `value` stands in Program::sources, not in Program::graph
  std::size_t value = 0;
  bool is_parameter = false;
  std::size_t created = 0;
  const PyView* view = nullptr;  ///< of a part of another tensor, x[index]: what changes here changes there
};

/// A name of a library: "torch.nn.functional.relu", "math", "int".
struct PyLibraryName {
  std::string path;
  friend bool operator==(const PyLibraryName&, const PyLibraryName&) = default;
};

/// Of a real number that came from integers: the largest integer that is not above it, as it follows from the axes.
struct PyFloor {
  Extent integer;
  bool whole = false;  ///< the number is that integer, whatever the axes are
};

struct PyValue {
  std::variant<PyNone, bool, Extent, double, std::string, PyEllipsis, ElementType, TensorBox*, PySequence*,
               PyDictionary*, PyObject*, PyClass*, PyClosure*, PyBoundMethod*, PyLibraryName, PySliceValue*,
               const ModuleRow*>
      of;
  std::shared_ptr<const PyFloor> floor = nullptr;  ///< of a double, where it is known

  [[nodiscard]] bool is_none() const { return std::holds_alternative<PyNone>(of); }
  template <typename T>
  [[nodiscard]] const T* get() const {
    return std::get_if<T>(&of);
  }
  /// The pointer, or null when it is something else.
  template <typename T>
  [[nodiscard]] T* object() const {
    const auto* held = std::get_if<T*>(&of);
    return held == nullptr ? nullptr : *held;
  }
};

struct PySequence {
  std::vector<PyValue> items;
  bool tuple = false;
  bool set = false;  ///< items differ
};

struct PyDictionary {
  std::vector<std::pair<PyValue, PyValue>> items;  ///< keys differ

  /// As Python's d[key] = value: a key that is there keeps its place.
  void put(PyValue key, PyValue value);
};

struct PyView {
  TensorBox* of = nullptr;
  PyValue index;  ///< of integers, slices, None and "..."
};

struct PySliceValue {
  PyValue first;
  PyValue last;
  PyValue step;
};

struct PyScope {
  std::map<std::string, PyValue, std::less<>> names;
  PyScope* outer = nullptr;
  bool is_shipped = false;  ///< of a file of program/library/, and not of the one that is read
};

/// A function or a lambda with what surrounds it.
struct PyClosure {
  const PyFunction* function = nullptr;
  PyScope* outer = nullptr;
  std::vector<PyValue> defaults;  ///< one per parameter; None where there is none
  PyClass* owner = nullptr;       ///< of a method: what super() starts behind
  enum class Kind : std::uint8_t { plain, property, static_method, class_method };
  Kind kind = Kind::plain;
  const PyExpr* unread = nullptr;  ///< a decorator that is not read: the function cannot be called
};

struct PyClass {
  std::string name;
  std::vector<PyClass*> bases;         ///< of the same file
  const ModuleRow* library = nullptr;  ///< a base of torch.nn; null for none and for nn.Module itself
  bool is_module = false;
  bool is_data = false;                                ///< @dataclass
  std::vector<std::pair<std::string, PyValue>> names;  ///< methods and attributes, in their order
  std::vector<std::string> fields;                     ///< of a dataclass
  std::optional<Error> unread;                         ///< why no object of it can be made: what it is based on
};

/// An instance of a class, or a module of torch.nn.
struct PyObject {
  PyClass* type = nullptr;             ///< null for a plain module of torch.nn
  const ModuleRow* library = nullptr;  ///< what forward() is where the class has none
  bool initialised = false;            ///< nn.Module.__init__ was called
  bool evaluating = false;             ///< after eval(), of a module
  std::vector<std::pair<std::string, PyValue>> attributes;
  std::vector<std::string> buffers;  ///< names of attributes that are registered as buffers ...
  std::vector<std::string> unsaved;  ///< ... and those of them with persistent=False

  [[nodiscard]] PyValue* find(std::string_view name);
  void set(const std::string& name, PyValue value);
};

/// x.method, with x a value of Python: a method of a class of the file, or one that is built in.
struct PyBoundMethod {
  PyValue self;
  PyClosure* closure = nullptr;  ///< null for a built-in method
  std::string name;              ///< of a built-in method; "super" for the result of super()
  PyClass* after = nullptr;      ///< of super(): the class whose bases are asked
};

class PyHeap {
 public:
  PySequence* sequence(std::vector<PyValue> items, bool tuple) {
    return add(sequences_, {std::move(items), tuple, false});
  }
  PyDictionary* dictionary() { return add(dictionaries_, {}); }
  PyObject* object() { return add(objects_, {}); }
  PyClass* type() { return add(types_, {}); }
  PyClosure* closure() { return add(closures_, {}); }
  PyBoundMethod* method(PyBoundMethod made) { return add(methods_, std::move(made)); }
  PySliceValue* slice(PySliceValue made) { return add(slices_, std::move(made)); }
  PyScope* scope(PyScope* outer) { return add(scopes_, {{}, outer, outer != nullptr && outer->is_shipped}); }
  TensorBox* tensor(bool in_sources, std::size_t value) {
    return add(tensors_, {in_sources, value, false, created_++, nullptr});
  }
  const PyView* view(TensorBox& of, PyValue index) { return &views_.emplace_back(PyView{&of, std::move(index)}); }
  const PyExpr* keep(PyExprPtr expression) { return expressions_.emplace_back(std::move(expression)).get(); }

 private:
  template <typename T>
  static T* add(std::deque<T>& into, T made) {
    return &into.emplace_back(std::move(made));
  }
  std::deque<PySequence> sequences_;
  std::deque<PyDictionary> dictionaries_;
  std::deque<PyObject> objects_;
  std::deque<PyClass> types_;
  std::deque<PyClosure> closures_;
  std::deque<PyBoundMethod> methods_;
  std::deque<PySliceValue> slices_;
  std::deque<PyScope> scopes_;
  std::deque<TensorBox> tensors_;
  std::deque<PyView> views_;
  std::deque<PyExprPtr> expressions_;
  std::size_t created_ = 0;
};

/// Arguments of a call of Python.
struct PyArguments {
  std::vector<PyValue> positional;
  std::vector<std::pair<std::string, PyValue>> keywords;

  [[nodiscard]] const PyValue* keyword(std::string_view name) const;
};

/// "an integer", "a list", "an object of class Block"
[[nodiscard]] std::string kind_text(const PyValue& value);
/// The number, booleans as 0 and 1; absent for anything else.
[[nodiscard]] std::optional<double> number_of(const PyValue& value);
/// The integer, booleans as 0 and 1.
[[nodiscard]] std::optional<Extent> integer_of(const PyValue& value);
/// Of a number; absent where it does not follow from integers.
[[nodiscard]] std::optional<PyFloor> floor_of(const PyValue& value);
/// `floor` is left out where it is another number's, as where a real number has too few digits.
[[nodiscard]] PyValue real_of(double number, std::optional<PyFloor> floor);
/// int(), round(), math.floor, math.ceil and math.trunc of a real number, which has to fit 64 bits.
[[nodiscard]] Extent rounded(std::string_view name, const PyValue& real);
/// As Python's == finds it, for everything but tensors.
[[nodiscard]] bool equal_values(const PyValue& a, const PyValue& b);
/// Whether the library, or the part of one, only logs, warns, seeds, or sets how PyTorch runs.
[[nodiscard]] bool is_setting(std::string_view path);
/// "self.conv1", "torch.relu"; "(...)" for what is no path.
[[nodiscard]] std::string spelled(const PyExpr& callee);

}  // namespace kw
