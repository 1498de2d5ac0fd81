#include "mod/frontend/file.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/closest_name.hpp"
#include "mod/frontend/file_text.hpp"
#include "mod/frontend/imported_modules.hpp"
#include "mod/frontend/module_names.hpp"
#include "mod/frontend/nested_names.hpp"
#include "mod/frontend/role.hpp"
#include "mod/frontend/tracer.hpp"
#include "python/parser.hpp"
#include "python/unclosed.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_wanted_bytes = 1024;
constexpr const char* k_wanted_place = "the mod's name";

/// The name that an expression begins with: "make" of "make(256).inner"; empty when it begins with none.
std::string_view first_name(const PyExpr& wanted) {
  const PyExpr* at = &wanted;
  while (at->kind == PyExprKind::call || at->kind == PyExprKind::attribute || at->kind == PyExprKind::subscript) {
    at = at->children[0].get();
  }
  return at->kind == PyExprKind::name ? std::string_view(at->text) : std::string_view();
}

Result<void> check_sizes(std::string_view text, std::string_view wanted) {
  if (text.size() > static_cast<std::size_t>(k_max_mod_file_bytes)) {
    return fail(Error{
        errc::mod_limit, fmt::format("a file with mods has at most {} bytes", k_max_mod_file_bytes), {}, {"", 1, 1}});
  }
  if (wanted.size() > k_max_wanted_bytes) {
    return fail(Error{errc::mod_limit,
                      fmt::format("the name of a mod has at most {} bytes", k_max_wanted_bytes),
                      {},
                      {k_wanted_place, 1, 1}});
  }
  return {};
}

/// The expression that `wanted` is.
Result<std::vector<PyStatement>> parse_wanted(std::string_view wanted) {
  KW_TRY(auto statements, parse_python(wanted, {k_wanted_place, 1, 1}));
  if (statements.size() == 1 && statements.front().kind == PyStatementKind::expression) return statements;
  return fail(Error{errc::mod_syntax,
                    "this is neither the name of a function nor an expression that makes one",
                    "write a name, or a call such as generate_sliding_window(256)",
                    {k_wanted_place, 1, 1}});
}

/// An error at the wanted expression, as somebody meets it who looks at the file: with the line that its first name
/// is made in. For a name that nobody defined it says why, as far as that can be seen.
Error explain(Error error, const PyExpr& wanted, std::string_view text, const ModuleNames& names) {
  if (error.where.file != k_wanted_place) return error;
  if (error.code != errc::mod_unknown_name || (wanted.kind == PyExprKind::name && names.binds(wanted.text))) {
    if (const auto line = names.place_of(first_name(wanted))) error.where = *line;
    return error;
  }
  if (auto unclosed = unclosed_python(text)) {
    unclosed->hint = "close it: nothing below it was read";
    return *std::move(unclosed);
  }
  if (wanted.kind != PyExprKind::name) {
    // Of "outer.inner" the function outer is in the file; what is wrong inside of an argument is not.
    const auto line = wanted.kind == PyExprKind::attribute ? names.place_of(first_name(wanted)) : std::nullopt;
    if (line) error.where = *line;
    return error;
  }
  error.where = {};
  error.message = fmt::format("the file defines no '{}'", wanted.text);
  const auto near = closest_name(wanted.text, names.names());
  error.hint = near ? fmt::format("'{}'?", *near)
                    : "name a function of the file, or one inside of another, as in outer(args).inner";
  return error;
}

/// The mod that `wanted` is, without its source.
Result<FileMod> trace_wanted(ModTracer& tracer, const PyExpr& wanted, ModFunction& traced) {
  const TraceScope module;
  tracer.set_declared_wins(true);
  auto function = tracer.evaluate(wanted, module);
  tracer.set_declared_wins(false);
  if (!function) return tl::unexpected(std::move(function).error());
  if (const auto* library = function->as<LibraryRef>()) {
    const auto advice = tracer.hint_for_import(library->path);
    if (!advice.empty()) {
      return fail_at(errc::mod_unsupported, wanted.where, fmt::format("'{}' is not read", library->path), advice);
    }
  }
  KW_TRY(const auto signature, signature_of(*function, wanted.where));
  KW_TRY(const auto role, role_of(signature));
  KW_TRY(traced.root, trace_mod(tracer, *function, signature, role));
  traced.name = signature.name;
  return FileMod{role, {}};
}

}  // namespace

Result<FileMod> parse_mod_file(std::string_view bytes, std::string_view wanted, const ModScope& scope,
                               ModuleFiles* beside) {
  KW_TRY_VOID(check_sizes(bytes, wanted));
  KW_TRY(const auto text, python_file_text(bytes));
  KW_TRY(const auto statements, parse_wanted(wanted));
  const auto& expression = *statements.front().value;
  ModFunction traced;
  ModTracer tracer(scope, traced);
  ModuleText file(text, first_name(expression), tracer);
  ModuleNames names(file);
  NestedNames nested(file, names);
  std::optional<ImportedModules> imported;
  if (beside != nullptr) {
    imported.emplace(*beside, tracer);
    tracer.set_imports(imported->source());
    file.star_binds = [&](std::string_view star, const std::string& name) { return imported->star_binds(star, name); };
  }
  tracer.set_names(names.source());
  tracer.set_members([&](const PyExpr& attribute) -> Result<std::optional<ModValue>> {
    if (attribute.where.file != k_wanted_place) return std::nullopt;
    return nested.find(attribute);
  });
  auto mod = trace_wanted(tracer, expression, traced);
  if (!mod) return tl::unexpected(explain(std::move(mod).error(), expression, text, names));
  KW_TRY_VOID(imported ? imported->check_changes(&file, &names) : file.check_changes());
  if (imported) traced.source = imported->reached();
  for (const auto& [line, statement] : file.reached) traced.source += statement;
  traced.source += std::string(wanted) + "\n";
  mod->function = in_normal_order(traced);
  return mod;
}

}  // namespace kw
