#include "problem/file/problem_mod.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "problem/file/problem_reader.hpp"
#include "problem/mod_assertions.hpp"

namespace kw {
namespace {

/// What a problem's name may hold of a function's: "<lambda>" becomes "lambda".
std::string as_name(const std::string& function) {
  std::string name;
  std::copy_if(function.begin(), function.end(), std::back_inserter(name), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return name;
}

}  // namespace

Result<Problem> with_mod(Problem problem, std::string_view module_text, const std::string& file,
                         std::string_view wanted, const FileSystem* files) {
  const OperatorFormat& format = operator_of(problem).format;
  std::optional<ModuleFiles> beside;
  if (files != nullptr) beside.emplace(*files, file);
  const ModText text{module_text, file, wanted, beside ? &*beside : nullptr};
  KW_TRY(Problem changed, format.with_mod(std::move(problem), text));
  KW_TRY_VOID(check_assertions(changed, file));
  if (changed.source) {
    SourceModule module{file, std::string(module_text), std::string(wanted), {}};
    if (beside) {
      for (const auto& kept : beside->kept()) module.beside.push_back(whole_file(kept.path, kept.bytes));
    }
    changed.source->changes.push_back({{}, std::move(module)});
  }
  return changed;
}

Result<Problem> refuse_mod(Problem problem, const ModText& mod) {
  return fail(Error{errc::problem_unknown_op,
                    fmt::format("operator {} takes no mods, and {} is one", problem.op, mod.wanted), "leave it out"});
}

Result<std::string> refuse_module(const PyTorchModule& module) {
  return fail(Error{errc::problem_unknown_op,
                    fmt::format("{} holds a module, and this operator computes none", module.file),
                    "give a problem file"});
}

Result<NamedMod> read_mod_file(const Problem& problem, const ModText& mod) {
  auto found = parse_mod_file(mod.module_text, mod.wanted, mod_scope(problem), mod.beside);
  if (!found) {
    auto error = std::move(found).error();
    if (error.where.file.empty()) error.where.file = mod.file;
    return with_context(std::move(error), fmt::format("reading {} from {}", mod.wanted, mod.file));
  }
  std::string name = problem.name + "." + as_name(found->function.name);
  return NamedMod{*std::move(found), std::move(name)};
}

}  // namespace kw
