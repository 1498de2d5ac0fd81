// Modules of torch.nn: constructing and calling them, and what every nn.Module can do.

#include <algorithm>

#include "base/text.hpp"
#include "program/reader/interpreter.hpp"

namespace kw {
namespace {

PyValue value_of(const ArgumentValue& argument, PyHeap& heap) {
  if (const auto* truth = std::get_if<bool>(&argument)) return {*truth};
  if (const auto* integer = std::get_if<Extent>(&argument)) return {*integer};
  if (const auto* real = std::get_if<double>(&argument)) return {*real};
  if (const auto* text = std::get_if<std::string>(&argument)) return {*text};
  if (const auto* tensor = std::get_if<ValueRef>(&argument)) return {heap.tensor(true, tensor->value)};
  const auto* shape = std::get_if<Shape>(&argument);
  if (shape == nullptr) return {};
  std::vector<PyValue> items;
  for (const auto& extent : *shape) items.push_back({extent});
  return {heap.sequence(std::move(items), true)};
}

std::string_view renamed_for_operator(const ModuleRow& row, std::string_view operator_name) {
  const auto colon = row.renamed.find(':');
  const bool same = colon != std::string_view::npos && row.renamed.substr(colon + 1) == operator_name;
  return same ? row.renamed.substr(0, colon) : operator_name;
}

/// What F.pad() takes for a convolution's padding: of the last axis first, before and behind it.
std::optional<Shape> pads_around(const ArgumentValue& padding, const Shape& kernels, const Shape& dilations) {
  const auto* extents = std::get_if<Shape>(&padding);
  const auto* text = std::get_if<std::string>(&padding);
  if ((extents == nullptr || extents->size() != kernels.size()) && text == nullptr) return std::nullopt;
  Shape pads;
  for (std::size_t i = kernels.size(); i-- > 0;) {
    if (text == nullptr) {
      pads.insert(pads.end(), 2, (*extents)[i]);
      continue;
    }
    const auto total = *text == "same" ? dilations[i].value() * (kernels[i].value() - 1) : std::int64_t{0};
    pads.emplace_back(total / 2);
    pads.emplace_back(total - total / 2);
  }
  return pads;
}

}  // namespace

bool PyInterpreter::is_module(const PyValue& value) {
  const auto* object = value.object<PyObject>();
  return object != nullptr && (object->type == nullptr || object->type->is_module);
}

PyValue PyInterpreter::empty_module() {
  auto* type = heap_.type();
  type->name = "Module";
  type->is_module = true;
  auto* object = heap_.object();
  object->type = type;
  object->initialised = true;
  return PyValue{object};
}

Result<PyValue> PyInterpreter::construct_module(const ModuleRow& row, const PyArguments& arguments,
                                                const std::string& shown, const SourcePlace& where) {
  auto* object = heap_.object();
  KW_TRY_VOID(initialise_module(*object, row, arguments, shown, where));
  return PyValue{object};
}

Result<void> PyInterpreter::initialise_module(PyObject& object, const ModuleRow& row, const PyArguments& arguments,
                                              const std::string& shown, const SourcePlace& where) {
  object.library = &row;
  object.initialised = true;
  if (row.kind == ModuleKind::identity) return {};
  if (row.kind != ModuleKind::plain) return fill_container(object, row, arguments, where);
  PyArguments used = arguments;
  auto real = ElementType::float32;
  if (const auto* keyword = arguments.keyword("dtype"); keyword != nullptr && keyword->get<ElementType>() != nullptr) {
    real = *keyword->get<ElementType>();
    if (!is_floating(real))
      return fail_at(errc::program_type, where, fmt::format("{} with parameters that are not floating", shown),
                     "give it dtype=torch.float32, torch.float16 or torch.bfloat16");
    std::erase_if(used.keywords, [](const auto& one) { return one.first == "dtype"; });
  }
  const bool was_forward =
      std::exchange(in_forward_, false);  // arguments are those of a constructor wherever it stands
  auto given = given_arguments(used, where);
  in_forward_ = was_forward;
  if (!given) return tl::unexpected(std::move(given).error());
  KW_TRY(const auto bound, bind_arguments(parse_schema(row.schema), *given, shown, where));
  for (const auto& one : bound) object.set(one.name, value_of(one.value, heap_));
  if (row.make == nullptr) return {};
  ModuleMaker maker(bound);
  if (auto made = row.make(maker); !made) {
    auto error = std::move(made).error();
    error.where = where;
    return tl::unexpected(std::move(error));
  }
  if (in_forward_ && !maker.tensors().empty()) {
    return fail_at(errc::program_unsupported, where, fmt::format("{} makes parameters in forward()", shown),
                   "construct it in __init__");
  }
  for (const auto& name : maker.absent()) object.set(name, {});
  for (const auto& tensor : maker.tensors()) {
    if (std::any_of(tensor.shape.begin(), tensor.shape.end(),
                    [](const Extent& extent) { return extent.value() < 0; })) {
      return fail_at(errc::program_value, where, fmt::format("{} with a size below 0", shown));
    }
    const auto dtype = is_floating(tensor.dtype) ? real : tensor.dtype;
    KW_TRY(auto made, make_source(tensor.shape, tensor.distribution, dtype, where));
    made.object<TensorBox>()->is_parameter = tensor.kind == ParameterKind::parameter;
    if (tensor.kind == ParameterKind::buffer) object.buffers.push_back(tensor.name);
    // The flag of the constructor that has the same name would keep its place: state_dict() has the bias last.
    std::erase_if(object.attributes, [&](const auto& one) { return one.first == tensor.name; });
    object.set(tensor.name, made);
  }
  return {};
}

Result<void> PyInterpreter::fill_container(PyObject& object, const ModuleRow& row, const PyArguments& arguments,
                                           const SourcePlace& where) {
  std::vector<PyValue> items = arguments.positional;
  const auto* named = items.empty() ? nullptr : items[0].object<PyDictionary>();
  if (named != nullptr) {
    for (const auto& [key, value] : named->items) {
      const auto* name = key.get<std::string>();
      if (name == nullptr)
        return fail_at(errc::program_type, where, fmt::format("the keys of nn.{} are texts", row.name));
      object.set(*name, value);
    }
    return {};
  }
  if (row.kind != ModuleKind::sequential && !items.empty()) {
    // A list, or from a part of a ModuleList its items.
    const bool list_given = items.size() == 1 && !is_module(items[0]) && items[0].object<TensorBox>() == nullptr;
    if (list_given) {
      KW_TRY(items, items_of(arguments.positional[0], where));
    }
  }
  KW_TRY_VOID(charge(static_cast<std::int64_t>(items.size() * items.size() / 16), where));  // each name is searched
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool left_out = row.kind == ModuleKind::module_list && items[i].is_none();
    if (row.kind != ModuleKind::parameter_list && !is_module(items[i]) && !left_out) {
      return fail_at(errc::program_type, where,
                     fmt::format("nn.{} holds modules, not {}", row.name, kind_text(items[i])),
                     "use nn.ReLU() and the like, not functions");
    }
    object.set(fmt::format("{}", i), items[i]);
  }
  return {};
}

