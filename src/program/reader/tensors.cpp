// Tensors: calls of operators, conversions, in-place changes, and what is made of numbers.

#include <algorithm>
#include <array>
#include <cmath>

#include "program/reader/interpreter.hpp"

namespace kw {
namespace {

/// Results that share memory with their first operand.
constexpr std::string_view k_views[] = {"view",      "reshape",  "view_as",    "permute", "transpose", "t",
                                        "movedim",   "flatten",  "unflatten",  "squeeze", "unsqueeze", "expand",
                                        "expand_as", "select",   "slice",      "narrow",  "chunk",     "split",
                                        "unbind",    "diagonal", "contiguous", "ravel"};
/// What only says where a tensor lies or whether a gradient is wanted.
constexpr std::string_view k_same_tensor[] = {"detach",      "cpu",     "cuda",      "requires_grad_",
                                              "retain_grad", "detach_", "pin_memory"};
/// Settings of the library that a file may make and that change nothing here.
constexpr std::string_view k_no_effect[] = {"torch.manual_seed",        "torch.set_float32_matmul_precision",
                                            "torch.cuda.manual_seed",   "torch.cuda.synchronize",
                                            "torch.set_default_device", "torch.cuda.empty_cache"};

template <std::size_t N>
bool listed(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// randint(high, size) and arange(end) start at 0.
void put_in_first(const std::string& path, PyArguments& arguments) {
  const auto count = arguments.positional.size();
  const bool draws = path == "torch.randint" && (count == 2 || (count == 1 && arguments.keyword("size") != nullptr));
  const bool counts = path == "torch.arange" && count == 1 && arguments.keyword("end") == nullptr;
  if (draws || counts) arguments.positional.insert(arguments.positional.begin(), PyValue{Extent(0)});
}

}  // namespace

std::optional<ElementType> PyInterpreter::asked_type(const PyValue& value) {
  if (const auto* type = value.get<ElementType>()) return *type;
  const auto* python = value.get<PyLibraryName>();
  if (python == nullptr) return std::nullopt;
  if (python->path == "bool") return ElementType::boolean;
  if (python->path == "int") return ElementType::int64;
  return python->path == "float" ? std::optional(ElementType::float64) : std::nullopt;
}

const TensorType& PyInterpreter::type_of(const TensorBox& tensor) const {
  return (tensor.in_sources ? program_.sources : program_.graph).values[tensor.value].type;
}

std::size_t PyInterpreter::storage_of(std::size_t value) const {
  return value < storage_.size() ? storage_[value] : value;
}

Result<std::size_t> PyInterpreter::forward_value(TensorBox& tensor, const SourcePlace& where) {
  if (!tensor.in_sources) {
    const auto storage = storage_of(tensor.value);
    if (storage < overwritten_.size() && overwritten_[storage] && tensor.view != nullptr) {
      // What it is a part of was changed: it is that part of what there is now.
      KW_TRY(const auto part, tensor_subscript(PyValue{tensor.view->of}, tensor.view->index, where));
      tensor.value = part.object<TensorBox>()->value;
    } else if (storage < overwritten_.size() && overwritten_[storage]) {
      return fail_at(errc::program_unsupported, where, "this tensor shares memory with one that was changed in place",
                     "use the form that returns a new tensor, such as x = x + 1");
    }
    return tensor.value;
  }
  auto found = leaves_.find(tensor.value);
  if (found == leaves_.end()) {
    name_tensor(fmt::format("constant_{}", program_.parameters.size()), tensor, ParameterKind::unsaved);
    found = leaves_.find(tensor.value);
  }
  auto& leaf = found->second;
  if (!leaf.value) {
    leaf.value = program_.graph.values.size();
    program_.graph.values.push_back(
        {program_.sources.values[tensor.value].type, std::nullopt, program_.parameters[leaf.parameter].name});
    program_.parameters[leaf.parameter].value = leaf.value;
  }
  return *leaf.value;
}

PyValue PyInterpreter::add_leaf(const std::string& name, const TensorType& type) {
  program_.graph.values.push_back({type, std::nullopt, name});
  return PyValue{heap_.tensor(false, program_.graph.values.size() - 1)};
}

Result<ArgumentValue> PyInterpreter::argument(const PyValue& value, const SourcePlace& where) {
  if (value.is_none()) return ArgumentValue();
  if (const auto* truth = value.get<bool>()) return ArgumentValue(*truth);
  if (const auto* integer = value.get<Extent>()) return ArgumentValue(*integer);
  if (const auto* real = value.get<double>()) return ArgumentValue(*real);
  if (const auto* text = value.get<std::string>()) return ArgumentValue(*text);
  if (const auto type = asked_type(value)) return ArgumentValue(*type);
  if (auto* tensor = value.object<TensorBox>()) {
    if (!in_forward_) return ArgumentValue(ValueRef{tensor->value});
    KW_TRY(const auto found, forward_value(*tensor, where));
    return ArgumentValue(ValueRef{found});
  }
  const auto* items = value.object<PySequence>();
  if (items == nullptr)
    return fail_at(errc::program_type, where,
                   fmt::format("{} cannot be an argument of a torch function", kind_text(value)));
  KW_TRY_VOID(charge(static_cast<std::int64_t>(items->items.size()), where));
  const bool tensors = !items->items.empty() && items->items.front().object<TensorBox>() != nullptr;
  Shape integers;
  std::vector<ValueRef> references;
  for (const auto& item : items->items) {
    const auto integer = integer_of(item);
    if (tensors && item.object<TensorBox>() != nullptr) {
      KW_TRY(const auto one, argument(item, where));
      references.push_back(std::get<ValueRef>(one));
    } else if (!tensors && (integer || item.is_none())) {
      integers.push_back(integer.value_or(-1));  // None in a list of sizes: as it is
    } else {
      return fail_at(
          errc::program_type, where,
          fmt::format("a list with {} in it, where all are {}", kind_text(item), tensors ? "tensors" : "integers"));
    }
  }
  if (tensors) return ArgumentValue(std::move(references));
  return ArgumentValue(std::move(integers));
}

Result<std::vector<GivenArgument>> PyInterpreter::given_arguments(const PyArguments& arguments,
                                                                  const SourcePlace& where) {
  std::vector<GivenArgument> given;
  const auto add = [&](const std::string& name, const PyValue& one) -> Result<void> {
    auto value = argument(one, where);
    if (!value) return tl::unexpected(std::move(value).error());
    given.push_back({name, *std::move(value), where});
    return {};
  };
  for (const auto& one : arguments.positional) KW_TRY_VOID(add("", one));
  for (const auto& [name, one] : arguments.keywords) {
    if (name == "device" || name == "generator" || name == "memory_format" || name == "out") {
      if (name != "out") continue;
      return fail_at(errc::program_unsupported, where, "'out' is not read", "use the result of the call");
    }
    KW_TRY_VOID(add(name, one));
  }
  return given;
}

Result<PyValue> PyInterpreter::call_operator(const OperatorRow& row, const std::vector<GivenArgument>& given,
                                             const std::string& shown, const SourcePlace& where, Graph& into) {
  const CallSettings settings{shown, shipped_call_.value_or(where), module_path_, program_.mode, k_most_nodes};
  KW_TRY(const auto called, call_operator_row(into, row, given, settings));
  const bool forward = &into == &program_.graph;
  if (forward) {
    storage_.resize(into.values.size(), into.values.size());
    for (std::size_t i = 0; i < storage_.size(); ++i) {
      if (storage_[i] == storage_.size()) storage_[i] = i;
    }
    const auto* operand = into.nodes[called.node].arguments.empty()
                              ? nullptr
                              : std::get_if<ValueRef>(&into.nodes[called.node].arguments.front().value);
    if (operand != nullptr && listed(k_views, row.name)) {
      for (const auto output : called.outputs) storage_[output] = storage_of(operand->value);
    }
  }
  std::vector<PyValue> outputs;
  for (const auto output : called.outputs) outputs.push_back(PyValue{heap_.tensor(!forward, output)});
  if (called.tuple) return list(std::move(outputs), true);
  return outputs.front();
}

Result<PyValue> PyInterpreter::call_found(const FoundOperator& found, const PyArguments& arguments,
                                          const std::string& shown, const SourcePlace& where) {
  KW_TRY(const auto given, given_arguments(arguments, where));
  KW_TRY(auto result, call_operator(*found.row, given, shown, where, graph()));
  const auto* asked = arguments.keyword("inplace");
  const bool in_place = found.in_place || (asked != nullptr && asked->get<bool>() != nullptr && *asked->get<bool>());
  auto* tensor = arguments.positional.empty() ? nullptr : arguments.positional[0].object<TensorBox>();
  if (!in_place || tensor == nullptr) return result;
  KW_TRY_VOID(change(*tensor, result, where));
  return arguments.positional[0];
}

/// The tensor gets another value, for every variable that holds it, and so does what it is a part of. Whoever else
/// shares memory with them may not be used again.
Result<void> PyInterpreter::change(TensorBox& tensor, const PyValue& by, const SourcePlace& where) {
  std::vector<std::pair<TensorBox*, PyValue>> changed = {{&tensor, by}};
  if (by.object<TensorBox>() == nullptr)
    return fail_at(errc::program_type, where, fmt::format("a tensor cannot become {}", kind_text(by)));
  for (const auto* view = tensor.view; view != nullptr; view = view->of->view) {
    KW_TRY(auto whole, with_items(PyValue{view->of}, view->index, changed.back().second, where));
    changed.emplace_back(view->of, std::move(whole));
  }
  for (const auto& [box, value] : changed) {
    if (!box->in_sources) {
      const auto storage = storage_of(box->value);
      if (overwritten_.size() <= storage) overwritten_.resize(storage + 1, false);
      overwritten_[storage] = true;
    }
    box->in_sources = value.object<TensorBox>()->in_sources;
    box->value = value.object<TensorBox>()->value;
  }
  const auto& whole = *changed.back().first;
  for (const auto& [box, value] : changed) {  // the parts share its memory
    if (!box->in_sources && !whole.in_sources && box->value < storage_.size())
      storage_[box->value] = storage_of(whole.value);
  }
  return {};
}

/// The tensor with `value` in the place of what the index names.
Result<PyValue> PyInterpreter::with_items(const PyValue& tensor, const PyValue& index, const PyValue& value,
                                          const SourcePlace& where) {
  KW_TRY(const auto function, shipped("kernelwright.with_items"));
  KW_CHECK(function.has_value(), "no function assigns to a part of a tensor");
  return call(*function, {{tensor, index, value}, {}}, "an assignment", where);
}

Result<PyValue> PyInterpreter::one_operator(std::string_view name, const std::vector<GivenArgument>& given,
                                            const SourcePlace& where) {
  const auto* row = operator_named(name);
  KW_CHECK(row != nullptr, "no operator {}", name);
  return call_operator(*row, given, std::string(name), where, graph());
}

/// What makes a tensor of numbers, a parameter of a tensor, or gives a tensor other values.
Result<std::optional<PyValue>> PyInterpreter::call_making(const std::string& path, const PyArguments& arguments,
                                                          const std::string& shown, const SourcePlace& where) {
  const auto& given = arguments.positional;
  if (path == "torch.tensor" || path == "torch.as_tensor") {
    KW_TRY(auto made, tensor_literal(arguments, where));
    return std::optional<PyValue>(std::move(made));
  }
  if (path == "torch.Tensor" || path == "torch.FloatTensor" || path == "torch.LongTensor") {
    const bool sizes = std::ranges::all_of(given, [](const PyValue& one) { return one.get<Extent>() != nullptr; });
    KW_TRY(auto made, sizes ? call_library("torch.empty", arguments, shown, where) : tensor_literal(arguments, where));
    KW_TRY(made, to_type(made, path == "torch.LongTensor" ? ElementType::int64 : ElementType::float32, shown, where));
    return std::optional<PyValue>(std::move(made));
  }
  if (path == "torch.nn.Parameter" || path == "torch.nn.parameter.Parameter") {
    const auto* data = given.empty() ? arguments.keyword("data") : &given[0];
    const auto* tensor = data == nullptr ? nullptr : data->object<TensorBox>();
    if (tensor == nullptr || in_forward_)
      return fail_at(errc::program_call, where, "nn.Parameter is made in __init__ from a tensor",
                     "write for example nn.Parameter(torch.zeros(n))");
    auto* made = heap_.tensor(true, tensor->value);
    made->is_parameter = true;
    return PyValue{made};
  }
  if (path.starts_with("torch.nn.init.") && !given.empty() && given[0].object<TensorBox>() != nullptr) {
    auto rest = arguments;
    rest.positional.erase(rest.positional.begin());
    KW_TRY(auto done, initialise(*given[0].object<TensorBox>(), path.substr(14), rest, where));
    if (!done)
      return fail_at(errc::program_name, where, fmt::format("{} is not read", shown),
                     "use nn.init.normal_, uniform_, xavier_uniform_ or kaiming_uniform_");
    return done;
  }
  return std::optional<PyValue>();
}

/// Pairs, as a dictionary.
Result<PyValue> PyInterpreter::ordered_dictionary(const PyArguments& arguments, const SourcePlace& where) {
  const auto& given = arguments.positional;
  auto* made = heap_.dictionary();
  if (!given.empty()) {
    KW_TRY(const auto pairs, items_of(given[0], where));
    for (const auto& pair : pairs) {
      const auto* both = pair.object<PySequence>();
      if (both == nullptr || both->items.size() != 2)
        return fail_at(errc::program_type, where, "a dictionary is made of pairs of a key and a value");
      KW_TRY_VOID(charge(static_cast<std::int64_t>(made->items.size()), where));
      made->put(both->items[0], both->items[1]);
    }
  }
  return PyValue{made};
}

/// One name for several operators: told apart by what they are given. Arguments that PyTorch lets out at the front are
/// put in.
Result<std::optional<PyValue>> PyInterpreter::call_overloaded(const std::string& path, PyArguments& arguments,
                                                              const std::string& shown, const SourcePlace& where) {
  auto& given = arguments.positional;
  const bool tensor_second = given.size() > 1 && given[1].object<TensorBox>() != nullptr;
  if (tensor_second && (path == "torch.max" || path == "torch.min")) {
    KW_TRY(auto made, call_found(*find_tensor_operator(path == "torch.max" ? "torch.maximum" : "torch.minimum"),
                                 arguments, shown, where));
    return std::optional<PyValue>(std::move(made));
  }
  if ((path == "torch.nn.functional.batch_norm" || path == "torch.nn.functional.instance_norm" ||
       path == "torch.batch_norm") &&
      !given.empty() && given[0].object<TensorBox>() != nullptr) {
    const auto axes = std::clamp<std::size_t>(type_of(*given[0].object<TensorBox>()).shape.size(), 3, 5) - 2;
    const auto* row =
        operator_named(fmt::format("{}{}d", path.ends_with("batch_norm") ? "batch_norm" : "instance_norm", axes));
    KW_TRY(auto made, call_found({row, false}, arguments, shown, where));
    return std::optional<PyValue>(std::move(made));
  }
  put_in_first(path, arguments);
  if (path == "torch.einsum" && given.size() > 1 && given[1].object<PySequence>() == nullptr) {
    std::vector<PyValue> operands(given.begin() + 1, given.end());
    given = {given[0], list(std::move(operands))};
  }
  return std::optional<PyValue>();
}

Result<std::optional<PyValue>> PyInterpreter::call_special(const std::string& path, PyArguments& arguments,
                                                           const std::string& shown, const SourcePlace& where) {
  KW_TRY(auto made, call_making(path, arguments, shown, where));
  if (made) return made;
  const auto& given = arguments.positional;
  if (listed(k_no_effect, path)) return PyValue{};
  if (path == "torch.nn.Module") return empty_module();
  if (path == "torch.device") return PyValue{std::string("device")};
  if (path == "torch.cuda.is_available") return PyValue{true};
  if (path == "torch.is_tensor") return PyValue{!given.empty() && given[0].object<TensorBox>() != nullptr};
  if (path == "copy.deepcopy" && given.size() == 1) {
    Copies copies;
    KW_TRY(auto copy, deep_copy(given[0], copies, where));
    return std::optional<PyValue>(std::move(copy));
  }
  if (path == "torch.Size") return given.empty() ? list({}, true) : given[0];
  if (path == "collections.OrderedDict" || path == "collections.defaultdict") {
    KW_TRY(auto dictionary, ordered_dictionary(arguments, where));
    return std::optional<PyValue>(std::move(dictionary));
  }
  return call_overloaded(path, arguments, shown, where);
}

Result<PyValue> PyInterpreter::to_type(const PyValue& tensor, ElementType type, const std::string& shown,
                                       const SourcePlace& where) {
  if (type_of(*tensor.object<TensorBox>()).dtype == type) return tensor;
  KW_TRY(const auto operand, argument(tensor, where));
  return call_operator(*operator_named("to"), {{"", operand, where}, {"", type, where}}, shown, where, graph());
}

/// x.to(...), x.float() and the like; a device alone changes nothing.
Result<std::optional<PyValue>> PyInterpreter::convert(TensorBox& tensor, const std::string& name,
                                                      const PyArguments& arguments, const std::string& shown,
                                                      const SourcePlace& where) {
  const PyValue self{&tensor};
  std::optional<ElementType> type;
  if (name == "to" || name == "type" || name == "type_as") {
    auto values = arguments.positional;
    for (const auto& [key, value] : arguments.keywords) values.push_back(value);
    for (const auto& value : values) {
      const auto* other = value.object<TensorBox>();
      const auto asked = other == nullptr ? asked_type(value) : type_of(*other).dtype;
      if (asked) type = asked;
    }
    if (!type) return self;
  } else if (arguments.positional.empty()) {
    type = element_type_named(name);
  }
  if (!type) return std::optional<PyValue>();
  KW_TRY(auto made, to_type(self, *type, shown, where));
  return std::optional<PyValue>(std::move(made));
}

/// x.size(), x.dim() and what else is known of a tensor without computing.
Result<std::optional<PyValue>> PyInterpreter::measure(TensorBox& tensor, const std::string& name,
                                                      const PyArguments& arguments, const std::string& shown,
                                                      const SourcePlace& where) {
  const auto& type = type_of(tensor);
  const auto rank = static_cast<std::int64_t>(type.shape.size());
  if (name == "dim" || name == "ndimension") return PyValue{Extent(rank)};
  if (name == "is_floating_point") return PyValue{is_floating(type.dtype)};
  if (name == "is_contiguous") return PyValue{true};
  if (name == "numel" || name == "nelement") {
    KW_TRY(auto count, element_count(type.shape));
    return std::optional<PyValue>(PyValue{std::move(count)});
  }
  if (const auto number =
          name == "item" && !in_forward_ && !tensor.is_parameter ? known_number(tensor.value) : std::nullopt)
    return is_floating(type.dtype) ? PyValue{*number} : PyValue{Extent(static_cast<std::int64_t>(*number))};
  if (name != "size") return std::optional<PyValue>();
  if (arguments.positional.empty() && arguments.keywords.empty()) return tensor_attribute(tensor, "shape", where);
  const auto at = integer_of(arguments.positional.empty() ? arguments.keywords[0].second : arguments.positional[0]);
  if (!at || at->value() < -rank || at->value() >= rank)
    return fail_at(errc::program_value, where, fmt::format("{} of a tensor with {} axes", shown, rank));
  return PyValue{type.shape[static_cast<std::size_t>(at->value() < 0 ? at->value() + rank : at->value())]};
}

/// x.copy_(y): y in the shape and type of x.
Result<void> PyInterpreter::copy_into(TensorBox& tensor, const PyValue& from, const std::string& shown,
                                      const SourcePlace& where) {
  if (from.object<TensorBox>() == nullptr)
    return fail_at(errc::program_type, where, fmt::format("{} of {}", shown, kind_text(from)), "use x.fill_(number)");
  const auto type = type_of(tensor);
  if (tensor.view != nullptr) KW_TRY_VOID(check_apart(*tensor.view->of, tensor.view->index, from, where));
  KW_TRY(auto copied, to_type(from, type.dtype, shown, where));
  if (shape_text(type_of(*copied.object<TensorBox>()).shape) != shape_text(type.shape)) {
    KW_TRY(const auto operand, argument(copied, where));
    KW_TRY(copied, one_operator("expand", {{"", operand, where}, {"", type.shape, where}}, where));
  }
  return change(tensor, copied, where);
}

/// A function of torch whose first parameter is `input` is a method as well, where no operator has the name.
Result<std::optional<PyValue>> PyInterpreter::shipped_method(const std::string& name) {
  KW_TRY(auto method, shipped("Tensor." + name));
  if (method || find_tensor_operator("Tensor." + name)) return method;
  KW_TRY(method, shipped("torch." + name));
  auto* closure = method ? method->object<PyClosure>() : nullptr;
  const bool takes_tensor = closure != nullptr && !closure->function->parameters.empty() &&
                            closure->function->parameters.front().name == "input";
  return takes_tensor ? method : std::nullopt;
}

Result<std::optional<PyValue>> PyInterpreter::call_tensor_method(TensorBox& tensor, const std::string& name,
                                                                 const PyArguments& arguments, const std::string& shown,
                                                                 const SourcePlace& where) {
  const PyValue self{&tensor};
  KW_TRY(auto measured, measure(tensor, name, arguments, shown, where));
  if (measured) return measured;
  if (listed(k_same_tensor, name)) return self;
  KW_TRY(auto converted, convert(tensor, name, arguments, shown, where));
  if (converted) return converted;
  if (!in_forward_) {
    KW_TRY(auto done, initialise(tensor, name, arguments, where));
    if (done) return done;
  }
  PyArguments all = arguments;
  all.positional.insert(all.positional.begin(), self);
  if (name == "max" || name == "min" || name == "einsum") {
    KW_TRY(auto special, call_special("torch." + name, all, shown, where));
    if (special) return special;
  }
  if (name == "copy_" && arguments.positional.size() == 1) {
    KW_TRY_VOID(copy_into(tensor, arguments.positional[0], shown, where));
    return self;
  }
  KW_TRY(const auto method, shipped_method(name));
  if (method) {
    KW_TRY(auto made, call(*method, std::move(all), shown, where));
    return std::optional<PyValue>(std::move(made));
  }
  const auto found = find_tensor_operator("Tensor." + name);
  // x.name_() is x.name() that x holds from then on.
  if (!found && name.size() > 1 && name.ends_with('_')) {
    KW_TRY(const auto made, call_tensor_method(tensor, name.substr(0, name.size() - 1), arguments, shown, where));
    if (made) KW_TRY_VOID(change(tensor, *made, where));
    return made ? std::optional<PyValue>(self) : std::nullopt;
  }
  if (!found) return std::optional<PyValue>();
  KW_TRY(auto made, call_found(*found, all, shown, where));
  return std::optional<PyValue>(std::move(made));
}

}  // namespace kw
