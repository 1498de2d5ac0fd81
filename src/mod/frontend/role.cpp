#include "mod/frontend/role.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kw {
namespace {

constexpr ExprOp k_parameters[] = {ExprOp::score, ExprOp::batch, ExprOp::head, ExprOp::query, ExprOp::key};
constexpr std::size_t k_score_parameters = 5;
constexpr std::size_t k_mask_parameters = 4;

tl::unexpected<Error> signature_error(const ModSignature& signature, std::string message, std::string hint) {
  return fail(Error{errc::mod_signature, std::move(message), std::move(hint), signature.where});
}

ModSignature closure_signature(const PyFunction& function, const CallArguments* given) {
  ModSignature signature{function.name, 0, function.where};
  std::size_t bound = given == nullptr ? 0 : given->positional.size();
  for (const auto& parameter : function.parameters) {
    if (parameter.kind == PyParameterKind::variadic || parameter.kind == PyParameterKind::keywords) continue;
    if (parameter.kind == PyParameterKind::plain && bound > 0) {
      --bound;
      continue;
    }
    const bool named = given != nullptr && std::any_of(given->keywords.begin(), given->keywords.end(),
                                                       [&](const auto& k) { return k.first == parameter.name; });
    if (!named && !parameter.initial) ++signature.required;
  }
  return signature;
}

}  // namespace

std::string_view role_name(ModRole role) {
  return role == ModRole::score_mod ? "score_mod" : "mask_mod";
}

Result<ModSignature> signature_of(const ModValue& function, const SourcePlace& where) {
  if (const auto* closure = function.as<ClosureRef>()) return closure_signature(*closure->function, nullptr);
  if (const auto* joined = function.as<JoinedMasksRef>()) {
    return ModSignature{joined->all ? "and_masks" : "or_masks", k_mask_parameters, where};
  }
  const auto* library = function.as<LibraryRef>();
  if (library != nullptr && library->path.ends_with("noop_mask")) {
    return ModSignature{"noop_mask", k_mask_parameters, where};
  }
  auto found = describe(function);
  if (const auto* partial = function.as<PartialRef>()) {
    if (const auto* closure = partial->callee->as<ClosureRef>()) {
      return closure_signature(*closure->function, partial->given.get());
    }
    found = fmt::format("a partial application of {}", describe(*partial->callee));
  }
  return fail(Error{errc::mod_signature, fmt::format("a mod is a function of yours, but this is {}", found),
                    "name a def or a lambda, or call the function that makes the mod", where});
}

Result<ModRole> role_of(const ModSignature& signature) {
  if (signature.required == k_score_parameters) return ModRole::score_mod;
  if (signature.required == k_mask_parameters) return ModRole::mask_mod;
  return signature_error(signature,
                         fmt::format("a mask_mod takes 4 parameters and a score_mod 5, but {} takes {}", signature.name,
                                     signature.required),
                         fmt::format("if {0} makes the mod, call it, as in {0}(256)", signature.name));
}

Result<void> check_role(const ModSignature& signature, ModRole role) {
  const std::size_t wanted = role == ModRole::score_mod ? k_score_parameters : k_mask_parameters;
  const std::size_t found = signature.required;
  if (found == wanted) return {};
  const auto names = role == ModRole::score_mod ? "score, b, h, q_idx, kv_idx" : "b, h, q_idx, kv_idx";
  std::string hint = fmt::format("write the parameters ({}), under any names", names);
  if (role == ModRole::score_mod && found == 4) hint = "a function of 4 parameters is a mask: put it under mask_mod";
  if (role == ModRole::mask_mod && found == 5) hint = "a function of 5 parameters belongs under score_mod";
  return signature_error(
      signature,
      fmt::format("a {} takes {} parameters, but {} takes {}", role_name(role), wanted, signature.name, found),
      std::move(hint));
}

Result<ExprId> trace_mod(ModTracer& tracer, const ModValue& function, const ModSignature& signature, ModRole role) {
  auto& builder = tracer.builder();
  builder.set_place(signature.where);
  CallArguments arguments;
  for (const auto op : k_parameters) {
    if (op == ExprOp::score && role == ModRole::mask_mod) continue;
    arguments.positional.push_back({NodeRef{builder.leaf(op)}});
  }
  KW_TRY(const auto result, tracer.call(function, std::move(arguments), signature.where));
  const auto type_error = [&](std::string message, std::string hint) {
    return fail(Error{errc::mod_type, std::move(message), std::move(hint), signature.where});
  };
  if (result.is_none()) return type_error(fmt::format("{} returns nothing", signature.name), "end it with a 'return'");
  KW_TRY(const auto node, tracer.node_of(result, signature.where));
  KW_TRY_VOID(tracer.check_size(signature.where));
  const auto type = builder.type(node);
  if (role == ModRole::mask_mod) {
    if (type == ScalarType::boolean) return node;
    return type_error(fmt::format("a mask_mod returns a boolean, but {} returns a{}", signature.name,
                                  type == ScalarType::real ? " float" : "n integer"),
                      "return a comparison, such as q_idx >= kv_idx");
  }
  if (type != ScalarType::boolean) return builder.convert(node, ScalarType::real);
  return type_error(fmt::format("a score_mod returns a number, but {} returns a boolean", signature.name),
                    "put a mask under mask_mod, or write torch.where(mask, score, float(\"-inf\"))");
}

}  // namespace kw