std::vector<PyValue> PyInterpreter::children_of(const PyObject& object) const {
  std::vector<PyValue> children;
  const auto kind = object.library == nullptr ? ModuleKind::plain : object.library->kind;
  for (const auto& [name, value] : object.attributes) {
    const bool held = kind == ModuleKind::parameter_list ? value.object<TensorBox>() != nullptr
                                                         : kind == ModuleKind::module_list && value.is_none();
    if (is_module(value) || held) children.push_back(value);
  }
  return children;
}

Result<PyValue> PyInterpreter::call_object(PyObject& object, PyArguments arguments, const std::string& shown,
                                           const SourcePlace& where) {
  const PyValue self{&object};
  if (calls_ >= k_most_calls) {
    return fail_at(errc::program_limit, where, fmt::format("more than {} calls inside of one another", k_most_calls),
                   "put fewer modules into one another");
  }
  ++calls_;
  const auto before = module_path_;
  if (const auto path = paths_.find(&object); path != paths_.end()) module_path_ = path->second;
  auto result = [&]() -> Result<PyValue> {
    if (object.type != nullptr) {
      for (const auto* name : {"forward", "__call__"}) {
        const auto* method = find_in_class(*object.type, name);
        if (method != nullptr && method->object<PyClosure>() != nullptr)
          return call_closure(*method->object<PyClosure>(), &self, std::move(arguments), shown, where);
      }
    }
    if (object.library != nullptr) return call_module(object, *object.library, std::move(arguments), shown, where);
    return fail_at(errc::program_name, where, fmt::format("{} has no method 'forward'", kind_text(self)));
  }();
  module_path_ = before;
  --calls_;
  return result;
}

