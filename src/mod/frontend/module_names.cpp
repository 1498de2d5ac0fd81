#include "mod/frontend/module_names.hpp"

#include <algorithm>
#include <memory>

#include "mod/frontend/library_values.hpp"
#include "python/parser.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_reached_bytes = 64 * 1024;

std::string hint_for(const PyModuleItem& item, const std::string& name) {
  if (item.definition) return fmt::format("keep one definition of '{}' in the file", name);
  return fmt::format("give '{}' a value under [constants] or [tensors] in the problem file", name);
}

/// How deep lists nest in a value: with that many indices, nothing is left that could change. 0 when it holds none.
int list_levels(const ModValue& value) {
  const auto* tuple = value.as<TupleRef>();
  if (tuple == nullptr) return 0;
  int inner = 0;
  for (const auto& item : *tuple->items) inner = std::max(inner, list_levels(item));
  return tuple->list || inner > 0 ? inner + 1 : 0;
}

/// The statement as it would stand at the left margin.
std::string at_margin(const PyModuleItem& item) {
  const auto indent = std::min(item.text.find_first_not_of(" \t"), item.text.size());
  const auto margin = item.text.substr(0, indent);
  std::string text;
  for (auto rest = item.text; !rest.empty();) {
    const auto line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    text += line.starts_with(margin) ? line.substr(indent) : line;
    rest.remove_prefix(line.size());
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

/// The error of a statement that gives `name` its value, mostly a tensor that is made by running code.
Error with_declaration(Error error, const std::string& name) {
  constexpr std::string_view k_declare = "declare it under [tensors.";
  if (error.code == errc::mod_limit || error.code == errc::mod_syntax) return error;
  auto& hint = error.hint;
  const auto other = hint.find(k_declare);  // of a name that this one is made from
  if (other == std::string::npos && !hint.empty()) hint += "; or ";
  hint = hint.substr(0, other);
  hint += fmt::format("{}{}] in the problem file", k_declare, name);
  return error;
}

/// A class that may be an autograd function: the only ones that are parsed.
bool may_be_function(const PyModuleItem& item) {
  const auto head = item.text.substr(0, item.text.find('\n'));
  return item.kind == PyItemKind::type && head.find("Function") != std::string_view::npos;
}

bool may_write_names(std::string_view text) {
  for (const std::string_view word : {"global", "nonlocal", "exec", "vars", "locals", "modules"}) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

ModuleNames::ModuleNames(ModuleText& file) : file_(file), module_(index_python_module(file.text, file.file)) {
  index();
}

ModuleNames::ModuleNames(ModuleText& file, ModuleNames& outer, const PyModuleItem& item, Parameters parameters)
    : file_(file),
      outer_(&outer),
      kind_(item.kind),
      title_(item.names.front()),
      where_(item.where),
      parameters_(std::move(parameters)),
      module_(index_python_body(item.text, item.where)) {
  index();
}

void ModuleNames::index() {
  limit_ = module_.items.size();
  source_ = [this](const std::string& name, bool definitions) { return find(name, definitions); };
  scope_.source = &source_;
  scope_.home = &file_.home;
  for (std::size_t i = 0; i < module_.items.size(); ++i) {
    for (const auto& name : module_.items[i].names) by_name_[name].push_back(i);
  }
}

std::vector<std::string> ModuleNames::names() const {
  std::vector<std::string> names;
  for (const auto& [name, items] : by_name_) {
    if (name != "*") names.push_back(name);
  }
  return names;
}

std::optional<SourcePlace> ModuleNames::place_of(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return module_.items[found->second.back()].where;
}

/// The statements above the one that is being run that may bind `name`, the last first.
std::vector<std::size_t> ModuleNames::candidates(const std::string& name) const {
  std::vector<std::size_t> found;
  for (const auto& wanted : {name, std::string("*")}) {
    const auto items = by_name_.find(wanted);
    if (items == by_name_.end()) continue;
    for (const auto item : items->second) {
      const auto& star = module_.items[item].star;
      const bool other = !star.empty() && is_listed_module(star) && !is_read_from_library(star + "." + name);
      if (item < limit_ && !other) found.push_back(item);
    }
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Result<std::optional<ModValue>> ModuleNames::find(const std::string& name, bool definitions) {
  // When a function of a class is called, the class's own names are out of its sight.
  if (kind_ == PyItemKind::type && !reading_) return outer_->find(name, definitions);
  const auto given = parameters_.find(name);
  const bool is_parameter = given != parameters_.end();
  const bool local = is_parameter || by_name_.count(name) > 0;
  if (!local && outer_ != nullptr && by_name_.count("*") == 0) {
    return outer_->around_functions().find(name, definitions);
  }
  KW_TRY(const auto items, without_stars(name, candidates(name)));
  const bool defined = std::any_of(items.begin(), items.end(), [&](std::size_t i) {
    const auto& item = module_.items[i];
    return item.definition && (item.star.empty() || is_listed_module(item.star));
  });
  const bool bound = is_parameter && given->second && items.empty();
  if ((defined || bound) != definitions || (items.empty() && !is_parameter)) return std::nullopt;
  KW_TRY_VOID(check_after(name, items));
  return resolve(name, items);
}

Result<void> ModuleNames::check_after(const std::string& name, const std::vector<std::size_t>& items) {
  if (!member_ || items.empty()) return {};
  if (items.back() >= *member_ && parameters_.count(name) == 0) return {};
  const auto after = std::find_if(items.begin(), items.end(),
                                  [&](std::size_t item) { return item > *member_ && executed(item) != Executed::no; });
  if (after == items.end()) return {};
  const auto& item = module_.items[*after];
  return fail(Error{errc::mod_unsupported,
                    fmt::format("'{}' is assigned again below '{}', and which value counts is not known", name,
                                module_.items[*member_].names.front()),
                    hint_for(item, name), item.where});
}

/// What a parameter holds where no statement binds its name.
Result<std::optional<ModValue>> ModuleNames::parameter(const std::string& name, std::optional<std::size_t> doubtful) {
  const auto found = parameters_.find(name);
  if (found == parameters_.end()) return std::nullopt;
  if (doubtful) return doubt(*doubtful, name);
  if (found->second) return found->second;
  return fail(Error{errc::mod_unsupported, fmt::format("'{}' is a parameter of '{}', and has no value", name, title_),
                    fmt::format("give it one, as in {}({}=...), or declare it in the problem file", title_, name),
                    where_});
}

Result<const PyModuleItem*> ModuleNames::definition(const std::string& name) {
  for (const auto at : candidates(name)) {
    const auto& item = module_.items[at];
    const auto state = executed(at);
    if (state == Executed::no) continue;
    const bool found = item.kind == PyItemKind::function || item.kind == PyItemKind::type;
    if (found && state == Executed::perhaps && candidates(name).size() > 1) return doubt(at, name);
    if (found) member_ = std::min(member_.value_or(at), at);
    return found ? &item : nullptr;
  }
  return nullptr;
}

Result<std::optional<ModValue>> ModuleNames::member(const std::string& name) {
  const auto items = candidates(name);
  const auto chosen =
      std::find_if(items.begin(), items.end(), [&](auto item) { return executed(item) != Executed::no; });
  if (chosen == items.end()) return std::nullopt;
  KW_TRY(auto value, resolve(name, items));
  member_ = std::min(member_.value_or(*chosen), *chosen);
  const auto* closure = value ? value->as<ClosureRef>() : nullptr;
  if (kind_ != PyItemKind::type || closure == nullptr || closure->function->name == "<lambda>") return value;
  const auto& decorators = closure->function->decorators;
  const bool free = std::any_of(decorators.begin(), decorators.end(), [](const PyExprPtr& decorator) {
    return decorator->kind == PyExprKind::name && decorator->text == "staticmethod";
  });
  if (free) return value;
  CallArguments self{{ModValue{LibraryRef{"self"}}}, {}};
  return ModValue{PartialRef{std::make_shared<const ModValue>(*value),
                             std::make_shared<const CallArguments>(std::move(self)), height_of(*value) + 1}};
}

Result<std::optional<ModValue>> ModuleNames::resolve(const std::string& name, const std::vector<std::size_t>& items) {
  std::optional<std::size_t> doubtful;
  for (const auto item : items) {
    const auto& star = module_.items[item].star;
    const auto state = !star.empty() && !is_listed_module(star) ? Executed::perhaps : executed(item);
    if (state == Executed::no) continue;
    if (doubtful) return doubt(*doubtful, name);
    if (state == Executed::perhaps) {
      doubtful = item;
      continue;
    }
    KW_TRY(auto value, value_of(item, name));
    if (value) return value;  // a loop without turns binds nothing
  }
  if (!doubtful || parameters_.count(name) > 0) return parameter(name, doubtful);
  // It has this value, or Python would end with an error; unless the name means something without the file.
  if (is_read_from_library(name)) return doubt(*doubtful, name);
  if (!module_.items[*doubtful].star.empty()) return std::nullopt;
  return value_of(*doubtful, name);
}

Result<std::optional<ModValue>> ModuleNames::value_of(std::size_t at, const std::string& name) {
  const auto& item = module_.items[at];
  const auto refuse = [&](std::string message, std::string hint) {
    return fail(Error{errc::mod_unsupported, std::move(message), std::move(hint), item.where});
  };
  if (!item.star.empty()) return ModValue{LibraryRef{item.star + "." + name}};
  if ((item.kind == PyItemKind::type && !may_be_function(item)) || item.unread == "a coroutine") {
    return refuse(fmt::format("the mod needs '{}', which is a class or a coroutine", name),
                  "only functions, imports and assigned values are read from a file");
  }
  if (item.kind == PyItemKind::unread) {
    return refuse(fmt::format("{} may change '{}', and is not executed", item.unread, name), hint_for(item, name));
  }
  if (may_write_names(file_.text)) {
    if (const auto change = file_.all_changes().rebinds(name, item.where.line)) {
      return fail(Error{errc::mod_unsupported, fmt::format("{} may give '{}' another value", change->what, name),
                        hint_for(item, name), change->where});
    }
  }
  const auto read_scope = read(at);
  if (!read_scope && (item.definition || name == file_.wanted)) return tl::unexpected(read_scope.error());
  if (!read_scope) return tl::unexpected(with_declaration(read_scope.error(), name));
  const auto* scope = *read_scope;
  const auto found = scope->names.find(name);
  if (found == scope->names.end()) return std::nullopt;
  remember(item, name, found->second);
  return found->second;
}

void ModuleNames::remember(const PyModuleItem& item, const std::string& name, const ModValue& value) {
  if (const auto* library = value.as<LibraryRef>(); library != nullptr && item.definition) {
    file_.libraries.emplace_back(name, library->path);
  }
  const int levels = list_levels(value);
  if (levels == 0) return;
  for (const auto& alias : item.names) file_.lists.push_back({alias, levels});  // "a = b = []" makes one list
}

Result<const TraceScope*> ModuleNames::read(std::size_t at) {
  if (const auto found = scopes_.find(at); found != scopes_.end()) return found->second;
  const auto& item = module_.items[at];
  file_.reached_bytes += item.text.size();
  if (file_.reached_bytes > k_max_reached_bytes) {
    return fail(Error{errc::mod_limit,
                      fmt::format("the mod reaches more than {} bytes of the file", k_max_reached_bytes),
                      {},
                      item.where});
  }
  KW_TRY(auto statements, parse_python(item.text, item.where));
  file_.statements.push_back(std::move(statements));
  // While a statement runs, names mean what stands above it. Later ones are out of sight, so nothing runs in circles.
  const auto outer = std::exchange(limit_, at);
  const bool reading = std::exchange(reading_, true);
  const bool wins = file_.tracer.set_declared_wins(true);
  const bool method = item.kind == PyItemKind::function;
  auto scope =
      file_.tracer.run_apart(file_.statements.back(), &(method ? around_functions() : *this).source_, &file_.home);
  file_.tracer.set_declared_wins(wins);
  reading_ = reading;
  limit_ = outer;
  if (!scope) return scope;
  scopes_.emplace(at, *scope);
  file_.reached[item.where.line] += at_margin(item);
  if (!item.definition) file_.executed.push_back({item.where.line, item.last_line});
  return scope;
}

ModuleNames::Executed ModuleNames::executed(std::size_t at) {
  const auto& item = module_.items[at];
  auto state = all_hold(item.guards);
  // Where the member is defined, the function has not returned above it.
  std::size_t exit = kind_ == PyItemKind::function ? 0 : item.exits;
  if (member_) exit = std::max(exit, module_.items[*member_].exits);
  for (; exit < item.exits && state != Executed::no; ++exit) {
    const auto taken = all_hold(module_.exits[exit]);
    if (taken == Executed::yes) state = Executed::no;
    if (taken == Executed::perhaps) state = taken;
  }
  return state;
}

ModuleNames::Executed ModuleNames::all_hold(const std::vector<PyGuard>& guards) {
  auto state = Executed::yes;
  for (const auto& guard : guards) {
    auto holding = holds(guard.condition);
    if (!guard.holds && holding != Executed::perhaps) {
      holding = holding == Executed::yes ? Executed::no : Executed::yes;
    }
    if (holding == Executed::no) return holding;
    if (holding == Executed::perhaps) state = holding;
  }
  return state;
}

ModuleNames::Executed ModuleNames::holds(std::size_t at) {
  if (const auto found = conditions_.find(at); found != conditions_.end()) return found->second;
  const auto& condition = module_.conditions[at];
  const auto outer = std::exchange(limit_, condition.before);
  const auto decided = decide(condition);
  limit_ = outer;
  const auto state = !decided ? Executed::perhaps : *decided ? Executed::yes : Executed::no;
  conditions_.emplace(at, state);
  return state;
}

Result<bool> ModuleNames::decide(const PyCondition& condition) {
  KW_TRY(auto statements, parse_python(condition.text, condition.where));
  const bool expression = statements.size() == 1 && statements.front().kind == PyStatementKind::expression;
  if (!expression) return fail(Error{errc::mod_syntax, "this is no condition", {}, condition.where});
  file_.statements.push_back(std::move(statements));
  const auto& expr = *file_.statements.back().front().value;
  KW_TRY(const auto value, file_.tracer.evaluate(expr, scope_));
  return file_.tracer.decide(value, condition.where, "'if'", "");
}

tl::unexpected<Error> ModuleNames::doubt(std::size_t at, const std::string& name) const {
  const auto& item = module_.items[at];
  std::string_view word = "import";
  auto where = item.where;
  auto guards = item.guards;
  for (std::size_t i = 0; i < item.exits; ++i) {
    guards.insert(guards.end(), module_.exits[i].begin(), module_.exits[i].end());
  }
  for (const auto& guard : guards) {
    const auto state = conditions_.find(guard.condition);
    if (state == conditions_.end() || state->second != Executed::perhaps) continue;
    word = module_.conditions[guard.condition].word;
    where = module_.conditions[guard.condition].where;
    break;
  }
  return fail(Error{errc::mod_unsupported,
                    fmt::format("whether this '{}' gives '{}' another value is not known", word, name),
                    hint_for(item, name), where});
}

}  // namespace kw
