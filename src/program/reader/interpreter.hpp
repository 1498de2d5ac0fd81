#pragma once
// Reads a Python file with a module: __init__ with concrete values, forward() with symbolic tensors. Nothing is
// executed as Python: every statement, call and library function is one that this class knows, and steps, depth and
// sizes are bounded. Statements are in statements.cpp and assignments.cpp, expressions in expressions.cpp and
// arithmetic.cpp, calls in calls.cpp and builtins.cpp, tensors in tensors.cpp and subscripts.cpp, modules of torch.nn
// in modules.cpp, and in shipped.cpp those that are written in Python.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/errors.hpp"
#include "program/graph/graph.hpp"
#include "program/operators/operator_table.hpp"
#include "program/reader/module_table.hpp"
#include "program/reader/program_reader.hpp"
#include "program/reader/shipped_modules.hpp"
#include "program/reader/value.hpp"
#include "python/ast.hpp"
#include "tensor/tensor.hpp"

namespace kw {

class PyInterpreter {
 public:
  static constexpr std::int64_t k_most_steps = 2'000'000;  ///< statements, expressions and items of lists
  static constexpr std::size_t k_most_nodes = 8192;        ///< of a graph
  static constexpr int k_most_depth = 300;                 ///< of expressions and statements in one another
  static constexpr int k_most_calls = 60;                  ///< of functions in one another
  static constexpr std::int64_t k_longest_list = 65'536;
  static constexpr std::size_t k_most_file_axes = 256;

  PyInterpreter(Program& program, const ProgramOptions& options) : program_(program), options_(options) {}

  /// The statements of the file; its axes become known.
  [[nodiscard]] Result<void> run_file(const std::vector<PyStatement>& statements);
  [[nodiscard]] const PyValue* global(std::string_view name) const;
  /// From here on operations on tensors are those of forward().
  void trace_forward() { in_forward_ = true; }

  [[nodiscard]] Result<PyValue> call(const PyValue& callee, PyArguments arguments, const std::string& shown,
                                     const SourcePlace& where);
  /// The graph value of a tensor in forward(); one that was made before becomes a leaf.
  [[nodiscard]] Result<std::size_t> forward_value(TensorBox& tensor, const SourcePlace& where);
  /// A leaf of the graph that forward() computes with.
  [[nodiscard]] PyValue add_leaf(const std::string& name, const TensorType& type);
  /// module.train(training); classes may have their own.
  [[nodiscard]] Result<void> call_train(const PyValue& module, bool training, const SourcePlace& where);
  /// Names for tensors that are made before forward(), in the order in which modules hold them.
  void name_tensors(PyObject& root);

 private:
  enum class Flow : std::uint8_t { next, leave, go_on, give_back };
  struct Outcome {
    Flow flow = Flow::next;
    PyValue value;
  };
  /// What a tensor before forward() is called, and what it became in forward().
  struct Leaf {
    std::size_t parameter = 0;  ///< in Program::parameters
    std::optional<std::size_t> value;
  };

  // statements.cpp
  Result<Outcome> run(const std::vector<PyStatement>& statements, PyScope& scope);
  Result<Outcome> step(const PyStatement& statement, PyScope& scope);
  Result<Outcome> step_simple(const PyStatement& statement, PyScope& scope);
  Result<Outcome> loop(const PyStatement& statement, PyScope& scope);
  Result<Outcome> repeat(const PyStatement& statement, PyScope& scope);
  Result<Outcome> with(const PyStatement& statement, PyScope& scope);
  Result<Outcome> attempt(const PyStatement& statement, PyScope& scope);
  Result<void> import(const PyStatement& statement, PyScope& scope);
  Result<void> define_class(const PyStatement& statement, PyScope& scope);
  Result<void> add_base(PyClass& type, const PyExpr& base, PyScope& scope);
  Result<PyClosure*> closure(const PyFunction& function, PyScope& scope);
  Result<PyValue> decorated(const PyFunction& function, PyScope& scope);
  Result<void> assign(const PyExpr& target, PyValue value, PyScope& scope);
  Result<void> assign_items(const PyExpr& target, const PyValue& value, PyScope& scope);
  Result<void> assign_subscript(const PyExpr& target, PyValue value, PyScope& scope);
  Result<void> check_apart(const TensorBox& tensor, const PyValue& index, const PyValue& value,
                           const SourcePlace& where) const;
  Result<void> assign_augmented(const PyStatement& statement, PyScope& scope);
  Result<void> remove(const PyExpr& target, PyScope& scope);
  [[nodiscard]] tl::unexpected<Error> raised(const PyStatement& statement, PyScope& scope);
  Result<void> assert_true(const PyStatement& statement, PyScope& scope);
  Result<PyValue> with_axes(const PyExpr& target, PyValue value);
  Result<PyValue> as_axis(const std::string& name, PyValue value, const SourcePlace& where);

