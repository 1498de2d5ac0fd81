// What names and attributes stand for.

#include <algorithm>
#include <memory>
#include <utility>

#include "spec/closest_name.hpp"
#include "spec/mod_calls.hpp"
#include "spec/mod_tracer.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_path_length = 256;

tl::unexpected<Error> error(ErrorCode code, const SourcePlace& where, std::string message, std::string hint = {}) {
  return fail(Error{code, std::move(message), std::move(hint), where});
}

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

}  // namespace

Result<ModValue> ModTracer::name(const PyExpr& expr, const TraceScope& scope) {
  const auto& wanted = expr.text;
  for (const auto* level = &scope; level != nullptr; level = level->parent) {
    if (const auto found = level->names.find(wanted); found != level->names.end()) return found->second;
  }
  if (names_) {
    KW_TRY(const auto found, names_(wanted, true));
    if (found) return *found;
  }
  if (const auto found = problem_name(wanted, expr.where)) return *found;
  if (names_) {
    KW_TRY(const auto found, names_(wanted, false));
    if (found) return *found;
  }
  if (is_builtin_name(wanted)) return ModValue{LibraryRef{wanted}};
  return unknown_name(expr, scope);
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
  }
  for (const auto& [other, value] : problem_.constants) known.push_back(other);
  for (const auto& capture : problem_.captures) known.push_back(capture.name);
  known.insert(known.end(), problem_.axes.begin(), problem_.axes.end());
  const auto builtins = builtin_names();
  known.insert(known.end(), builtins.begin(), builtins.end());
  auto near = full_library_name(expr.text);
  if (!near) near = closest_name(expr.text, known);
  return error(
      errc::mod_unknown_name, expr.where, fmt::format("nobody defined '{}'", expr.text),
      near ? fmt::format("'{}'?", *near) : "give it a value under [constants], or assign it above the function");
}

Result<ModValue> ModTracer::attribute(const PyExpr& expr, const TraceScope& scope) {
  KW_TRY(auto object, evaluate(*expr.children[0], scope));
  if (const auto* library = object.as<LibraryRef>()) {
    auto path = library->path + "." + expr.text;
    if (path.size() > k_max_path_length) return error(errc::mod_limit, expr.where, "this dotted name is too long");
    if (const auto constant = library_constant(path)) return ModValue{*constant};
    return ModValue{LibraryRef{std::move(path)}};
  }
  if (const auto* node = object.as<NodeRef>()) {
    if (expr.text == "dtype") return ModValue{dtype_of(builder_.type(node->id))};
    if (expr.text == "device") return ModValue{LibraryRef{"torch.device"}};
  }
  if (const auto* tensor = object.as<TensorRef>()) return tensor_attribute(*tensor, expr);
  if (object.is_node() || object.is_number()) {
    return ModValue{MethodRef{expr.text, std::make_shared<const ModValue>(std::move(object))}};
  }
  if (const auto* tuple = object.as<TupleRef>(); tuple != nullptr && tuple->list) {
    return error(errc::mod_unsupported, expr.where, fmt::format("'.{}' of a list is not supported", expr.text),
                 "build the list at once, as in [x for x in items] or a + b");
  }
  return error(errc::mod_unsupported, expr.where,
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
