// Shapes: every value of a mod is a tensor without dimensions, and a captured tensor has those that got no index yet.

#include <utility>

#include "mod/frontend/call_table.hpp"
#include "mod/frontend/traced_tensor.hpp"

namespace kw {
namespace {

using Site = CallSite;
using Value = Result<ModValue>;

/// A dimension of length 1, put in or taken away, changes no single value.
Value same_value(Site& site) {
  const auto& value = site.arguments[0];
  if (value.is_node() || value.is_number()) return value;
  KW_TRY(const auto node, site.node(0));  // says why there is none
  return node_value(node);
}

Value extent(Site& site) {
  const auto& value = site.arguments[0];
  const auto* tensor = value.as<TensorRef>();
  if (tensor == nullptr && !value.is_node()) {
    return site.error(errc::mod_type, "only a tensor has a size", "use an axis, such as Skv, by its name");
  }
  site.tracer.builder().set_place(site.where);
  auto extents = tensor == nullptr ? std::vector<ModValue>() : open_extents(site.tracer.builder(), *tensor);
  const auto length = static_cast<std::int64_t>(extents.size());
  if (site.row.symbol == "dim") return ModValue{length};
  if (site.arguments[1].is_none()) return site.tracer.make_tuple(std::move(extents), false, site.where);
  const auto* at = site.arguments[1].as<std::int64_t>();
  if (at != nullptr && *at >= -length && *at < length) {
    return extents[static_cast<std::size_t>(*at < 0 ? *at + length : *at)];
  }
  return site.error(errc::mod_type, tensor == nullptr
                                        ? std::string("a single value has no dimensions")
                                        : fmt::format("'{}' has no such dimension", tensor->capture->name));
}

Value element_count(Site& site) {
  const auto& value = site.arguments[0];
  ModValue count{std::int64_t{1}};
  if (value.is_node()) return count;
  const auto* tensor = value.as<TensorRef>();
  if (tensor == nullptr) return site.error(errc::mod_type, fmt::format("{} has no elements", describe(value)));
  site.tracer.builder().set_place(site.where);
  for (const auto& axis : open_extents(site.tracer.builder(), *tensor)) {
    KW_TRY(count, site.tracer.binary("*", count, axis, site.where));
  }
  return count;
}

constexpr CallRow k_shape_rows[] = {
    {"torch.unsqueeze", "input dim", same_value},
    {"torch.squeeze", "input dim?", same_value},
    {"torch.size", "input dim?", extent},
    {"torch.dim", "input", extent, ExprOp::constant, "dim"},
    {"torch.ndimension", "input", extent, ExprOp::constant, "dim"},
    {"torch.numel", "input", element_count},
    {"torch.nelement", "input", element_count},
};

}  // namespace

std::span<const CallRow> shape_rows() {
  return k_shape_rows;
}

}  // namespace kw
