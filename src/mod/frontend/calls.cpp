#include "mod/frontend/calls.hpp"

#include <algorithm>
#include <array>

#include "mod/frontend/call_table.hpp"
#include "mod/frontend/nearest_call.hpp"

namespace kw {
namespace {

constexpr std::array<std::string_view, 5> k_modules = {"torch", "math", "F", "functools", "operator"};

/// The full name that the table lists: F and torch.special are torch by another name.
std::string canonical_path(const std::string& path) {
  for (const std::string_view prefix : {"torch.nn.functional.", "torch.special.", "F."}) {
    if (path.starts_with(prefix)) return "torch." + path.substr(prefix.size());
  }
  for (const std::string_view prefix : {"torch.nn.attention.flex_attention.", "builtins."}) {
    if (path.starts_with(prefix)) return path.substr(prefix.size());
  }
  return path;
}

/// Sorts positional and keyword arguments into the parameters of `row`; absent optional ones become None.
Result<std::vector<ModValue>> bind(const CallRow& row, const std::string& shown, CallArguments& arguments,
                                   const SourcePlace& where) {
  const auto parameters = split_parameters(row.parameters);
  std::vector<ModValue> bound(parameters.size());
  std::vector<bool> given(parameters.size(), false);
  if (arguments.positional.size() > parameters.size()) {
    return fail_at(errc::mod_type, where,
                   fmt::format("{} takes at most {} argument{}, but gets {}", shown, parameters.size(),
                               parameters.size() == 1 ? "" : "s", arguments.positional.size()));
  }
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
    bound[i] = std::move(arguments.positional[i]);
    given[i] = true;
  }
  for (auto& [keyword, value] : arguments.keywords) {
    std::size_t at = 0;
    while (at < parameters.size() && parameters[at].name != keyword) ++at;
    if (at == parameters.size()) {
      return fail_at(errc::mod_unsupported, where, fmt::format("{} has no argument '{}' here", shown, keyword),
                     fmt::format("its arguments are {}", row.parameters));
    }
    if (given[at]) return fail_at(errc::mod_type, where, fmt::format("{} gets '{}' twice", shown, keyword));
    bound[at] = std::move(value);
    given[at] = true;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (given[i] || parameters[i].optional) continue;
    return fail_at(errc::mod_type, where, fmt::format("{} lacks its argument '{}'", shown, parameters[i].name));
  }
  return bound;
}

tl::unexpected<Error> unknown_call(const ModTracer& tracer, const std::string& shown, const std::string& path,
                                   const SourcePlace& where) {
  if (const auto* refused = refused_call(path)) {
    return fail_at(errc::mod_unsupported, where, fmt::format("{} is not supported: {}", shown, refused->why),
                   std::string(refused->hint));
  }
  const auto root = path.substr(0, path.find('.'));
  if (root != path && std::find(k_modules.begin(), k_modules.end(), root) == k_modules.end()) {
    const auto advice = tracer.hint_for_import(path);
    return fail_at(errc::mod_unsupported, where, fmt::format("{} is not supported: its module is not read", shown),
                   advice.empty() ? "paste the definition of the function above the mod" : advice);
  }
  auto near = nearest_call(path);
  if (near && shown.front() == '.' && near->starts_with("torch.")) near = near->substr(near->find('.'));
  return fail_at(errc::mod_unknown_name, where, fmt::format("{} is not among the functions a mod may call", shown),
                 near ? fmt::format("{}?", *near) : "docs/formats.md lists the functions");
}

Result<ModValue> call_row(ModTracer& tracer, const std::string& path, const std::string& shown, CallArguments arguments,
                          const SourcePlace& where) {
  const auto rows = call_table();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const CallRow& candidate) { return candidate.path == path; });
  if (row == rows.end()) return unknown_call(tracer, shown, path, where);
  if (row->variadic) {
    CallSite site{tracer, *row, shown, where, std::move(arguments.positional), std::move(arguments.keywords)};
    if (site.keywords.empty() || row->keywords) return row->handler(site);
    return fail_at(errc::mod_unsupported, where, fmt::format("{} takes no keyword arguments here", shown));
  }
  KW_TRY(auto bound, bind(*row, shown, arguments, where));
  CallSite site{tracer, *row, shown, where, std::move(bound), {}};
  return row->handler(site);
}

}  // namespace

Result<ModValue> call_library(ModTracer& tracer, const std::string& path, CallArguments arguments,
                              const SourcePlace& where) {
  return call_row(tracer, canonical_path(path), path, std::move(arguments), where);
}

Result<ModValue> call_method(ModTracer& tracer, const MethodRef& method, CallArguments arguments,
                             const SourcePlace& where) {
  arguments.positional.insert(arguments.positional.begin(), *method.self);
  const bool of_list = method.self->as<TupleRef>() != nullptr;
  return call_row(tracer, (of_list ? "list." : "torch.") + method.name, "." + method.name, std::move(arguments), where);
}

bool is_list_method(std::string_view name) {
  const auto rows = list_rows();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const CallRow& row) { return row.path.substr(row.path.find('.') + 1) == name; });
}

std::optional<std::string> full_library_name(std::string_view name) {
  for (const std::string_view module : {"torch.", "functools.", "math."}) {
    const auto path = std::string(module) + std::string(name);
    const auto rows = call_table();
    if (std::any_of(rows.begin(), rows.end(), [&](const CallRow& row) { return row.path == path; })) return path;
  }
  return std::nullopt;
}

bool is_builtin_name(std::string_view name) {
  if (std::find(k_modules.begin(), k_modules.end(), name) != k_modules.end()) return true;
  const auto rows = call_table();
  return std::any_of(rows.begin(), rows.end(), [&](const CallRow& row) { return row.path == name; }) ||
         refused_call(name) != nullptr;
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> names(k_modules.begin(), k_modules.end());
  for (const auto& row : call_table()) {
    if (row.path.find('.') == std::string_view::npos) names.emplace_back(row.path);
  }
  return names;
}

}  // namespace kw
