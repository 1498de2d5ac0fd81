#include "program/reader/program_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "program/reader/interpreter.hpp"
#include "python/errors.hpp"
#include "python/parser.hpp"

namespace kw {
namespace {

constexpr std::size_t k_longest_text = 1U << 20U;

/// The parser's codes are those of mods.
ErrorCode program_code(const ErrorCode& code) {
  if (code == errc::mod_syntax) return errc::program_syntax;
  if (code == errc::mod_unsupported) return errc::program_unsupported;
  if (code == errc::mod_limit) return errc::program_limit;
  return code;
}

class ProgramReader {
 public:
  ProgramReader(const std::vector<PyStatement>& statements, const ProgramOptions& options)
      : statements_(statements), options_(options), interpreter_(program_, options) {}

  Result<Program> run() {
    program_.name = options_.class_name;
    program_.mode = options_.mode;
    KW_TRY_VOID(interpreter_.run_file(statements_));
    KW_TRY_VOID(check_axes());
    KW_TRY(auto* type, find_class());
    KW_TRY(auto arguments, inputs_of("get_init_inputs"));
    const auto place = place_of(type->name);
    KW_TRY(auto module, interpreter_.call(PyValue{type}, std::move(arguments), type->name, place));
    if (options_.mode == ProgramMode::eval) KW_TRY_VOID(interpreter_.call_train(module, false, place));
    interpreter_.name_tensors(*module.object<PyObject>());
    if (interpreter_.global("get_inputs") == nullptr) {
      return fail(Error{errc::program_name, "the file has no function 'get_inputs'",
                        "write for example: def get_inputs(): return [torch.rand(batch_size, dim)]", place});
    }
    KW_TRY(auto inputs, inputs_of("get_inputs"));
    interpreter_.trace_forward();
    input_names_ = forward_names(*type);
    KW_TRY_VOID(add_inputs(inputs));
    KW_TRY(const auto result, interpreter_.call(module, std::move(inputs), "forward", place));
    KW_TRY_VOID(add_outputs(result, place));
    if (program_.outputs.empty())
      return fail_at(errc::program_value, place, "forward() returns no tensor",
                     "return the result of its last operation");
    return std::move(program_);
  }

 private:
  [[nodiscard]] SourcePlace place_of(std::string_view name) const {
    for (const auto& statement : statements_) {
      if (statement.kind == PyStatementKind::define_class && statement.names.front() == name) return statement.where;
      if (statement.kind == PyStatementKind::define && statement.function->name == name)
        return statement.function->where;
    }
    return {"", 1, 1};
  }

  [[nodiscard]] Result<void> check_axes() const {
    std::vector<std::string> known;
    for (const auto& axis : program_.axes) known.push_back(axis.name);
    for (const auto& [name, extent] : options_.set) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const auto near = closest_name(name, known);
      return fail(Error{errc::program_axis,
                        fmt::format("'{}' is no axis of this file", name),
                        near            ? fmt::format("did you mean '{}'?", *near)
                        : known.empty() ? "assign an integer to a name at the top level of the file"
                                        : "its axes are " + join(known),
                        {"", 1, 1}});
    }
    return {};
  }

  Result<PyClass*> find_class() {
    std::vector<std::string> classes;
    for (const auto& statement : statements_) {
      if (statement.kind == PyStatementKind::define_class) classes.push_back(statement.names.front());
    }
    const auto* value = interpreter_.global(options_.class_name);
    auto* type = value == nullptr ? nullptr : value->object<PyClass>();
    if (type == nullptr) {
      return fail(Error{errc::program_name,
                        fmt::format("the file has no class '{}'", options_.class_name),
                        classes.empty() ? "write class Model(nn.Module)"
                                        : fmt::format("name one of its classes, as in FILE.py:{}", classes.back()),
                        {"", 1, 1}});
    }
    if (!type->is_module)
      return fail_at(errc::program_type, place_of(type->name), fmt::format("class {} is no nn.Module", type->name),
                     fmt::format("write class {}(nn.Module)", type->name));
    return type;
  }

