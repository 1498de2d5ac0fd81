#include "mod/frontend/parser.hpp"

#include <optional>
#include <utility>

#include "mod/expression/expr_builder.hpp"
#include "mod/frontend/imported_modules.hpp"
#include "mod/frontend/role.hpp"
#include "mod/frontend/tracer.hpp"
#include "python/parser.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_text_bytes = 64 * 1024;

Result<void> check_length(std::string_view text, std::string_view what) {
  if (text.size() <= k_max_text_bytes) return {};
  return fail(
      Error{errc::mod_limit, fmt::format("a {} has at most {} bytes of text", what, k_max_text_bytes), {}, {"", 1, 1}});
}

}  // namespace

Result<ModFunction> parse_formula(std::string_view text, std::size_t parameters, const ModScope& scope) {
  constexpr ExprOp k_indices[] = {ExprOp::batch, ExprOp::head, ExprOp::query, ExprOp::key};
  KW_TRY_VOID(check_length(text, "formula"));
  KW_TRY(const auto statements, parse_python(text));
  ModFunction traced;
  ModTracer tracer(scope, traced);
  KW_TRY(const auto found, tracer.run_module(statements));
  KW_TRY(const auto signature, signature_of(found.function, found.where));
  if (signature.required != parameters) {
    return fail(Error{errc::mod_signature,
                      fmt::format("this formula takes {} parameters, one per axis, but {} takes {}", parameters,
                                  signature.name, signature.required),
                      "write one parameter for each of the tensor's axes", signature.where});
  }
  CallArguments arguments;
  for (std::size_t i = 0; i < parameters; ++i) {
    arguments.positional.push_back({NodeRef{tracer.builder().leaf(k_indices[i])}});
  }
  KW_TRY(const auto result, tracer.call(found.function, std::move(arguments), signature.where));
  KW_TRY(traced.root, tracer.node_of(result, signature.where));
  KW_TRY_VOID(tracer.check_size(signature.where));
  traced.name = signature.name;
  traced.source = std::string(text);
  return in_normal_order(traced);
}

Result<ModFunction> parse_mod(std::string_view text, ModRole role, const ModScope& scope, ModuleFiles* beside) {
  KW_TRY_VOID(check_length(text, role_name(role)));
  KW_TRY(const auto statements, parse_python(text));
  ModFunction traced;
  ModTracer tracer(scope, traced);
  std::optional<ImportedModules> imported;
  if (beside != nullptr) tracer.set_imports(imported.emplace(*beside, tracer).source());
  KW_TRY(const auto found, tracer.run_module(statements));
  KW_TRY(const auto signature, signature_of(found.function, found.where));
  KW_TRY_VOID(check_role(signature, role));
  KW_TRY(traced.root, trace_mod(tracer, found.function, signature, role));
  if (imported) {
    KW_TRY_VOID(imported->check_changes(nullptr, nullptr));
    traced.source = imported->reached();
  }
  traced.name = signature.name;
  traced.source += text;
  return in_normal_order(traced);
}

}  // namespace kw