  // expressions.cpp
  Result<PyValue> evaluate(const PyExpr& expr, PyScope& scope);
  Result<PyValue> evaluate_kind(const PyExpr& expr, PyScope& scope);
  Result<PyValue> name(const PyExpr& expr, PyScope& scope);
  Result<PyValue> call_expression(const PyExpr& expr, PyScope& scope);
  Result<PyArguments> arguments_of(const PyExpr& expr, PyScope& scope);
  Result<std::vector<PyValue>> evaluate_all(const std::vector<PyExprPtr>& expressions, PyScope& scope);
  Result<PyValue> comprehension(const PyExpr& expr, PyScope& scope);
  Result<void> clause(const PyExpr& expr, std::size_t index, PyScope& scope, std::vector<PyValue>& items);
  Result<PyValue> dictionary(const PyExpr& expr, PyScope& scope);
  Result<PyValue> logical(const PyExpr& expr, PyScope& scope);
  Result<PyValue> chain(const PyExpr& expr, PyScope& scope);
  Result<PyValue> formatted(const PyExpr& expr, PyScope& scope);
  Result<PyValue> slice_value(const PyExpr& expr, PyScope& scope);
  [[nodiscard]] Result<bool> truth(const PyValue& value, const SourcePlace& where) const;
  Result<void> charge(std::int64_t steps, const SourcePlace& where);

  // arithmetic.cpp
  Result<PyValue> unary(const std::string& op, const PyValue& value, const SourcePlace& where);
  Result<PyValue> binary(const std::string& op, const PyValue& left, const PyValue& right, const SourcePlace& where);
  Result<PyValue> integers(const std::string& op, const Extent& left, const Extent& right, const SourcePlace& where);
  Result<std::optional<PyValue>> text_operator(const std::string& op, const PyValue& left, const PyValue& right,
                                               const SourcePlace& where);
  Result<PyValue> sequences(const std::string& op, const PyValue& left, const PyValue& right, const SourcePlace& where);
  Result<PyValue> compare(const std::string& op, const PyValue& left, const PyValue& right, const SourcePlace& where);
  Result<PyValue> tensor_binary(const std::string& op, const PyValue& left, const PyValue& right,
                                const SourcePlace& where);

  // attributes.cpp
  /// Refuses a name that a text with an unknown part would be (formatting.hpp).
  [[nodiscard]] static Result<void> check_name(const std::string& name, const SourcePlace& where);
  Result<PyValue> attribute(const PyValue& object, const std::string& name, const SourcePlace& where);
  Result<std::optional<PyValue>> find_attribute(const PyValue& object, const std::string& name,
                                                const SourcePlace& where);
  Result<std::optional<PyValue>> type_attribute(const PyValue& object, const std::string& name);
  Result<std::optional<PyValue>> sequence_attribute(const PyValue& object, const std::string& name);
  Result<std::optional<PyValue>> object_attribute(PyObject& object, const std::string& name, const SourcePlace& where);
  Result<std::optional<PyValue>> class_attribute(const PyValue& self, PyClass& type, const std::string& name,
                                                 const SourcePlace& where);
  Result<std::optional<PyValue>> super_attribute(const PyBoundMethod& super, const std::string& name,
                                                 const SourcePlace& where);
  Result<std::optional<PyValue>> library_attribute(const PyLibraryName& library, const std::string& name);
  Result<std::optional<PyValue>> tensor_attribute(TensorBox& tensor, const std::string& name, const SourcePlace& where);
  Result<void> set_attribute(const PyValue& object, const std::string& name, PyValue value, const SourcePlace& where);
  [[nodiscard]] static const PyValue* find_in_class(const PyClass& type, std::string_view name);
  [[nodiscard]] tl::unexpected<Error> unknown_attribute(const PyValue& object, const std::string& name,
                                                        const SourcePlace& where) const;