  /// What a function of the file returns, as arguments: a list or a dictionary.
  Result<PyArguments> inputs_of(const char* name) {
    PyArguments arguments;
    const auto* function = interpreter_.global(name);
    if (function == nullptr) return arguments;
    KW_TRY(const auto result, interpreter_.call(*function, {}, name, place_of(name)));
    const auto keywords = [&](const PyDictionary& dictionary) {
      for (const auto& [key, value] : dictionary.items) {
        if (const auto* text = key.get<std::string>()) arguments.keywords.emplace_back(*text, value);
      }
    };
    if (const auto* dictionary = result.object<PyDictionary>()) {
      keywords(*dictionary);
    } else if (const auto* items = result.object<PySequence>()) {
      arguments.positional = items->items;
      // [[args], {kwargs}] is KernelBench's other form.
      if (items->items.size() == 2 && items->items[0].object<PySequence>() != nullptr &&
          items->items[1].object<PyDictionary>() != nullptr) {
        arguments.positional = items->items[0].object<PySequence>()->items;
        keywords(*items->items[1].object<PyDictionary>());
      }
    } else if (result.object<TensorBox>() != nullptr) {
      arguments.positional = {result};
    } else if (!result.is_none()) {
      return fail_at(errc::program_type, place_of(name), fmt::format("{}() returns {}", name, kind_text(result)),
                     "return a list");
    }
    return arguments;
  }

  static std::vector<std::string> forward_names(const PyClass& type) {
    std::vector<std::string> names;
    for (const auto& [name, value] : type.names) {
      const auto* method = name == "forward" ? value.object<PyClosure>() : nullptr;
      if (method == nullptr) continue;
      for (const auto& parameter : method->function->parameters) {
        if (parameter.kind == PyParameterKind::plain) names.push_back(parameter.name);
      }
    }
    if (!names.empty()) names.erase(names.begin());  // self
    return names;
  }

  Result<void> add_inputs(PyArguments& arguments) {
    for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
      const auto name = i < input_names_.size() ? input_names_[i] : fmt::format("input_{}", i);
      KW_TRY_VOID(add_input(name, arguments.positional[i], 0));
    }
    for (auto& [name, value] : arguments.keywords) KW_TRY_VOID(add_input(name, value, 0));
    return {};
  }

  /// The tensors of `value` become leaves of the graph.
  Result<void> add_input(const std::string& name, PyValue& value, int depth) {
    constexpr int k_deepest = 4;
    ProgramInput input;
    input.name = name;
    if (const auto* tensor = value.object<TensorBox>()) {
      input.source = tensor->value;
      input.type = program_.sources.values[tensor->value].type;
      input.distribution = distribution_of(program_.sources, tensor->value);
      value = interpreter_.add_leaf(name, *input.type);
      input.value = value.object<TensorBox>()->value;
    } else if (const auto number = number_of(value)) {
      input.number = *number;
    } else if (auto* items = value.object<PySequence>(); items != nullptr && depth < k_deepest) {
      for (std::size_t i = 0; i < items->items.size(); ++i)
        KW_TRY_VOID(add_input(fmt::format("{}.{}", name, i), items->items[i], depth + 1));
      return {};
    } else {
      return {};  // None, a text: forward() is read with it
    }
    program_.inputs.push_back(std::move(input));
    return {};
  }

  Result<void> add_outputs(const PyValue& value, const SourcePlace& where, int depth = 0) {
    constexpr int k_deepest = 4;
    if (auto* tensor = value.object<TensorBox>()) {
      KW_TRY(const auto output, interpreter_.forward_value(*tensor, where));
      program_.outputs.push_back(output);
    } else if (const auto* items = value.object<PySequence>(); items != nullptr && depth < k_deepest) {
      for (const auto& item : items->items) KW_TRY_VOID(add_outputs(item, where, depth + 1));
    } else if (const auto* dictionary = value.object<PyDictionary>(); dictionary != nullptr && depth < k_deepest) {
      for (const auto& [key, item] : dictionary->items) KW_TRY_VOID(add_outputs(item, where, depth + 1));
    }
    return {};
  }

  const std::vector<PyStatement>& statements_;
  const ProgramOptions& options_;
  Program program_;
  PyInterpreter interpreter_;
  std::vector<std::string> input_names_;
};

Result<Program> read_text(std::string_view text, const ProgramOptions& options) {
  if (text.size() > k_longest_text)
    return fail(
        Error{errc::program_limit, "the file is larger than 1 MiB", "give the file of the module alone", {"", 1, 1}});
  KW_TRY(const auto statements, parse_python(text, {"", 1, 1}, PyDialect::module));
  return ProgramReader(statements, options).run();
}

}  // namespace

const PyValue* PyInterpreter::global(std::string_view name) const {
  const auto found = globals_.names.find(name);
  return found == globals_.names.end() ? nullptr : &found->second;
}

Result<Program> read_program(std::string_view text, const std::string& file, const ProgramOptions& options) {
  auto program = read_text(text, options);
  if (program) return program;
  auto error = std::move(program).error();
  error.code = program_code(error.code);
  error.where.file = file;
  if (error.where.line == 0) error.where.line = error.where.column = 1;
  return tl::unexpected(std::move(error));
}

}  // namespace kw
