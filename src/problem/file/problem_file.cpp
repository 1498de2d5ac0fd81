// Problem files: everything but the operator's own table. The format is described in docs/formats.md.

#include <algorithm>
#include <utility>

#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "mod/frontend/module_files.hpp"
#include "problem/file/capture_reader.hpp"
#include "problem/file/config_tree.hpp"
#include "problem/file/problem_reader.hpp"
#include "problem/file/reserved_names.hpp"
#include "problem/mod_assertions.hpp"
#include "problem/problem.hpp"
#include "tensor/int_expr.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_problem_file_bytes = 256 * 1024;
constexpr std::size_t k_max_workloads = 64;
constexpr std::size_t k_max_name_length = 100;
const std::vector<std::string> k_workload_roles = {"edge", "held_out"};

bool is_name(std::string_view text, std::string_view also) {
  return !text.empty() && text.size() <= k_max_name_length && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           also.find(c) != std::string_view::npos;
  });
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Names become file names, so they may not climb out of a directory.
Result<void> check_problem_name(const std::string& name, const SourcePlace& where) {
  const bool safe = is_name(name, "-./") && name.front() != '/' && name.back() != '/' && name.front() != '.' &&
                    name.find("//") == std::string::npos && name.find("/.") == std::string::npos;
  if (safe) return {};
  return fail_at(errc::problem_value, where, fmt::format("'{}' is not a name for a problem", name),
                 "use letters, digits, '_', '-' and '/', as in \"attention/alibi\"");
}

Result<void> read_extent(const ConfigValue& table, std::size_t index, Axes& axes) {
  const auto& value = table.items[index];
  KW_TRY_VOID(check_kind(value, fmt::format("axis {}", table.keys[index]), ConfigKind::integer));
  if (auto checked = check_extent(table.keys[index], value.integer); !checked) {
    checked.error().where = value.where;
    return checked;
  }
  axes[table.keys[index]] = value.integer;
  return {};
}

/// Sets the derived axes, and checks all.
Result<void> checked_at(const OperatorFormat& format, const Problem& problem, Axes& axes, const SourcePlace& where,
                        const std::string& workload) {
  auto checked = derive_axes(problem, axes);
  if (checked) checked = check_axes(format, problem, axes);
  if (checked) return checked;
  auto problem_error = std::move(checked).error();
  problem_error.where = where;
  return with_context(std::move(problem_error), fmt::format("checking workload '{}'", workload));
}

/// A name in [axes] that the operator does not have: an axis of the user's own.
Result<void> read_own_axis(const ConfigValue& table, std::size_t index, const OperatorFormat& format, Axes& axes,
                           Problem& problem) {
  if (auto named = check_own_name(table.keys[index], NamedThing::axis, format); !named) {
    named.error().where = table.key_places[index];
    return named;
  }
  problem.own_axes.push_back(table.keys[index]);
  return read_extent(table, index, axes);
}

/// An axis of one's own whose name is nearly that of the axis `missing` is a slip.
tl::unexpected<Error> missing_axis(const ConfigValue& table, const OperatorFormat& format, const std::string& missing) {
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    if (contains(format.axes, table.keys[i]) || closest_name(table.keys[i], {missing}) != missing) continue;
    return fail_at(errc::problem_unknown_key, table.key_places[i], fmt::format("[axes] has no key '{}'", table.keys[i]),
                   fmt::format("'{}'?", missing));
  }
  return fail_at(errc::problem_missing_key, table.where, fmt::format("[axes] lacks {}", missing),
                 fmt::format("add a line such as: {} = 8", missing));
}

