#include "problem/file/reserved_names.hpp"

#include <algorithm>

#include "hardware/device_facts.hpp"
#include "language/taken_names.hpp"
#include "problem/errors.hpp"

namespace kw {
namespace {

constexpr std::size_t k_longest = 40;

// Each name between spaces.
constexpr std::string_view k_python =
    " False None True and as assert async await break class continue def del elif else except finally for from "
    "functools global if import in is lambda math nonlocal not operator or pass raise return torch try while with "
    "yield ";
// Beside what DeviceFacts::bindings() names.
constexpr std::string_view k_bundles = " ceil_div max min round_up shared ";

/// Every fact that bundles may name, of any device.
bool is_device_fact(std::string_view name) {
  static const auto facts = [] {
    DeviceFacts any;
    any.gpu.emplace();
    return any.bindings();
  }();
  return facts.count(name) > 0;
}

bool lists_name(std::string_view list, std::string_view name) {
  return list.find(fmt::format(" {} ", name)) != std::string_view::npos;
}

/// Where a name has a meaning already; null where it has none. A bundle's arguments name tensors before anything else,
/// so that a tensor may be called like a device fact.
const char* taken_in(std::string_view name, NamedThing thing, const OperatorFormat& format) {
  if (lists_name(k_python, name)) return "Python";
  if (lists_name(format.reserved, name)) return "this operator";
  const bool in_bundles =
      lists_name(k_bundles, name) || is_kernel_definition(name) || (thing == NamedThing::axis && is_device_fact(name));
  return in_bundles ? "kernels" : nullptr;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

Result<void> check_own_name(std::string_view name, NamedThing thing, const OperatorFormat& format) {
  const bool axis = thing == NamedThing::axis;
  const bool first = !name.empty() && (is_letter(name.front()) || name.front() == '_');
  const bool rest =
      std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_ascii_digit(c) || c == '_'; });
  if (!first || !rest || name.size() > k_longest) {
    return fail(Error{errc::problem_value,
                      fmt::format("'{}' cannot be the name of a{}", name, axis ? "n axis" : " tensor"),
                      fmt::format("use at most {} letters, digits and '_', and no digit first", k_longest)});
  }
  const char* where = taken_in(name, thing, format);
  if (where == nullptr) return {};
  return fail(Error{errc::problem_value, fmt::format("'{}' already means something in {}", name, where),
                    axis ? "choose another name, such as Documents" : "choose another name, such as document_id"});
}

}  // namespace kw
