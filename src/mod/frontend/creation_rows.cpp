// Conversions of values, and the ways torch makes a tensor of a single value.

#include <utility>

#include "mod/frontend/call_table.hpp"

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

tl::unexpected<Error> refuse_finfo(const Site& site) {
  const auto* name = site.arguments[0].as<LibraryRef>();
  const auto type = name != nullptr ? name->path : describe(site.arguments[0]);
  return site.error(errc::mod_unsupported, fmt::format("torch.finfo({}) is not supported", type),
                    "torch.float32, torch.float16 and torch.bfloat16 are");
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

/// Not known where the kernel is written. Files choose their device by it, which ModTracer::conditional() knows.
Value is_available(Site& site) {
  (void)site;
  return ModValue{LibraryRef{"torch.cuda.is_available()"}};
}

/// torch.finfo(torch.float32): its attributes are constants of the library. Of narrow types as well: a mask that a
/// model adds to scores of its own type holds their smallest number, and the scores here are f32.
Value finfo(Site& site) {
  const auto* name = site.arguments[0].as<LibraryRef>();
  const std::string_view path = name == nullptr ? "" : std::string_view(name->path);
  if (path == "torch.float16" || path == "torch.half") return ModValue{LibraryRef{"torch.finfo.float16"}};
  if (path == "torch.bfloat16") return ModValue{LibraryRef{"torch.finfo.bfloat16"}};
  if (scalar_type_named(path) != ScalarType::real) return refuse_finfo(site);
  return ModValue{LibraryRef{"torch.finfo.float32"}};
}

constexpr CallRow k_creation_rows[] = {
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
  return k_creation_rows;
}

}  // namespace kw
