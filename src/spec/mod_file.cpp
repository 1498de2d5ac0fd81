#include "spec/mod_file.hpp"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/closest_name.hpp"
#include "spec/mod_role.hpp"
#include "spec/mod_tracer.hpp"
#include "spec/py_module_index.hpp"
#include "spec/py_parser.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_file_bytes = 1024 * 1024;
constexpr std::size_t k_max_reached_bytes = 64 * 1024;
constexpr std::size_t k_max_wanted_bytes = 1024;
constexpr const char* k_wanted_place = "the mod's name";

/// The names of a file, each read when it is first asked for.
class FileNames {
 public:
  FileNames(std::string_view text, ModTracer& tracer)
      : items_(index_python_module(text)), tracer_(tracer), limit_(items_.size()) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      for (const auto& name : items_[i].names) by_name_[name].push_back(i);
    }
  }

  Result<std::optional<ModValue>> find(const std::string& name, bool definitions) {
    const auto item = binding(name);
    if (!item) return std::nullopt;
    const auto kind = items_[*item].kind;
    if (definitions != (kind != PyModuleItemKind::assignment)) return std::nullopt;
    if (kind == PyModuleItemKind::unread) {
      return fail(Error{errc::mod_unsupported, fmt::format("the mod needs '{}', which is a class or a coroutine", name),
                        "only functions, imports and assigned values are read from a file", place(*item)});
    }
    KW_TRY(const auto* scope, read(*item));
    const auto found = scope->names.find(name);
    if (found == scope->names.end()) return std::nullopt;
    return found->second;
  }

  [[nodiscard]] std::string reached_text() const {
    std::string text;
    for (const auto& [item, scope] : scopes_) {
      text += items_[item].text;
      if (!text.empty() && text.back() != '\n') text += '\n';
    }
    return text;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, items] : by_name_) names.push_back(name);
    return names;
  }

 private:
  [[nodiscard]] SourcePlace place(std::size_t item) const { return {"", items_[item].line, 1}; }

  /// The last statement that binds `name` before the one that is being run.
  [[nodiscard]] std::optional<std::size_t> binding(const std::string& name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return std::nullopt;
    std::optional<std::size_t> last;
    for (const auto item : found->second) {
      if (item < limit_) last = item;
    }
    return last;
  }

  Result<const TraceScope*> read(std::size_t item) {
    if (const auto found = scopes_.find(item); found != scopes_.end()) return found->second;
    reached_bytes_ += items_[item].text.size();
    if (reached_bytes_ > k_max_reached_bytes) {
      return fail(Error{errc::mod_limit,
                        fmt::format("the mod reaches more than {} bytes of the file", k_max_reached_bytes),
                        {},
                        place(item)});
    }
    KW_TRY(auto statements, parse_python(items_[item].text, place(item)));
    statements_.push_back(std::move(statements));
    // While a statement runs, names mean what stands above it. Later ones are out of sight, so nothing runs in circles.
    const auto outer = std::exchange(limit_, item);
    auto scope = tracer_.run_apart(statements_.back());
    limit_ = outer;
    if (scope) scopes_.emplace(item, *scope);
    return scope;
  }

  std::vector<PyModuleItem> items_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_name_;
  std::deque<std::vector<PyStatement>> statements_;  // functions point into them
  std::map<std::size_t, const TraceScope*> scopes_;  // of the statements that were read
  ModTracer& tracer_;
  std::size_t limit_;
  std::size_t reached_bytes_ = 0;
};

Result<void> check_sizes(std::string_view text, std::string_view wanted) {
  if (text.size() > k_max_file_bytes) {
    return fail(
        Error{errc::mod_limit, fmt::format("a file with mods has at most {} bytes", k_max_file_bytes), {}, {"", 1, 1}});
  }
  if (wanted.size() > k_max_wanted_bytes) {
    return fail(Error{errc::mod_limit,
                      fmt::format("the name of a mod has at most {} bytes", k_max_wanted_bytes),
                      {},
                      {k_wanted_place, 1, 1}});
  }
  return {};
}

/// The expression that `wanted` is.
Result<std::vector<PyStatement>> parse_wanted(std::string_view wanted) {
  KW_TRY(auto statements, parse_python(wanted, {k_wanted_place, 1, 1}));
  if (statements.size() == 1 && statements.front().kind == PyStatementKind::expression) return statements;
  return fail(Error{errc::mod_syntax,
                    "this is neither the name of a function nor an expression that makes one",
                    "write a name, or a call such as generate_sliding_window(256)",
                    {k_wanted_place, 1, 1}});
}

/// The error for a name that nobody defined in `wanted` knows the functions of the file.
Error explain(Error error, const PyExpr& wanted, const FileNames& names) {
  if (error.code != errc::mod_unknown_name || wanted.kind != PyExprKind::name) return error;
  if (error.where.file != k_wanted_place) return error;
  error.message = fmt::format("the file defines no '{}'", wanted.text);
  const auto near = closest_name(wanted.text, names.names());
  error.hint = near ? fmt::format("'{}'?", *near) : "name a function at the file's left margin";
  return error;
}

}  // namespace

Result<FileMod> parse_mod_file(std::string_view text, std::string_view wanted, const ModScope& scope) {
  KW_TRY_VOID(check_sizes(text, wanted));
  constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(k_byte_order_mark)) text.remove_prefix(k_byte_order_mark.size());
  KW_TRY(const auto statements, parse_wanted(wanted));
  const auto& expression = *statements.front().value;
  ModFunction traced;
  ModTracer tracer(scope, traced);
  FileNames names(text, tracer);
  tracer.set_names([&](const std::string& name, bool definitions) { return names.find(name, definitions); });
  const TraceScope module;
  auto function = tracer.evaluate(expression, module);
  if (!function) return tl::unexpected(explain(std::move(function).error(), expression, names));
  KW_TRY(const auto signature, signature_of(*function, expression.where));
  KW_TRY(const auto role, role_of(signature));
  KW_TRY(traced.root, trace_mod(tracer, *function, signature, role));
  traced.name = signature.name;
  traced.source = names.reached_text() + std::string(wanted) + "\n";
  return FileMod{role, in_normal_order(traced)};
}

}  // namespace kw