Result<PyValue> PyInterpreter::call_module(PyObject& object, const ModuleRow& row, PyArguments arguments,
                                           const std::string& shown, const SourcePlace& where) {
  if (row.kind == ModuleKind::plain) return call_plain_module(object, row, arguments, shown, where);
  const bool callable = row.kind == ModuleKind::identity || row.kind == ModuleKind::sequential;
  if (!callable || arguments.positional.empty()) {
    return fail_at(errc::program_call, where,
                   fmt::format("nn.{} cannot be called{}", row.name, callable ? " without an argument" : ""),
                   callable ? "" : "call its modules one by one in a loop");
  }
  PyValue value = arguments.positional[0];
  if (row.kind == ModuleKind::identity) return value;
  for (const auto& child : children_of(object)) {
    KW_TRY(value, call(child, {{value}, {}}, shown, where));
  }
  return value;
}

/// A convolution whose padding is not of zeros pads its input first, and is one without padding then.
Result<void> PyInterpreter::pad_by_mode(PyObject& object, std::vector<GivenArgument>& given, const std::string& shown,
                                        const SourcePlace& where) {
  const auto* held = object.find("padding_mode");
  const auto* mode = held == nullptr ? nullptr : held->get<std::string>();
  if (mode == nullptr || *mode == "zeros" || given.empty()) return {};
  const auto* kernel_size = object.find("kernel_size");
  const auto* dilation_size = object.find("dilation");
  if (kernel_size == nullptr || dilation_size == nullptr) return {};
  KW_TRY(const auto kernel, argument(*kernel_size, where));
  KW_TRY(const auto dilation, argument(*dilation_size, where));
  // A file may have assigned something else to them.
  const auto* kernels = std::get_if<Shape>(&kernel);
  const auto* dilations = std::get_if<Shape>(&dilation);
  if (kernels == nullptr || dilations == nullptr || kernels->size() != dilations->size())
    return fail_at(errc::program_type, where, fmt::format("{} has a kernel_size or dilation that is none", shown));
  for (auto& one : given) {
    if (one.keyword != "padding") continue;
    const auto pads = pads_around(one.value, *kernels, *dilations);
    if (!pads) return fail_at(errc::program_type, where, fmt::format("{} has a padding that is none", shown));
    one.value = Shape(kernels->size(), Extent(0));
    KW_TRY(const auto padded,
           call_operator(*operator_named("pad"), {given.front(), {"pad", *pads, where}, {"mode", *mode, where}}, shown,
                         where, graph()));
    KW_TRY(given.front().value, argument(padded, where));
  }
  return {};
}

Result<PyValue> PyInterpreter::call_plain_module(PyObject& object, const ModuleRow& row, const PyArguments& arguments,
                                                 const std::string& shown, const SourcePlace& where) {
  const auto* op = operator_named(row.op);
  KW_CHECK(op != nullptr, "no operator {}", row.op);
  KW_TRY(auto given, given_arguments(arguments, where));
  const auto schema = parse_schema(op->schema);
  const bool training = is_training(program_.mode) && !object.evaluating;
  const auto* tracked = object.find("track_running_stats");
  const bool tracks = tracked == nullptr || tracked->get<bool>() == nullptr || *tracked->get<bool>();
  for (std::size_t i = arguments.positional.size(); i < schema.size(); ++i) {
    const auto& name = schema[i].name;
    if (arguments.keyword(name) != nullptr) continue;
    if (name == "training" || name == "use_input_stats") {
      given.push_back({name, training || !tracks, where});
      continue;
    }
    const auto* held = object.find(renamed_for_operator(row, name));
    if (held == nullptr) continue;
    KW_TRY(auto value, argument(*held, where));
    given.push_back({name, std::move(value), where});
  }
  KW_TRY_VOID(pad_by_mode(object, given, shown, where));
  KW_TRY(auto result, call_operator(*op, given, shown, where, graph()));
  const auto* in_place = object.find("inplace");
  auto* tensor = arguments.positional.empty() ? nullptr : arguments.positional[0].object<TensorBox>();
  if (in_place == nullptr || tensor == nullptr || in_place->get<bool>() == nullptr || !*in_place->get<bool>())
    return result;
  KW_TRY_VOID(change(*tensor, result, where));
  return arguments.positional[0];
}