  // shipped.cpp
  /// What is written in program/library/ under this name; its file is run when the first of its names is asked for.
  Result<std::optional<PyValue>> shipped(std::string_view path);
  /// A method of tensors that is written there.
  Result<std::optional<PyValue>> shipped_method(const std::string& name);
  /// Calls a closure of a shipped file: nodes and errors have the place where the file that is read called it.
  Result<PyValue> run_shipped(const PyClosure& closure, PyScope& scope, const std::string& shown,
                              const SourcePlace& where);
  using Copies = std::map<const void*, PyValue>;
  /// copy.deepcopy(): parameters of a copy are its own, with the same distribution.
  Result<PyValue> deep_copy(const PyValue& value, Copies& copies, const SourcePlace& where);
  Result<PyValue> copied_parts(const PyValue& value, Copies& copies, const SourcePlace& where);
  Result<PyValue> copied_tensor(const TensorBox& tensor, const SourcePlace& where);

  // texts.cpp
  Result<std::optional<PyValue>> call_text_method(const std::string& text, const std::string& name,
                                                  const PyArguments& arguments, const SourcePlace& where);

  // calls.cpp
  Result<PyValue> run_closure(const PyClosure& closure, PyScope& scope);
  Result<PyValue> call_closure(const PyClosure& closure, const PyValue* self, PyArguments arguments,
                               const std::string& shown, const SourcePlace& where);
  Result<void> bind_parameters(const PyClosure& closure, PyArguments arguments, PyScope& scope,
                               const std::string& shown, const SourcePlace& where);
  Result<PyValue> construct(PyClass& type, PyArguments arguments, const std::string& shown, const SourcePlace& where);
  Result<void> fill_fields(PyClass& type, PyObject& object, PyArguments arguments, const SourcePlace& where);
  Result<PyValue> call_method(const PyBoundMethod& method, PyArguments arguments, const std::string& shown,
                              const SourcePlace& where);
  Result<PyValue> call_library(const std::string& path, PyArguments arguments, const std::string& shown,
                               const SourcePlace& where);
  [[nodiscard]] tl::unexpected<Error> unknown_call(const std::string& path, const std::string& shown,
                                                   const SourcePlace& where) const;

  // builtins.cpp, collections.cpp
  Result<std::optional<PyValue>> call_builtin(const std::string& name, const PyArguments& arguments,
                                              const SourcePlace& where);
  Result<std::optional<PyValue>> call_iterating(const std::string& name, const PyArguments& arguments,
                                                const SourcePlace& where);
  Result<std::optional<PyValue>> call_reflecting(const std::string& name, const PyArguments& arguments,
                                                 const SourcePlace& where);
  Result<std::optional<PyValue>> call_number(const std::string& name, const PyArguments& arguments,
                                             const SourcePlace& where);
  Result<PyValue> rows_of(bool mapped, const std::vector<PyValue>& given, const SourcePlace& where);
  Result<std::optional<PyValue>> reduced(const std::string& name, const std::vector<PyValue>& items,
                                         const PyValue& start, const SourcePlace& where);
  Result<PyValue> converted_number(const std::string& name, const std::vector<PyValue>& given,
                                   const SourcePlace& where);
  static std::optional<PyValue> integer_math(const std::string& name, const std::vector<PyValue>& given);
  Result<PyValue> product_of(const PyValue& iterable, const SourcePlace& where);
  Result<std::optional<PyValue>> change_list(PySequence& list_value, const std::string& name,
                                             const PyArguments& arguments, const SourcePlace& where);
  PyValue set_of(const std::vector<PyValue>& items);
  Result<std::optional<PyValue>> change_set(PySequence& set, const std::string& name, const std::vector<PyValue>& given,
                                            const SourcePlace& where);
  Result<std::optional<PyValue>> change_dictionary(PyDictionary& dictionary, const std::string& name,
                                                   const PyArguments& arguments, const SourcePlace& where);
  /// `order`: its keywords `key` and `reverse`, as sorted() has them.
  Result<void> sort_values(std::vector<PyValue>& items, const PyArguments& order, const SourcePlace& where);
  Result<PyValue> next_item(const std::vector<PyValue>& given, const SourcePlace& where);
  static Result<std::optional<PyValue>> popped(std::vector<PyValue>& items, const std::vector<PyValue>& given,
                                               const SourcePlace& where);
  Result<PyValue> range(const PyArguments& arguments, const SourcePlace& where);
  Result<PyValue> extremum(bool largest, const PyArguments& arguments, const SourcePlace& where);
  Result<PyValue> call_math(const std::string& name, const PyArguments& arguments, const SourcePlace& where);
  Result<std::optional<PyValue>> call_list_method(PySequence& list, const std::string& name,
                                                  const PyArguments& arguments, const SourcePlace& where);
  Result<std::optional<PyValue>> call_dictionary_method(PyDictionary& dictionary, const std::string& name,
                                                        const PyArguments& arguments, const SourcePlace& where);
  [[nodiscard]] bool is_instance(const PyValue& value, const PyValue& type) const;
  /// The items of anything that Python iterates over.
  Result<std::vector<PyValue>> items_of(const PyValue& value, const SourcePlace& where);
  Result<PyValue> length_of(const PyValue& value, const SourcePlace& where);
  PyValue list(std::vector<PyValue> items, bool tuple = false);

