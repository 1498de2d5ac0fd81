#include "mod/frontend/library_values.hpp"

#include <algorithm>
#include <iterator>

#include "mod/frontend/call_table.hpp"
#include "mod/frontend/calls.hpp"

namespace kw {
namespace {

constexpr std::string_view k_listed_modules[] = {"__future__",
                                                 "abc",
                                                 "collections",
                                                 "dataclasses",
                                                 "enum",
                                                 "functools",
                                                 "itertools",
                                                 "math",
                                                 "torch",
                                                 "torch.nn",
                                                 "typing",
                                                 "pathlib",
                                                 "logging",
                                                 "typing_extensions",
                                                 "torch.nn.functional",
                                                 "torch.nn.attention.flex_attention"};
// A decorator with one of these names, or inside of a name that ends with a dot.
constexpr std::string_view k_keeping[] = {"torch.compile",
                                          "torch.compiler.",
                                          "torch.no_grad",
                                          "torch.enable_grad",
                                          "torch.inference_mode",
                                          "torch.autocast",
                                          "torch.amp.autocast",
                                          "torch.cuda.amp.autocast",
                                          "torch.jit.",
                                          "torch._dynamo.",
                                          "torch.fx.wrap",
                                          "functools.cache",
                                          "functools.lru_cache",
                                          "functools.wraps",
                                          "typing.",
                                          "typing_extensions.",
                                          "typeguard.typechecked",
                                          "beartype.beartype",
                                          "jaxtyping.jaxtyped",
                                          "pytest.mark."};

// Whose names mean something in messages, or that every file may import; `self` is what methods are given.
constexpr std::string_view k_other_libraries[] = {"builtins", "cmath", "einops", "jax",     "jnp",   "np",
                                                  "numpy",    "os",    "random", "re",      "scipy", "self",
                                                  "sys",      "time",  "triton", "warnings"};

bool is_listed(std::string_view path) {
  const auto rows = call_table();
  return std::any_of(rows.begin(), rows.end(), [&](const CallRow& row) { return row.path == path; }) ||
         refused_call(path) != nullptr || library_constant(path).has_value();
}

}  // namespace

bool is_read_from_library(std::string_view path) {
  for (const std::string_view prefix : {"torch.nn.functional.", "torch.special.", "F."}) {
    if (path.starts_with(prefix) && is_listed("torch." + std::string(path.substr(prefix.size())))) return true;
  }
  for (const std::string_view prefix : {"torch.nn.attention.flex_attention.", "builtins."}) {
    if (path.starts_with(prefix) && is_listed(path.substr(prefix.size()))) return true;
  }
  return is_listed(path) || path.starts_with("torch.Tensor.");
}

bool is_library(std::string_view root) {
  const auto is_root_of = [&](std::string_view path) { return path.substr(0, path.find('.')) == root; };
  return std::find(std::begin(k_other_libraries), std::end(k_other_libraries), root) != std::end(k_other_libraries) ||
         std::any_of(std::begin(k_listed_modules), std::end(k_listed_modules), is_root_of) ||
         std::any_of(std::begin(k_keeping), std::end(k_keeping), is_root_of) || is_builtin_name(root);
}

bool is_listed_module(std::string_view module) {
  return std::find(std::begin(k_listed_modules), std::end(k_listed_modules), module) != std::end(k_listed_modules);
}

bool is_known_of_library(std::string_view path) {
  const auto dot = path.find('.');
  if (dot == std::string_view::npos || is_read_from_library(path)) return true;
  const bool torch = path.substr(0, dot) == "torch";
  // torch.float16, torch.cuda; but torch.version.hip may be None
  return torch && (path.find('.', dot + 1) == std::string_view::npos || path.starts_with("torch.nn."));
}

tl::unexpected<Error> unknown_of_library(std::string_view path, const SourcePlace& where) {
  return fail(Error{errc::mod_unsupported, fmt::format("what {} holds is not known: libraries are not read", path),
                    "write the value that it has for you", where});
}

bool keeps_function(std::string_view decorator) {
  return std::any_of(std::begin(k_keeping), std::end(k_keeping), [&](std::string_view known) {
    return known.back() == '.' ? decorator.starts_with(known) : decorator == known;
  });
}

}  // namespace kw
