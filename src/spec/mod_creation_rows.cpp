// Conversions of values, and the ways torch makes a tensor of a single value.

#include <utility>

#include "spec/mod_call_table.hpp"

namespace kw {
namespace {

using Site = CallSite;
using Value = Result<ModValue>;

Value cast_real(Site& site) {
  return cast_value(site, site.arguments[0], ScalarType::real);
}
Value cast_integer(Site& site) {
  return cast_value(site, site.arguments[0], ScalarType::integer);
}
Value cast_boolean(Site& site) {
  return cast_value(site, site.arguments[0], ScalarType::boolean);
}
Value unchanged(Site& site) {
  return site.arguments[0];
}

tl::unexpected<Error> refuse_dtype(const Site& site, const ModValue& dtype) {
  const auto* name = dtype.as<LibraryRef>();
  return site.error(errc::mod_unsupported,
                    fmt::format("conversion to {} is not supported", name != nullptr ? name->path : describe(dtype)),
                    "torch.float32, torch.int32 and torch.bool are");
}

bool is_device(const ModValue& value) {
  const auto* name = value.as<LibraryRef>();
  return value.as<std::string>() != nullptr || value.is_none() || (name != nullptr && name->path == "torch.device");
}

/// `.to(dtype)`, `.to(device)`, `.to(device, dtype)`.
Value to(Site& site) {
  auto wanted = site.arguments[1];
  if (is_device(wanted) && !site.arguments[2].is_none()) wanted = site.arguments[2];
  if (is_device(wanted)) return site.arguments[0];
  const auto* name = wanted.as<LibraryRef>();
  const auto type = name == nullptr ? std::nullopt : scalar_type_named(name->path);
  if (!type) return refuse_dtype(site, wanted);
  return cast_value(site, site.arguments[0], *type);
}

Value type_as(Site& site) {
  KW_TRY(const auto other, site.node(1));
  return cast_value(site, site.arguments[0], site.tracer.builder().type(other));
}

Value refuse_narrow(Site& site) {
  return site.error(errc::mod_unsupported,
                    fmt::format("{} is not supported: scores are computed in float32", site.shown), "write .float()");
}

/// `value` in the type that argument `index` names.
Value with_dtype(Site& site, const ModValue& value, std::size_t index) {
  const auto& dtype = site.arguments[index];
  if (dtype.is_none()) return value;
  const auto* name = dtype.as<LibraryRef>();
  const auto type = name == nullptr ? std::nullopt : scalar_type_named(name->path);
  if (!type) return refuse_dtype(site, dtype);
  return cast_value(site, value, *type);
}

/// A shape of () makes a single value, which is all a mod can hold.
Result<void> check_shape(const Site& site, const ModValue& shape) {
  const auto* sizes = shape.as<TupleRef>();
  if (sizes != nullptr && sizes->items->empty()) return {};
  return site.error(errc::mod_unsupported,
                    fmt::format("{} of this shape is not supported: tensors cannot be made in a mod", site.shown),
                    "write the shape (), or declare the tensor under [tensors] in the problem file");
}

/// new_ones and new_zeros, by the row's symbol: in the type of the value they are a method of.
Value new_constant(Site& site) {
  KW_TRY_VOID(check_shape(site, site.arguments[1]));
  KW_TRY(const auto self, site.node(0));
  const ModValue value{std::int64_t{site.row.symbol == "1" ? 1 : 0}};
  if (!site.arguments[2].is_none()) return with_dtype(site, value, 2);
  return cast_value(site, value, site.tracer.builder().type(self));
}

Value new_full(Site& site) {
  KW_TRY_VOID(check_shape(site, site.arguments[1]));
  KW_TRY(const auto self, site.node(0));
  if (!site.arguments[3].is_none()) return with_dtype(site, site.arguments[2], 3);
  return cast_value(site, site.arguments[2], site.tracer.builder().type(self));
}

/// ones_like and zeros_like.
Value constant_like(Site& site) {
  KW_TRY(const auto self, site.node(0));
  const ModValue value{std::int64_t{site.row.symbol == "1" ? 1 : 0}};
  if (!site.arguments[1].is_none()) return with_dtype(site, value, 1);
  return cast_value(site, value, site.tracer.builder().type(self));
}

Value full_like(Site& site) {
  KW_TRY(const auto self, site.node(0));
  if (!site.arguments[2].is_none()) return with_dtype(site, site.arguments[1], 2);
  return cast_value(site, site.arguments[1], site.tracer.builder().type(self));
}

/// torch.tensor(5) is the number 5.
Value tensor(Site& site) {
  if (site.arguments[0].is_number() || site.arguments[0].is_node()) return with_dtype(site, site.arguments[0], 1);
  return site.error(errc::mod_unsupported,
                    fmt::format("{} of {} is not supported: tensors cannot be made in a mod", site.shown,
                                describe(site.arguments[0])),
                    "declare it under [tensors] in the problem file and index it here");
}

Value device(Site& site) {
  (void)site;
  return ModValue{LibraryRef{"torch.device"}};
}

/// Files choose their device by it; the device does not matter here.
Value is_available(Site& site) {
  (void)site;
  return ModValue{true};
}

/// torch.finfo(torch.float32): its attributes are constants of the library.
Value finfo(Site& site) {
  const auto* name = site.arguments[0].as<LibraryRef>();
  const auto type = name == nullptr ? std::nullopt : scalar_type_named(name->path);
  if (type != ScalarType::real) return refuse_dtype(site, site.arguments[0]);
  return ModValue{LibraryRef{"torch.finfo"}};
}

Value extent(Site& site) {
  const auto* tensor_ref = site.arguments[0].as<TensorRef>();
  if (tensor_ref == nullptr) {
    return site.error(errc::mod_type, "only a captured tensor has a size", "use an axis, such as Skv, by its name");
  }
  site.tracer.builder().set_place(site.where);
  auto extents = open_extents(site.tracer.builder(), *tensor_ref);
  const auto length = static_cast<std::int64_t>(extents.size());
  if (site.row.symbol == "dim") return ModValue{length};
  if (site.arguments[1].is_none()) return site.tracer.make_tuple(std::move(extents), false, site.where);
  const auto* at = site.arguments[1].as<std::int64_t>();
  if (at != nullptr && *at >= -length && *at < length) {
    return extents[static_cast<std::size_t>(*at < 0 ? *at + length : *at)];
  }
  return site.error(errc::mod_type, fmt::format("'{}' has no such dimension", tensor_ref->capture->name));
}

constexpr CallRow k_rows[] = {
    {"torch.float", "input", cast_real},
    {"torch.int", "input", cast_integer},
    {"torch.long", "input", cast_integer},
    {"torch.bool", "input", cast_boolean},
    {"torch.to", "input dtype? other? device? non_blocking?", to},
    {"torch.type", "input dtype", to},
    {"torch.type_as", "input other", type_as},
    {"torch.half", "input", refuse_narrow},
    {"torch.bfloat16", "input", refuse_narrow},
    {"torch.double", "input", refuse_narrow},
    {"torch.clone", "input", unchanged},
    {"torch.detach", "input", unchanged},
    {"torch.contiguous", "input", unchanged},
    {"torch.cuda", "input", unchanged},
    {"torch.cpu", "input", unchanged},
    {"torch.new_ones", "input size dtype? device?", new_constant, ExprOp::constant, "1"},
    {"torch.new_zeros", "input size dtype? device?", new_constant, ExprOp::constant, "0"},
    {"torch.new_full", "input size fill_value dtype? device?", new_full},
    {"torch.ones_like", "input dtype? device?", constant_like, ExprOp::constant, "1"},
    {"torch.zeros_like", "input dtype? device?", constant_like, ExprOp::constant, "0"},
    {"torch.full_like", "input fill_value dtype? device?", full_like},
    {"torch.tensor", "data dtype? device?", tensor},
    {"torch.device", "type? index?", device},
    {"torch.cuda.is_available", "", is_available},
    {"torch.finfo", "type", finfo},
    {"torch.size", "input dim?", extent},
    {"torch.dim", "input", extent, ExprOp::constant, "dim"},
};

}  // namespace

std::optional<ScalarType> scalar_type_named(std::string_view dtype) {
  if (dtype == "torch.float32" || dtype == "torch.float" || dtype == "float") return ScalarType::real;
  if (dtype == "torch.int32" || dtype == "torch.int" || dtype == "torch.int64" || dtype == "torch.long" ||
      dtype == "int") {
    return ScalarType::integer;
  }
  if (dtype == "torch.bool" || dtype == "bool") return ScalarType::boolean;
  return std::nullopt;
}

Result<ModValue> cast_value(CallSite& site, const ModValue& value, ScalarType type) {
  if (const auto* whole = value.as<TensorRef>()) {
    auto cast = *whole;
    cast.casts.push_back(type);
    return ModValue{std::move(cast)};
  }
  KW_TRY(const auto node, site.tracer.node_of(value, site.where));
  return node_value(site.tracer.builder().convert(node, type));
}

std::span<const CallRow> creation_rows() {
  return k_rows;
}

}  // namespace kw