  // tensors.cpp, tensor_values.cpp
  [[nodiscard]] Graph& graph() { return in_forward_ ? program_.graph : program_.sources; }
  Result<ArgumentValue> argument(const PyValue& value, const SourcePlace& where);
  Result<std::vector<GivenArgument>> given_arguments(const PyArguments& arguments, const SourcePlace& where);
  /// Calls an operator; its result as Python sees it.
  Result<PyValue> call_operator(const OperatorRow& row, const std::vector<GivenArgument>& given,
                                const std::string& shown, const SourcePlace& where, Graph& into);
  Result<PyValue> call_found(const FoundOperator& found, const PyArguments& arguments, const std::string& shown,
                             const SourcePlace& where);
  Result<std::optional<PyValue>> call_special(const std::string& path, PyArguments& arguments, const std::string& shown,
                                              const SourcePlace& where);
  Result<std::optional<PyValue>> call_making(const std::string& path, const PyArguments& arguments,
                                             const std::string& shown, const SourcePlace& where);
  Result<PyValue> ordered_dictionary(const PyArguments& arguments, const SourcePlace& where);
  Result<std::optional<PyValue>> call_overloaded(const std::string& path, PyArguments& arguments,
                                                 const std::string& shown, const SourcePlace& where);
  Result<std::optional<PyValue>> measure(TensorBox& tensor, const std::string& name, const PyArguments& arguments,
                                         const std::string& shown, const SourcePlace& where);
  Result<std::optional<PyValue>> call_tensor_method(TensorBox& tensor, const std::string& name,
                                                    const PyArguments& arguments, const std::string& shown,
                                                    const SourcePlace& where);
  Result<std::optional<PyValue>> convert(TensorBox& tensor, const std::string& name, const PyArguments& arguments,
                                         const std::string& shown, const SourcePlace& where);
  Result<PyValue> to_type(const PyValue& tensor, ElementType type, const std::string& shown, const SourcePlace& where);
  Result<PyValue> tensor_literal(const PyArguments& arguments, const SourcePlace& where);
  Result<void> literal_shape(const PyValue& value, std::size_t level, Shape& shape, int& category,
                             const SourcePlace& where);
  Result<std::optional<PyValue>> initialise(TensorBox& tensor, const std::string& name, const PyArguments& arguments,
                                            const SourcePlace& where);
  Result<PyValue> make_source(const Shape& shape, const ElementDistribution& distribution, ElementType dtype,
                              const SourcePlace& where);
  /// Of a tensor that is made before forward(): an element of arange() or linspace(), or one number everywhere.
  [[nodiscard]] std::optional<double> known_number(std::size_t value) const;
  Result<void> copy_into(TensorBox& tensor, const PyValue& from, const std::string& shown, const SourcePlace& where);
  Result<void> change(TensorBox& tensor, const PyValue& by, const SourcePlace& where);
  Result<PyValue> with_items(const PyValue& tensor, const PyValue& index, const PyValue& value,
                             const SourcePlace& where);
  [[nodiscard]] const TensorType& type_of(const TensorBox& tensor) const;
  [[nodiscard]] std::size_t storage_of(std::size_t value) const;