void PyInterpreter::collect_modules(PyObject& object, std::vector<PyValue>& into) const {
  constexpr std::size_t k_most = 4096;
  const auto same = [&](const PyValue& one) { return one.object<PyObject>() == &object; };
  if (into.size() >= k_most || std::any_of(into.begin(), into.end(), same)) return;
  into.push_back(PyValue{&object});
  for (const auto& [name, value] : object.attributes) {
    if (is_module(value)) collect_modules(*value.object<PyObject>(), into);
  }
}

void PyInterpreter::collect_parameters(PyObject& object, std::vector<PyValue>& into) const {
  std::vector<PyValue> modules;
  collect_modules(object, modules);
  for (const auto& module : modules) {
    for (const auto& [name, value] : module.object<PyObject>()->attributes) {
      const auto* tensor = value.object<TensorBox>();
      if (tensor != nullptr && tensor->is_parameter) into.push_back(value);
    }
  }
}

Result<void> PyInterpreter::register_tensor(PyObject& object, const std::string& name, const PyArguments& arguments,
                                            const SourcePlace& where) {
  const auto* key = arguments.positional.empty() ? arguments.keyword("name") : &arguments.positional[0];
  const auto* value = arguments.positional.size() < 2 ? arguments.keyword(name == "register_buffer"      ? "tensor"
                                                                          : name == "register_parameter" ? "param"
                                                                                                         : "module")
                                                      : &arguments.positional[1];
  const auto* text = key == nullptr ? nullptr : key->get<std::string>();
  if (text == nullptr || value == nullptr)
    return fail_at(errc::program_call, where, fmt::format("{} takes a name and a value", name));
  KW_TRY_VOID(check_name(*text, where));
  object.set(*text, *value);
  if (name != "register_buffer") return {};
  object.buffers.push_back(*text);
  const auto* persistent = arguments.positional.size() > 2 ? &arguments.positional[2] : arguments.keyword("persistent");
  if (persistent != nullptr && persistent->get<bool>() != nullptr && !*persistent->get<bool>())
    object.unsaved.push_back(*text);
  return {};
}

/// module.half(), module.to(torch.bfloat16) and the like: floating tensors that it holds get that type. False for other
/// methods; a device alone changes nothing.
Result<bool> PyInterpreter::convert_module(PyObject& object, const std::string& name, const PyArguments& arguments,
                                           const SourcePlace& where) {
  std::optional<ElementType> type;
  if (name == "to" || name == "type") {
    auto values = arguments.positional;
    for (const auto& [key, value] : arguments.keywords) values.push_back(value);
    for (const auto& value : values) {
      if (const auto asked = asked_type(value)) type = asked;
    }
    if (!type) return true;
  } else if (name == "float" || name == "half" || name == "bfloat16" || name == "double") {
    type = element_type_named(name);
  }
  if (!type) return false;
  std::vector<PyValue> modules;
  collect_modules(object, modules);
  for (const auto& module : modules) {
    for (const auto& [key, value] : module.object<PyObject>()->attributes) {
      auto* tensor = value.object<TensorBox>();
      if (tensor == nullptr || !is_floating(type_of(*tensor).dtype) || type_of(*tensor).dtype == *type) continue;
      if (in_forward_) {
        return fail_at(errc::program_unsupported, where, fmt::format("{}() of a module in forward()", name),
                       "call it at the end of __init__");
      }
      KW_TRY(const auto made, to_type(value, *type, name, where));
      KW_TRY_VOID(change(*tensor, made, where));
    }
  }
  return true;
}