Result<Workload> read_primary(const ConfigValue& root, const OperatorFormat& format, Problem& problem) {
  const auto* table = root.find("axes");
  if (table == nullptr) {
    return fail_at(errc::problem_missing_key, root.where, "[axes] is missing",
                   fmt::format("add a table [axes] with the extents of the primary workload: {}", join(format.axes)));
  }
  KW_TRY_VOID(check_kind(*table, "'axes'", ConfigKind::table));
  Workload primary{"primary", WorkloadRole::primary, {}};
  for (std::size_t i = 0; i < table->items.size(); ++i) {
    if (contains(format.axes, table->keys[i])) {
      KW_TRY_VOID(read_extent(*table, i, primary.axes));
    } else {
      KW_TRY_VOID(read_own_axis(*table, i, format, primary.axes, problem));
    }
  }
  format.default_axes(primary.axes);
  for (const auto& name : format.axes) {
    if (primary.axes.count(name) == 0) return missing_axis(*table, format, name);
  }
  return primary;
}

Result<Workload> read_workload(const ConfigValue& table, const OperatorFormat& format, const Problem& problem) {
  KW_TRY_VOID(check_kind(table, "a workload", ConfigKind::table));
  auto known = all_axes(format, problem);
  known.insert(known.begin(), {"name", "role"});
  KW_TRY_VOID(check_keys(table, "[[workload]]", known));
  Workload workload{"", WorkloadRole::edge, problem.primary().axes};
  KW_TRY(workload.name, required_text(table, "name", "ragged"));
  if (!is_name(workload.name, "-")) {
    return fail_at(errc::problem_value, table.find("name")->where,
                   fmt::format("'{}' is not a name for a workload", workload.name), "use letters, digits, '_' and '-'");
  }
  const bool taken = std::any_of(problem.workloads.begin(), problem.workloads.end(),
                                 [&](const Workload& other) { return other.name == workload.name; });
  if (taken) {
    return fail_at(errc::problem_value, table.find("name")->where,
                   fmt::format("there are two workloads named '{}'", workload.name), "give each its own name");
  }
  KW_TRY(const auto role, required_text(table, "role", "edge"));
  if (!contains(k_workload_roles, role)) {
    return fail_at(errc::problem_value, table.find("role")->where,
                   fmt::format("'{}' is not a role of a workload", role),
                   "write \"edge\" (feedback may name its sizes) or \"held_out\" (only the verifier sees it)");
  }
  workload.role = role == "edge" ? WorkloadRole::edge : WorkloadRole::held_out;
  for (std::size_t i = 0; i < table.items.size(); ++i) {
    if (table.keys[i] != "name" && table.keys[i] != "role") KW_TRY_VOID(read_extent(table, i, workload.axes));
  }
  KW_TRY_VOID(checked_at(format, problem, workload.axes, table.where, workload.name));
  return workload;
}

Result<void> read_workloads(const ConfigValue& root, const OperatorFormat& format, Problem& problem) {
  const auto* list = root.find("workload");
  if (list == nullptr || (list->kind == ConfigKind::array && list->items.empty())) {
    return fail_at(errc::problem_missing_key, root.where, "there is no [[workload]]",
                   "add at least one, with awkward sizes: a kernel that is right for one shape alone proves little");
  }
  KW_TRY_VOID(check_kind(*list, "'workload'", ConfigKind::array));
  if (list->items.size() > k_max_workloads) {
    return fail_at(errc::problem_value, list->where,
                   fmt::format("{} workloads are more than the {} allowed", list->items.size(), k_max_workloads));
  }
  for (const auto& item : list->items) {
    KW_TRY(auto workload, read_workload(item, format, problem));
    problem.workloads.push_back(std::move(workload));
  }
  return {};
}

Result<void> read_constants(const ConfigValue& root, const OperatorFormat& format, Problem& problem) {
  const auto* table = root.find("constants");
  if (table == nullptr) return {};
  KW_TRY_VOID(check_kind(*table, "'constants'", ConfigKind::table));
  for (std::size_t i = 0; i < table->items.size(); ++i) {
    const auto& name = table->keys[i];
    const auto& value = table->items[i];
    const bool digit_first = !name.empty() && name.front() >= '0' && name.front() <= '9';
    if (!is_name(name, "") || digit_first) {
      return fail_at(errc::problem_value, table->key_places[i], fmt::format("'{}' cannot be a name in Python", name),
                     "use letters, digits and '_'");
    }
    if (contains(all_axes(format, problem), name)) {
      return fail_at(errc::problem_value, table->key_places[i], fmt::format("'{}' is an axis already", name),
                     "choose another name");
    }
    if (value.kind == ConfigKind::integer) {
      problem.constants[name] = value.integer;
    } else if (value.kind == ConfigKind::real) {
      problem.constants[name] = value.real;
    } else {
      return fail_at(errc::problem_type, value.where,
                     fmt::format("constant {} should be a number, but is of type {}", name, to_string(value.kind)));
    }
  }
  return {};
}

