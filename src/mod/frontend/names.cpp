// What names and attributes stand for.

#include <algorithm>
#include <memory>
#include <utility>

#include "base/closest_name.hpp"
#include "mod/frontend/calls.hpp"
#include "mod/frontend/library_values.hpp"
#include "mod/frontend/trace_depth.hpp"
#include "mod/frontend/traced_tensor.hpp"
#include "mod/frontend/tracer.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_path_length = 256;

LibraryRef dtype_of(ScalarType type) {
  switch (type) {
    case ScalarType::real:
      return {"torch.float32"};
    case ScalarType::integer:
      return {"torch.int32"};
    case ScalarType::boolean:
      return {"torch.bool"};
  }
  return {};
}

tl::unexpected<Error> without_assignment(Error error, const std::string& axis) {
  error.hint = fmt::format("leave the assignment of '{}' out, and the name means the problem's axis", axis);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

bool ModTracer::is_implied_axis(const std::string& wanted) const {
  const auto& implied = problem_.implied_axes;
  return std::find(implied.begin(), implied.end(), wanted) != implied.end();
}

Result<ModValue> ModTracer::name(const PyExpr& expr, const TraceScope& scope) {
  const auto& wanted = expr.text;
  for (const auto* level = &scope; level != nullptr; level = level->parent) {
    const auto found = level->names.find(wanted);
    if (found != level->names.end()) return followed(found->second, scope, expr.where);
  }
  const auto& root = root_of(scope);
  const NameSource& source = root.source == nullptr ? names_ : *root.source;
  if (source) {
    KW_TRY(auto found, source(wanted, true));
    if (found) return followed(*std::move(found), scope, expr.where);
  }
  const bool implied = is_implied_axis(wanted);
  if (!implied) {
    if (const auto found = problem_name(wanted, expr.where)) return *found;
  }
  if (source) {
    const auto found = source(wanted, false);
    if (!found && implied) return without_assignment(found.error(), wanted);
    if (!found) return tl::unexpected(found.error());
    if (*found) return followed(**found, scope, expr.where);
  }
  if (implied) return *problem_name(wanted, expr.where);
  if (is_builtin_name(wanted)) return ModValue{LibraryRef{wanted}};
  return unknown_name(expr, scope);
}

Result<ModValue> ModTracer::followed(ModValue value, const TraceScope& scope, const SourcePlace& where) {
  const auto* library = value.as<LibraryRef>();
  if (library == nullptr) return value;
  if (const auto constant = library_constant(library->path)) return ModValue{*constant};
  if (!imports_.find) return value;
  const TraceDepth level(depth_);
  KW_TRY_VOID(check_size(where));
  KW_TRY(auto found, imports_.find(library->path, root_of(scope).home, where));
  return found ? *std::move(found) : std::move(value);
}

std::string ModTracer::hint_for_import(std::string_view path) const {
  const auto files = imports_.looked_for ? imports_.looked_for(path) : std::string();
  if (files.empty()) return {};
  return fmt::format("there is no {}: put the file there, or paste what the mod needs of it above the mod", files);
}

/// A constant, a captured tensor or an axis of the problem.
std::optional<ModValue> ModTracer::problem_name(const std::string& wanted, const SourcePlace& where) {
  if (const auto found = problem_.constants.find(wanted); found != problem_.constants.end()) {
    return std::visit([](auto number) { return ModValue{number}; }, found->second);
  }
  builder_.set_place(where);
  for (const auto& capture : problem_.captures) {
    if (capture.name != wanted) continue;
    return tensor_value(builder_, {&capture, std::vector<std::optional<ExprId>>(capture.axes.size()), {}});
  }
  if (std::find(problem_.axes.begin(), problem_.axes.end(), wanted) != problem_.axes.end()) {
    return ModValue{NodeRef{builder_.axis(wanted)}};
  }
  return std::nullopt;
}

tl::unexpected<Error> ModTracer::unknown_name(const PyExpr& expr, const TraceScope& scope) const {
  std::vector<std::string> known;
  for (const auto* level = &scope; level != nullptr; level = level->parent) {
    for (const auto& [other, value] : level->names) known.push_back(other);
    const auto star = level->names.find("*");
    if (star == level->names.end()) continue;
    const auto& path = star->second.as<LibraryRef>()->path;
    if (is_library(path.substr(0, path.find('.')))) continue;
    return fail_at(errc::mod_unknown_name, expr.where,
                   fmt::format("'{}' is not defined; which names 'import *' binds is not read", expr.text),
                   fmt::format("write 'from {} import {}'", path.substr(0, path.size() - 2), expr.text));
  }
  for (const auto& [other, value] : problem_.constants) known.push_back(other);
  for (const auto& capture : problem_.captures) known.push_back(capture.name);
  known.insert(known.end(), problem_.axes.begin(), problem_.axes.end());
  const auto builtins = builtin_names();
  known.insert(known.end(), builtins.begin(), builtins.end());
  const auto refuse = [&](std::string hint) {
    return fail_at(errc::mod_unknown_name, expr.where, fmt::format("'{}' is not defined", expr.text), std::move(hint));
  };
  for (const std::string_view library : {"np", "numpy", "jnp", "scipy", "cmath"}) {
    if (expr.text == library) return refuse("write it with functions of torch and math");
  }
  if (const auto function = full_library_name(expr.text)) return refuse(fmt::format("'{}'?", *function));
  if (const auto near = closest_name(expr.text, known)) {
    return refuse(fmt::format("'{}'? If not, declare it under [tensors.{}] or [constants]", *near, expr.text));
  }
  return refuse(
      fmt::format("declare it under [tensors.{}] or [constants] in the problem file, or assign it above "
                  "the function",
                  expr.text));
}

Result<ModValue> ModTracer::attribute(const PyExpr& expr, const TraceScope& scope) {
  if (members_) {
    KW_TRY(const auto member, members_(expr));
    if (member) return *member;
  }
  KW_TRY(auto object, evaluate(*expr.children[0], scope));
  if (const auto* library = object.as<LibraryRef>()) {
    auto path = library->path + "." + expr.text;
    if (path.size() > k_max_path_length) return fail_at(errc::mod_limit, expr.where, "this dotted name is too long");
    return followed(ModValue{LibraryRef{std::move(path)}}, scope, expr.where);
  }
  if (const auto* node = object.as<NodeRef>()) {
    if (expr.text == "dtype") return ModValue{dtype_of(builder_.type(node->id))};
    if (expr.text == "device") return ModValue{LibraryRef{"torch.device"}};
  }
  const auto* autograd = object.as<AutogradRef>();
  if (autograd != nullptr && expr.text == "apply") return ModValue{*autograd->apply};
  if (const auto* tensor = object.as<TensorRef>()) return tensor_attribute(*tensor, expr);
  if (object.is_node() && expr.text == "shape") return make_tuple({}, false, expr.where);
  if (object.is_node() && expr.text == "ndim") return ModValue{std::int64_t{0}};
  if (object.is_node() || object.is_number()) {
    return ModValue{MethodRef{expr.text, std::make_shared<const ModValue>(std::move(object))}};
  }
  if (const auto* tuple = object.as<TupleRef>(); tuple != nullptr && tuple->list) {
    if (is_list_method(expr.text)) {
      return ModValue{MethodRef{expr.text, std::make_shared<const ModValue>(std::move(object))}};
    }
    return fail_at(errc::mod_unsupported, expr.where, fmt::format("'.{}' of a list is not supported", expr.text),
                   "append, extend, insert, pop and copy are");
  }
  return fail_at(errc::mod_unsupported, expr.where,
                 fmt::format("'.{}' of {} is not supported", expr.text, describe(object)),
                 "attributes are read from torch, math and the mod's values only");
}

Result<ModValue> ModTracer::tensor_attribute(const TensorRef& tensor, const PyExpr& expr) {
  builder_.set_place(expr.where);
  const auto type = tensor.casts.empty() ? scalar_type(tensor.capture->dtype) : tensor.casts.back();
  if (expr.text == "dtype") return ModValue{dtype_of(type)};
  if (expr.text == "device") return ModValue{LibraryRef{"torch.device"}};
  if (expr.text != "shape" && expr.text != "ndim") {
    return ModValue{MethodRef{expr.text, std::make_shared<const ModValue>(ModValue{tensor})}};
  }
  auto extents = open_extents(builder_, tensor);
  if (expr.text == "ndim") return ModValue{static_cast<std::int64_t>(extents.size())};
  return make_tuple(std::move(extents), false, expr.where);
}

}  // namespace kw
