#include "spec/mod_parser.hpp"

#include <utility>

#include "spec/expr_builder.hpp"
#include "spec/mod_tracer.hpp"
#include "spec/py_parser.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_text_bytes = 64 * 1024;
constexpr ExprOp k_parameters[] = {ExprOp::score, ExprOp::batch, ExprOp::head, ExprOp::query, ExprOp::key};

std::string_view role_name(ModRole role) {
  return role == ModRole::score_mod ? "score_mod" : "mask_mod";
}

Result<void> check_length(std::string_view text, std::string_view what) {
  if (text.size() <= k_max_text_bytes) return {};
  return fail(
      Error{errc::mod_limit, fmt::format("a {} has at most {} bytes of text", what, k_max_text_bytes), {}, {"", 1, 1}});
}

Result<void> check_signature(const PyFunction& function, ModRole role) {
  const std::size_t wanted = role == ModRole::score_mod ? 5 : 4;
  const std::size_t found = function.parameters.size();
  if (found == wanted) return {};
  const auto names = role == ModRole::score_mod ? "score, b, h, q_idx, kv_idx" : "b, h, q_idx, kv_idx";
  std::string hint = fmt::format("write the parameters ({}), under any names", names);
  if (role == ModRole::score_mod && found == 4) hint = "a function of 4 parameters is a mask: put it under mask_mod";
  if (role == ModRole::mask_mod && found == 5) hint = "a function of 5 parameters belongs under score_mod";
  return fail(
      Error{errc::mod_signature,
            fmt::format("a {} takes {} parameters, but {} takes {}", role_name(role), wanted, function.name, found),
            std::move(hint), function.where});
}

/// The node of the result, of the type the role asks for.
Result<ExprId> check_result(ModTracer& tracer, const ModValue& result, const PyFunction& function, ModRole role) {
  if (result.is_none()) {
    return fail(Error{errc::mod_type, fmt::format("{} returns nothing", function.name), "end it with a 'return'",
                      function.where});
  }
  auto& builder = tracer.builder();
  KW_TRY(const auto node, tracer.node_of(result, function.where));
  const auto type = builder.type(node);
  if (role == ModRole::mask_mod) {
    if (type == ScalarType::boolean) return node;
    return fail(Error{errc::mod_type,
                      fmt::format("a mask_mod returns a boolean, but {} returns a{}", function.name,
                                  type == ScalarType::real ? " float" : "n integer"),
                      "return a comparison, such as q_idx >= kv_idx", function.where});
  }
  if (type != ScalarType::boolean) return builder.convert(node, ScalarType::real);
  return fail(Error{errc::mod_type,
                    fmt::format("a score_mod returns a number, but {} returns a boolean", function.name),
                    "put a mask under mask_mod, or write torch.where(mask, score, float(\"-inf\"))", function.where});
}

}  // namespace

Result<ModFunction> parse_formula(std::string_view text, std::size_t parameters, const ModScope& scope) {
  KW_TRY_VOID(check_length(text, "formula"));
  KW_TRY(const auto statements, parse_python(text));
  ModFunction traced;
  ModTracer tracer(scope, traced);
  KW_TRY(const auto formula, tracer.run_module(statements));
  const auto& function = *formula.function;
  if (function.parameters.size() != parameters) {
    return fail(Error{errc::mod_signature,
                      fmt::format("this formula takes {} parameters, one per axis, but {} takes {}", parameters,
                                  function.name, function.parameters.size()),
                      "write one parameter for each of the tensor's axes", function.where});
  }
  std::vector<ModValue> arguments;
  for (std::size_t i = 0; i < parameters; ++i) {
    arguments.push_back({NodeRef{tracer.builder().leaf(k_parameters[i + 1])}});
  }
  KW_TRY(const auto result, tracer.call(formula, std::move(arguments), function.where));
  KW_TRY(traced.root, tracer.node_of(result, function.where));
  KW_TRY_VOID(tracer.check_size(function.where));
  traced.name = function.name;
  traced.source = std::string(text);
  return in_normal_order(traced);
}

Result<ModFunction> parse_mod(std::string_view text, ModRole role, const ModScope& scope) {
  KW_TRY_VOID(check_length(text, role_name(role)));
  KW_TRY(const auto statements, parse_python(text));
  ModFunction traced;
  ModTracer tracer(scope, traced);
  KW_TRY(const auto mod, tracer.run_module(statements));
  const auto& function = *mod.function;
  KW_TRY_VOID(check_signature(function, role));
  std::vector<ModValue> arguments;
  for (const auto op : k_parameters) {
    if (op == ExprOp::score && role == ModRole::mask_mod) continue;
    tracer.builder().set_place(function.where);
    arguments.push_back({NodeRef{tracer.builder().leaf(op)}});
  }
  KW_TRY(const auto result, tracer.call(mod, std::move(arguments), function.where));
  KW_TRY(traced.root, check_result(tracer, result, function, role));
  KW_TRY_VOID(tracer.check_size(function.where));
  traced.name = function.name;
  traced.source = std::string(text);
  return in_normal_order(traced);
}

}  // namespace kw