void add_axes(const ModFunction& function, std::vector<std::string>& used) {
  for (const auto& node : function.nodes) {
    if (node.op == ExprOp::axis) used.push_back(node.name);
  }
}

/// Names of the axes that tensors and functions mention.
std::vector<std::string> used_axes(const OperatorFormat& format, const Problem& problem) {
  std::vector<std::string> used;
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const auto& tensor : *tensors) used.insert(used.end(), tensor.axes.begin(), tensor.axes.end());
  }
  for (const auto& capture : problem.captures) {
    used.insert(used.end(), capture.declared.axes.begin(), capture.declared.axes.end());
    if (const auto* formula = std::get_if<FormulaValues>(&capture.source)) add_axes(formula->formula, used);
    if (const auto* generated = std::get_if<GeneratedValues>(&capture.source)) {
      for (const auto& [name, number] : generated->numbers) add_axes(number, used);
    }
  }
  for (const auto& given : format.functions(problem)) add_axes(*given.function, used);
  for (const auto& axis : problem.own_axes) {
    const auto follows = [&](const DerivedAxis& derived) { return mentions_name(derived.extent, axis); };
    if (std::any_of(problem.derived_axes.begin(), problem.derived_axes.end(), follows)) used.push_back(axis);
  }
  return used;
}

/// An axis that nothing mentions is a slip: 'skv' for 'Skv'.
Result<void> check_axes_are_used(const ConfigValue& root, const OperatorFormat& format, const Problem& problem) {
  const auto used = used_axes(format, problem);
  const auto& table = *root.find("axes");
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    const auto& axis = table.keys[i];
    if (contains(format.axes, axis) || contains(used, axis)) continue;
    const auto near = closest_name(axis, format.axes);
    return fail_at(
        errc::problem_unknown_key, table.key_places[i],
        fmt::format("[axes] has '{}', which neither {} nor a tensor nor a mod mentions", axis, format.op),
        near ? fmt::format("'{}'?", *near) : fmt::format("the axes of {} are {}", format.op, join(format.axes)));
  }
  return {};
}

/// An axis that follows from others is not written down.
Result<void> check_derived_axes(const ConfigValue& root, const Problem& problem) {
  for (const auto& derived : problem.derived_axes) {
    const auto& table = *root.find("axes");
    for (std::size_t i = 0; i < table.keys.size(); ++i) {
      if (table.keys[i] != derived.name) continue;
      return fail_at(errc::problem_value, table.key_places[i],
                     fmt::format("{} follows from other axes: {}", derived.name, derived.extent), "leave it out");
    }
    const bool taken = contains(problem.own_axes, derived.name) || problem.constants.count(derived.name) > 0;
    if (taken) {
      return fail_at(errc::problem_value, table.where,
                     fmt::format("'{}' names an axis that follows from others", derived.name), "choose another name");
    }
  }
  return {};
}

bool looks_like_a_path(const std::string& name) {
  return name.size() > 5 && name.substr(name.size() - 5) == ".toml";
}

