// Functions with a gradient of their own, "class X(torch.autograd.Function)", which PyTorch calls as X.apply. A mod's
// value is what its forward gives; what forward keeps for the backward pass goes nowhere.

#include <algorithm>
#include <memory>
#include <utility>

#include "mod/frontend/call_table.hpp"
#include "mod/frontend/calls.hpp"
#include "mod/frontend/tracer.hpp"

namespace kw {
namespace {

constexpr const char* k_context = "torch.autograd.context";

Result<ModValue> keep(CallSite& site) {
  (void)site;
  return ModValue{};
}

constexpr CallRow k_autograd_rows[] = {
    {"torch.autograd.context.save_for_backward", "", keep, ExprOp::constant, {}, nullptr, true},
    {"torch.autograd.context.save_for_forward", "", keep, ExprOp::constant, {}, nullptr, true},
    {"torch.autograd.context.mark_non_differentiable", "", keep, ExprOp::constant, {}, nullptr, true},
    {"torch.autograd.context.set_materialize_grads", "", keep, ExprOp::constant, {}, nullptr, true},
};

}  // namespace

Result<ModValue> ModTracer::autograd_function(const PyStatement& statement, const TraceScope& scope) {
  const auto refuse = [&](std::string message, std::string hint) {
    return fail_at(errc::mod_unsupported, statement.where, std::move(message), std::move(hint));
  };
  ModValue base;
  if (statement.value) {
    KW_TRY(base, evaluate(*statement.value, scope));
  }
  const auto* library = base.as<LibraryRef>();
  if (library == nullptr || library->path != "torch.autograd.Function") {
    return refuse("classes are not supported", "write a function");
  }
  if (statement.body.empty()) {
    return refuse(fmt::format("{} has no method 'forward'", statement.names.front()), "define it with @staticmethod");
  }
  KW_TRY(auto forward, closure(*statement.body.back().function, scope));
  // With a method setup_context, forward takes no context.
  const bool apart =
      std::find(statement.names.begin() + 1, statement.names.end(), "setup_context") != statement.names.end();
  const int height = height_of(forward) + 1;
  KW_TRY_VOID(check_height(height + 1, statement.where));
  if (!apart) {
    CallArguments context;
    context.positional.push_back(ModValue{LibraryRef{k_context}});
    forward = ModValue{PartialRef{std::make_shared<const ModValue>(std::move(forward)),
                                  std::make_shared<const CallArguments>(std::move(context)), height}};
  }
  return ModValue{AutogradRef{std::make_shared<const ModValue>(std::move(forward)), height + 1}};
}

bool is_autograd_context(const ModValue& value) {
  const auto* library = value.as<LibraryRef>();
  return library != nullptr && library->path == k_context;
}

std::span<const CallRow> autograd_rows() {
  return k_autograd_rows;
}

}  // namespace kw