Result<std::optional<PyValue>> PyInterpreter::call_module_method(PyObject& object, const std::string& name,
                                                                 const PyArguments& arguments,
                                                                 const SourcePlace& where) {
  const PyValue self{&object};
  if (name == "register_buffer" || name == "register_parameter" || name == "add_module" || name == "register_module") {
    KW_TRY_VOID(register_tensor(object, name, arguments, where));
    return PyValue{};
  }
  if (name == "cuda" || name == "cpu" || name == "requires_grad_") return self;
  if (name == "__getattr__" && arguments.positional.size() == 1 &&
      arguments.positional[0].get<std::string>() != nullptr) {
    const auto& attribute_name = *arguments.positional[0].get<std::string>();
    KW_TRY_VOID(check_name(attribute_name, where));
    KW_TRY(auto value, attribute(self, attribute_name, where));
    return std::optional<PyValue>(std::move(value));
  }
  if (name == "__setattr__" && arguments.positional.size() == 2 &&
      arguments.positional[0].get<std::string>() != nullptr) {
    const auto& attribute_name = *arguments.positional[0].get<std::string>();
    KW_TRY_VOID(check_name(attribute_name, where));
    KW_TRY_VOID(set_attribute(self, attribute_name, arguments.positional[1], where));
    return PyValue{};
  }
  KW_TRY(const bool converted, convert_module(object, name, arguments, where));
  if (converted) return self;
  std::vector<PyValue> items;
  if (name == "eval" || name == "train") {
    const auto* mode = arguments.positional.empty() ? arguments.keyword("mode") : arguments.positional.data();
    KW_TRY(const bool training, mode == nullptr ? Result<bool>(name == "train") : truth(*mode, where));
    KW_TRY_VOID(set_training(object, training, where));
    return self;
  }
  if (name == "children") {
    items = children_of(object);
    std::erase_if(items, [](const PyValue& child) { return !is_module(child); });
    return list(std::move(items));
  }
  if (name == "modules") collect_modules(object, items);
  if (name == "parameters") collect_parameters(object, items);
  if (name == "modules" || name == "parameters") {
    KW_TRY_VOID(charge(static_cast<std::int64_t>(items.size()), where));
    return list(std::move(items));
  }
  if (name == "apply" && arguments.positional.size() == 1) {
    collect_modules(object, items);
    // Children come before what holds them.
    std::reverse(items.begin(), items.end());
    for (const auto& one : items) KW_TRY_VOID(call(arguments.positional[0], {{one}, {}}, "apply", where));
    return self;
  }
  if (name == "named_children") return named_children(object);
  if (object.library == nullptr || object.library->kind == ModuleKind::plain) return std::optional<PyValue>();
  return call_container_method(object, name, arguments, where);
}

Result<void> PyInterpreter::call_train(const PyValue& module, bool training, const SourcePlace& where) {
  KW_TRY(const auto method, attribute(module, "train", where));
  KW_TRY_VOID(call(method, {{PyValue{training}}, {}}, "train", where));
  return {};
}

/// module.train(mode), as torch.nn.Module has it.
Result<void> PyInterpreter::set_training(PyObject& object, bool training, const SourcePlace& where) {
  KW_TRY_VOID(charge(1, where));
  if (depth_ >= k_most_depth) {
    return fail_at(errc::program_limit, where, fmt::format("more than {} modules in one another", k_most_depth),
                   "put fewer modules into one another");
  }
  object.evaluating = !training;
  ++depth_;
  Result<void> done;
  for (const auto& child : children_of(object)) {
    if (done && is_module(child)) done = call_train(child, training, where);
  }
  --depth_;
  return done;
}

PyValue PyInterpreter::named_children(const PyObject& object) {
  std::vector<PyValue> pairs;
  for (const auto& [key, value] : object.attributes) {
    if (is_module(value)) pairs.push_back(list({PyValue{key}, value}, true));
  }
  return list(std::move(pairs));
}

Result<std::optional<PyValue>> PyInterpreter::call_container_method(PyObject& object, const std::string& name,
                                                                    const PyArguments& arguments,
                                                                    const SourcePlace& where) {
  if (name == "items") return named_children(object);
  if (name == "values") return list(children_of(object));
  std::vector<PyValue> items;
  if (name == "keys") {
    for (const auto& [key, value] : object.attributes) items.push_back(PyValue{key});
    return list(std::move(items));
  }
  if ((name != "append" && name != "extend") || arguments.positional.size() != 1) return std::optional<PyValue>();
  items = arguments.positional;
  if (name == "extend") {
    KW_TRY(items, items_of(arguments.positional[0], where));
  }
  for (const auto& item : items) object.set(fmt::format("{}", object.attributes.size()), item);
  return PyValue{&object};
}

}  // namespace kw