std::vector<std::string> names_in(const std::vector<std::filesystem::path>& search) {
  std::vector<std::string> names;
  for (const auto& directory : search) {
    std::error_code ignored;
    for (auto it = std::filesystem::recursive_directory_iterator(directory, ignored);
         !ignored && it != std::filesystem::recursive_directory_iterator(); it.increment(ignored)) {
      if (it->path().extension() != ".toml") continue;
      names.push_back(it->path().lexically_relative(directory).replace_extension().generic_string());
    }
  }
  std::sort(names.begin(), names.end());
  // The folders of a checkout and of an installation may be the same one, by two paths.
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<Problem> load_file(const std::filesystem::path& path, const FileSystem& files) {
  KW_TRY(const auto text, files.read(path, k_max_problem_file_bytes));
  return parse_problem(text, path.string(), &files);
}

/// The operator's table, with the files that its mods import from.
Result<void> read_operator(const ConfigValue& root, const OperatorFormat& format, const ProblemFolder& folder,
                           Problem& problem) {
  if (folder.files == nullptr) return format.read(root, nullptr, problem);
  ModuleFiles beside(*folder.files, folder.path / "the problem");
  KW_TRY_VOID(format.read(root, &beside, problem));
  for (const auto& file : beside.kept()) problem.source->add_file(file.below, file.bytes);
  return {};
}

}  // namespace

Result<Problem> parse_problem(std::string_view toml_text, const std::string& file, const FileSystem* files) {
  KW_TRY(const auto root, parse_config(toml_text, file));
  KW_TRY(const auto op, required_text(root, "op", "attention"));
  const auto* found = find_operator(op);
  if (found == nullptr) {
    const auto near = closest_name(op, operator_names());
    return fail_at(errc::problem_unknown_op, root.find("op")->where, fmt::format("there is no operator '{}'", op),
                   near ? fmt::format("\"{}\"?", *near) : fmt::format("the operators are {}", join(operator_names())));
  }
  const auto* format = &found->format;
  KW_TRY_VOID(
      check_keys(root, "the file",
                 {"name", "op", "description", "axes", "constants", "tensors", "workload", std::string(format->op)}));
  Problem problem;
  problem.op = op;
  problem.source = ProblemSource{std::string(toml_text), {}, {}};
  KW_TRY(problem.name, required_text(root, "name", "attention/mine"));
  KW_TRY_VOID(check_problem_name(problem.name, root.find("name")->where));
  KW_TRY(const auto description, optional_text(root, "description"));
  problem.description = description.value_or("");
  KW_TRY(auto primary, read_primary(root, *format, problem));
  KW_TRY_VOID(read_constants(root, *format, problem));
  const ProblemFolder folder{files, std::filesystem::path(file).parent_path()};
  KW_TRY_VOID(read_captures(root, folder, primary.axes, problem));
  KW_TRY_VOID(read_operator(root, *format, folder, problem));
  for (const auto& capture : problem.captures) problem.inputs.push_back(capture.tensor());
  KW_TRY_VOID(check_derived_axes(root, problem));
  KW_TRY_VOID(check_axes_are_used(root, *format, problem));
  KW_TRY_VOID(checked_at(*format, problem, primary.axes, root.find("axes")->where, primary.name));
  problem.workloads.push_back(std::move(primary));
  KW_TRY_VOID(read_workloads(root, *format, problem));
  KW_TRY_VOID(check_draws(root, problem));
  KW_TRY_VOID(check_assertions(problem));
  return problem;
}

Result<Problem> load_problem(const std::string& path_or_name, const FileSystem& files,
                             const std::vector<std::filesystem::path>& search) {
  if (looks_like_a_path(path_or_name)) return load_file(path_or_name, files);
  if (!check_problem_name(path_or_name, {})) {
    return fail(Error{errc::not_found,
                      fmt::format("'{}' is neither a .toml file nor the name of a problem", path_or_name),
                      "give a path that ends in .toml, or a name such as attention/alibi"});
  }
  for (const auto& directory : search) {
    const auto path = directory / (path_or_name + ".toml");
    if (files.exists(path)) return load_file(path, files);
  }
  const auto known = names_in(search);
  const auto near = closest_name(path_or_name, known);
  const auto hint = near            ? fmt::format("{}?", *near)
                    : known.empty() ? std::string("give a path that ends in .toml")
                                    : fmt::format("the problems are {}", join(known));
  return fail(Error{errc::not_found, fmt::format("there is no problem named '{}'", path_or_name), hint});
}

}  // namespace kw
