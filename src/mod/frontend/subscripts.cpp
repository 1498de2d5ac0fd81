// Subscripts: elements of tuples and of captured tensors.

#include <algorithm>
#include <utility>

#include "mod/frontend/traced_tensor.hpp"
#include "mod/frontend/tracer.hpp"

namespace kw {
namespace {

bool is_full(const SliceRef& slice) {
  return std::all_of(slice.parts->begin(), slice.parts->end(), [](const ModValue& part) { return part.is_none(); });
}

/// Where a bound of a slice falls in a sequence of `length` items; nothing when it is not an integer.
std::optional<std::int64_t> slice_bound(const ModValue& bound, std::int64_t length, std::int64_t absent) {
  if (bound.is_none()) return absent;
  const auto* at = bound.as<std::int64_t>();
  if (at == nullptr) return std::nullopt;
  return std::clamp<std::int64_t>(*at < 0 ? std::max<std::int64_t>(*at, -length) + length : *at, 0, length);
}

}  // namespace

ModValue tensor_value(ExprBuilder& builder, TensorRef tensor) {
  std::vector<ExprId> indices;
  for (const auto& index : tensor.indices) {
    if (!index) return ModValue{std::move(tensor)};
    indices.push_back(*index);
  }
  auto element = builder.gather(*tensor.capture, std::move(indices));
  for (const auto cast : tensor.casts) element = builder.convert(element, cast);
  return ModValue{NodeRef{element}};
}

std::vector<ModValue> open_extents(ExprBuilder& builder, const TensorRef& tensor) {
  std::vector<ModValue> extents;
  for (std::size_t i = 0; i < tensor.indices.size(); ++i) {
    if (!tensor.indices[i]) extents.push_back({NodeRef{builder.axis(tensor.capture->axes[i])}});
  }
  return extents;
}

Result<ModValue> ModTracer::subscript(const PyExpr& expr, const TraceScope& scope) {
  auto object = evaluate(*expr.children[0], scope);
  if (!object) {
    // An unknown name under a subscript is a tensor the author's module would have captured.
    const bool unknown = object.error().code == errc::mod_unknown_name && expr.children[0]->kind == PyExprKind::name;
    if (unknown && object.error().where.line == expr.children[0]->where.line) {
      object.error().hint = fmt::format("declare it under [tensors.{}] in the problem file", expr.children[0]->text);
    }
    return object;
  }
  KW_TRY(const auto index, evaluate(*expr.children[1], scope));
  if (const auto* tuple = object->as<TupleRef>()) return element_of_tuple(*tuple, index, expr.where);
  if (const auto* tensor = object->as<TensorRef>()) return element_of_tensor(*tensor, index, expr.where);
  if (object->is_node()) {
    return fail_at(errc::mod_type, expr.where, "a single value has no elements to index",
                   "index a captured tensor, as in table[q_idx]");
  }
  return fail_at(errc::mod_type, expr.where, fmt::format("{} cannot be indexed", describe(*object)),
                 "index a tuple or a captured tensor");
}

Result<ModValue> ModTracer::element_of_tuple(const TupleRef& tuple, const ModValue& index, const SourcePlace& where) {
  const auto length = static_cast<std::int64_t>(tuple.items->size());
  if (const auto* part = index.as<SliceRef>()) {
    const auto first = slice_bound((*part->parts)[0], length, 0);
    const auto last = slice_bound((*part->parts)[1], length, length);
    if (!first || !last || !(*part->parts)[2].is_none()) {
      return fail_at(errc::mod_unsupported, where, "a slice of a tuple has constant bounds and no step",
                     "write items[first:last]");
    }
    const auto begin = tuple.items->begin();
    if (*first >= *last) return make_tuple({}, tuple.list, where);
    return make_tuple({begin + *first, begin + *last}, tuple.list, where);
  }
  if (const auto* at = index.as<std::int64_t>(); at != nullptr && *at >= -length && *at < length) {
    return (*tuple.items)[static_cast<std::size_t>(*at < 0 ? *at + length : *at)];
  }
  if (index.is_node()) {
    return fail_at(errc::mod_unsupported, where,
                   "a tuple cannot be indexed with a value that is only known in the kernel",
                   "put the values under [tensors] in the problem file and index that tensor");
  }
  return fail_at(errc::mod_type, where,
                 fmt::format("{} of {} item{} is indexed with a constant inside its length",
                             tuple.list ? "a list" : "a tuple", length, length == 1 ? "" : "s"));
}

/// Gives `tensor` the indices in `index` (one, or a tuple of them) for its first dimensions that have none.
Result<ModValue> ModTracer::element_of_tensor(TensorRef tensor, const ModValue& index, const SourcePlace& where) {
  const auto* several = index.as<TupleRef>();
  if (several != nullptr && several->list) {
    return fail_at(errc::mod_unsupported, where, "indexing with a list is not supported", "index one element");
  }
  const std::vector<ModValue> indices = several != nullptr ? *several->items : std::vector<ModValue>{index};
  std::size_t dimension = 0;
  for (const auto& next : indices) {
    while (dimension < tensor.indices.size() && tensor.indices[dimension]) ++dimension;
    if (dimension == tensor.indices.size()) {
      return fail_at(errc::mod_type, where,
                     fmt::format("'{}' has {} dimension{}, but gets more indices", tensor.capture->name,
                                 tensor.indices.size(), tensor.indices.size() == 1 ? "" : "s"));
    }
    KW_TRY(tensor.indices[dimension], tensor_index(tensor, next, where));
    ++dimension;
  }
  builder_.set_place(where);
  return tensor_value(builder_, std::move(tensor));
}

/// Nothing for ":", which leaves the dimension as it is.
Result<std::optional<ExprId>> ModTracer::tensor_index(const TensorRef& tensor, const ModValue& index,
                                                      const SourcePlace& where) {
  const auto refuse = [&](std::string what, std::string hint) {
    return fail_at(errc::mod_unsupported, where,
                   fmt::format("'{}' cannot be indexed with {}", tensor.capture->name, what), std::move(hint));
  };
  if (const auto* part = index.as<SliceRef>()) {
    if (is_full(*part)) return std::nullopt;
    return refuse("a part of a dimension", "only the full slice ':' is read; add the offset to the index instead");
  }
  if (index.is_none()) return refuse("None", "a mod reads single elements; new dimensions mean nothing");
  if (index.as<EllipsisRef>() != nullptr) return refuse("'...'", "write one ':' for each dimension that is left");
  if (!index.is_number() && !index.is_node()) return refuse(describe(index), "index it with integers");
  KW_TRY(const auto node, node_of(index, where));
  const auto type = builder_.type(node);
  if (type == ScalarType::boolean) return refuse("a boolean", "choose with torch.where, or convert it with .int()");
  if (type == ScalarType::real)
    return refuse("a float", "convert the index with .to(torch.int32), or divide with '//'");
  return node;
}

}  // namespace kw