  // subscripts.cpp
  Result<PyValue> subscript(const PyValue& object, const PyValue& index, const SourcePlace& where);
  Result<PyValue> text_subscript(const std::string& text, const PyValue& index, const SourcePlace& where);
  Result<PyValue> sequence_subscript(const PySequence& list, const PyValue& index, const SourcePlace& where);
  Result<PyValue> tensor_subscript(const PyValue& tensor, const PyValue& index, const SourcePlace& where);
  /// What is left of a tensor while its indices are applied one by one.
  struct IndexWalk {
    PyValue result;
    std::int64_t axis = 0;         ///< that the next index is for
    std::int64_t skipped = 0;      ///< axes that "..." stands for
    std::vector<PyValue> tensors;  ///< index tensors that wait for their neighbours
    bool used_tensors = false;
  };
  Result<void> apply_index(IndexWalk& walk, std::string_view op, const std::vector<GivenArgument>& rest,
                           const SourcePlace& where);
  Result<void> apply_tensors(IndexWalk& walk, const SourcePlace& where);
  Result<void> apply_slice(IndexWalk& walk, const PySliceValue& slice, const SourcePlace& where);
  Result<void> apply_one(IndexWalk& walk, const PyValue& one, const SourcePlace& where);
  Result<PyValue> one_operator(std::string_view name, const std::vector<GivenArgument>& given,
                               const SourcePlace& where);

  // modules.cpp
  Result<void> set_training(PyObject& object, bool training, const SourcePlace& where);
  /// nn.Module(): what others are put into.
  PyValue empty_module();
  Result<PyValue> construct_module(const ModuleRow& row, const PyArguments& arguments, const std::string& shown,
                                   const SourcePlace& where);
  Result<void> initialise_module(PyObject& object, const ModuleRow& row, const PyArguments& arguments,
                                 const std::string& shown, const SourcePlace& where);
  Result<void> fill_container(PyObject& object, const ModuleRow& row, const PyArguments& arguments,
                              const SourcePlace& where);
  Result<PyValue> call_object(PyObject& object, PyArguments arguments, const std::string& shown,
                              const SourcePlace& where);
  Result<PyValue> call_module(PyObject& object, const ModuleRow& row, PyArguments arguments, const std::string& shown,
                              const SourcePlace& where);
  Result<void> pad_by_mode(PyObject& object, std::vector<GivenArgument>& given, const std::string& shown,
                           const SourcePlace& where);
  Result<PyValue> call_plain_module(PyObject& object, const ModuleRow& row, const PyArguments& arguments,
                                    const std::string& shown, const SourcePlace& where);
  /// The type that x.to(...) and x.type(...) ask for; Python's own types stand for PyTorch's.
  [[nodiscard]] static std::optional<ElementType> asked_type(const PyValue& value);
  Result<bool> convert_module(PyObject& object, const std::string& name, const PyArguments& arguments,
                              const SourcePlace& where);
  Result<std::optional<PyValue>> call_module_method(PyObject& object, const std::string& name,
                                                    const PyArguments& arguments, const SourcePlace& where);
  PyValue named_children(const PyObject& object);
  Result<std::optional<PyValue>> call_container_method(PyObject& object, const std::string& name,
                                                       const PyArguments& arguments, const SourcePlace& where);
  Result<void> register_tensor(PyObject& object, const std::string& name, const PyArguments& arguments,
                               const SourcePlace& where);
  [[nodiscard]] std::vector<PyValue> children_of(const PyObject& object) const;
  void collect_modules(PyObject& object, std::vector<PyValue>& into) const;
  void collect_parameters(PyObject& object, std::vector<PyValue>& into) const;
  [[nodiscard]] static bool is_module(const PyValue& value);
  void name_module(PyObject& object, const std::string& prefix, int depth);
  void name_tensor(const std::string& name, const TensorBox& tensor, ParameterKind kind);

  Program& program_;
  const ProgramOptions& options_;
  PyHeap heap_;
  PyScope globals_;
  bool in_forward_ = false;
  std::int64_t steps_ = 0;
  int depth_ = 0;
  int calls_ = 0;
  std::string module_path_;                         ///< of the submodule that is called
  std::map<std::size_t, PyScope*> shipped_scopes_;  ///< of files of program/library/ that were asked for
  std::optional<SourcePlace> shipped_call_;         ///< of the call that led into one of them
  std::map<std::string, Error> unread_globals_;     ///< names of the file with values that cannot be read: whoever asks
                                                    ///< for one gets the error
  std::map<std::size_t, Leaf> leaves_;              ///< by value in Program::sources
  std::map<const PyObject*, std::string> paths_;    ///< of modules
  std::vector<std::size_t> storage_;                ///< of values of the graph: the first value with the same memory
  std::vector<bool> overwritten_;                   ///< by storage: changed in place under another name
};

}  // namespace kw
