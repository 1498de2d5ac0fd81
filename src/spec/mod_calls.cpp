#include "spec/mod_calls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "spec/closest_name.hpp"
#include "spec/mod_call_table.hpp"

namespace kw {
namespace {

tl::unexpected<Error> error(ErrorCode code, const SourcePlace& where, std::string message, std::string hint = {}) {
  return fail(Error{code, std::move(message), std::move(hint), where});
}

struct NamedConstant {
  std::string_view path;
  double value;
};
constexpr double k_infinity = std::numeric_limits<double>::infinity();
constexpr std::array<NamedConstant, 8> k_constants = {{{"torch.inf", k_infinity},
                                                       {"math.inf", k_infinity},
                                                       {"torch.nan", std::numeric_limits<double>::quiet_NaN()},
                                                       {"math.nan", std::numeric_limits<double>::quiet_NaN()},
                                                       {"torch.pi", std::numbers::pi},
                                                       {"math.pi", std::numbers::pi},
                                                       {"torch.e", std::numbers::e},
                                                       {"math.e", std::numbers::e}}};
constexpr std::array<std::string_view, 3> k_modules = {"torch", "math", "F"};

/// Calls that people do write, and why they cannot work here. A method is listed as torch.NAME.
struct RefusedCall {
  std::string_view path;
  std::string_view why;
  std::string_view hint;
};
constexpr std::string_view k_one_score = "a mod sees one score at a time and cannot reduce over a row";
constexpr std::string_view k_no_random = "every run of a kernel must give the same result";
constexpr std::array<RefusedCall, 22> k_refused = {{
    {"print", "a kernel cannot print", "leave it out"},
    {"torch.item", "the value is only known in the kernel", "use it directly, without .item()"},
    {"torch.tolist", "the value is only known in the kernel", "use it directly"},
    {"torch.numpy", "the value is only known in the kernel", "use it directly"},
    {"torch.rand", k_no_random, "leave dropout out of the mod"},
    {"torch.rand_like", k_no_random, "leave dropout out of the mod"},
    {"torch.randn", k_no_random, "leave dropout out of the mod"},
    {"torch.bernoulli", k_no_random, "leave dropout out of the mod"},
    {"torch.dropout", k_no_random, "leave dropout out of the mod"},
    {"torch.sum", k_one_score, "write the terms out"},
    {"torch.mean", k_one_score, "write the terms out"},
    {"torch.any", k_one_score, "join the terms with '|'"},
    {"torch.all", k_one_score, "join the terms with '&'"},
    {"torch.dot", k_one_score, "only per-score values are available"},
    {"torch.matmul", k_one_score, "only per-score values are available"},
    {"torch.softmax", k_one_score, "attention applies the softmax after the mod"},
    {"torch.arange", "tensors cannot be made in a mod", "compute from q_idx and kv_idx"},
    {"torch.tensor", "tensors cannot be made in a mod", "write the number itself"},
    {"torch.zeros", "tensors cannot be made in a mod", "write the number itself"},
    {"torch.ones", "tensors cannot be made in a mod", "write the number itself"},
    {"range", "loops are not supported", "write the terms out"},
    {"len", "captured tensors and lists are not available", "list the length under [constants]"},
}};

/// The full name that the table lists: F and torch.special are torch by another name.
std::string canonical_path(const std::string& path) {
  for (const std::string_view prefix : {"torch.nn.functional.", "torch.special.", "F."}) {
    if (path.starts_with(prefix)) return "torch." + path.substr(prefix.size());
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
    return error(errc::mod_type, where,
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
      return error(errc::mod_unsupported, where, fmt::format("{} has no argument '{}' here", shown, keyword),
                   fmt::format("its arguments are {}", row.parameters));
    }
    if (given[at]) return error(errc::mod_type, where, fmt::format("{} gets '{}' twice", shown, keyword));
    bound[at] = std::move(value);
    given[at] = true;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (given[i] || parameters[i].optional) continue;
    return error(errc::mod_type, where, fmt::format("{} lacks its argument '{}'", shown, parameters[i].name));
  }
  return bound;
}

tl::unexpected<Error> unknown_call(const std::string& shown, const std::string& path, const SourcePlace& where) {
  for (const auto& refused : k_refused) {
    if (refused.path != path) continue;
    return error(errc::mod_unsupported, where, fmt::format("{} is not supported: {}", shown, refused.why),
                 std::string(refused.hint));
  }
  if (path.starts_with("torch.random.") || path.starts_with("random.")) {
    return error(errc::mod_unsupported, where, fmt::format("{} is not supported: {}", shown, k_no_random),
                 "leave dropout out of the mod");
  }
  std::vector<std::string> known;
  for (const auto& row : call_table()) known.emplace_back(row.path);
  auto near = closest_name(path, known);
  if (near && shown.front() == '.' && near->starts_with("torch.")) near = near->substr(near->find('.'));
  return error(errc::mod_unknown_name, where, fmt::format("{} is not among the functions a mod may call", shown),
               near ? fmt::format("{}?", *near) : "docs/formats.md lists the functions");
}

Result<ModValue> call_row(ModTracer& tracer, const std::string& path, const std::string& shown, CallArguments arguments,
                          const SourcePlace& where) {
  for (const auto& row : call_table()) {
    if (row.path != path) continue;
    if (row.variadic) {
      CallSite site{tracer, row, shown, where, std::move(arguments.positional)};
      if (arguments.keywords.empty()) return row.handler(site);
      return error(errc::mod_unsupported, where, fmt::format("{} takes no keyword arguments here", shown));
    }
    KW_TRY(auto bound, bind(row, shown, arguments, where));
    CallSite site{tracer, row, shown, where, std::move(bound)};
    return row.handler(site);
  }
  return unknown_call(shown, path, where);
}

}  // namespace

Result<ModValue> call_library(ModTracer& tracer, const std::string& path, CallArguments arguments,
                              const SourcePlace& where) {
  return call_row(tracer, canonical_path(path), path, std::move(arguments), where);
}

Result<ModValue> call_method(ModTracer& tracer, const MethodRef& method, CallArguments arguments,
                             const SourcePlace& where) {
  arguments.positional.insert(arguments.positional.begin(), *method.self);
  return call_row(tracer, "torch." + method.name, "." + method.name, std::move(arguments), where);
}

std::optional<double> library_constant(std::string_view path) {
  for (const auto& constant : k_constants) {
    if (constant.path == path) return constant.value;
  }
  return std::nullopt;
}

bool is_torch_function(std::string_view name) {
  const auto& rows = call_table();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const CallRow& row) { return row.path.starts_with("torch.") && row.path.substr(6) == name; });
}

bool is_builtin_name(std::string_view name) {
  if (std::find(k_modules.begin(), k_modules.end(), name) != k_modules.end()) return true;
  const auto& rows = call_table();
  return std::any_of(rows.begin(), rows.end(), [&](const CallRow& row) { return row.path == name; }) ||
         std::any_of(k_refused.begin(), k_refused.end(), [&](const RefusedCall& row) { return row.path == name; });
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> names(k_modules.begin(), k_modules.end());
  for (const auto& row : call_table()) {
    if (row.path.find('.') == std::string_view::npos) names.emplace_back(row.path);
  }
  return names;
}

}  // namespace kw
