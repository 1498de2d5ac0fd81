#include "propose/llm/prompts/prompt_templates.hpp"

#include <algorithm>
#include <system_error>

#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "language/language.hpp"
#include "problem/operator.hpp"
#include "propose/llm/prompts/shipped_prompts.hpp"
#include "propose/llm/replies/code_blocks.hpp"
#include "record/turn.hpp"
#include "record/verdict.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t k_max_template_bytes = std::int64_t{256} << 10;

using Placeholders = std::map<std::string, std::vector<std::string>, std::less<>>;

/// One for every reason to reject, and one for a candidate that could not be judged.
std::vector<std::string> reason_sections() {
  std::vector<std::string> names = {"unverified", "language", "advice"};
  for (const auto& reason : k_reason_names) {
    if (reason.value != Reason::none) names.emplace_back(reason.name);
  }
  return names;
}

/// Of what each operator brings, and what these sections may name; all have to be there.
void add_operator(const Operator& one, Placeholders& table) {
  const auto name = [&](const char* text) { return operator_template(one.format.op, text); };
  table[name("operation")] = one.prompts.placeholders();
  table[name("sizes")] = {};
  table[name("precision")] = {};
  auto& distributions = table[name("distributions")];
  for (const auto& distribution : one.checks.distributions()) distributions.emplace_back(distribution.name);
  table[name("strategies")] = {"cpu", "gpu", "vector_floats", "compute_units"};
  table[name("steps")] = advised_steps();
  for (const auto& value : one.prompts.placeholders()) table[name("steps")].push_back(value);
  table[name("reasons")] = advised_reasons();
}

/// What each template may name that is the same for all languages.
Placeholders common_placeholders() {
  return {
      {"system.md", {"language", "target", "device_name"}},
      {"task.md", {"user_prompt", "problem",       "description", "operation",     "tensors",  "constants", "mods",
                   "primary",     "primary_sizes", "edge_sizes",  "distributions", "sizes",    "precision", "device",
                   "work",        "untimed",       "plain_time",  "constraints",   "language", "target"}},
      {"contract.md", {"language", "target", "axes", "example", "vector_calls"}},
      {"answer.md", {"plan", "contrast", "reflection", "language", "target"}},
      {"first.md",
       {"task", "contract", "exemplars", "best", "best_time", "best_speedup", "tried", "lessons", "notes", "strategy",
        "goal", "answer", "plan"}},
      {"repair.md",
       {"task", "contract", "status", "rejected", "undecided", "passed", "gate", "reason", "advice", "seen", "errors",
        "judgement", "last", "best", "best_time", "best_speedup", "tried", "answer"}},
      {"improve.md",
       {"task", "contract", "measured", "standing", "last", "best", "exemplars", "tried", "lessons", "notes",
        "judgement", "step", "goal", "answer"}},
      {"judge.md",
       {"task", "wrong", "right", "status", "passed", "gate", "reason", "seen", "errors", "measured", "kernel",
        "tried"}},
      {"fault.md",
       {"task", "contract", "advice", "seen", "excerpt", "wrong", "best", "best_time", "tried", "goal", "answer"}},
      {"wrong.md", {"status", "rejected", "undecided", "passed", "gate", "reason", "advice", "seen", "errors", "last"}},
      {"reasons.md", reason_sections()},
      {"steps.md", {"spills",       "materialised", "few_groups",    "few_items",    "occupancy",
                    "tensor_cores", "calls",        "vectors",       "tunables",     "register_blocking",
                    "layout",       "bandwidth",    "near_bound",    "inner_loop",   "scattered",
                    "banks",        "lanes",        "memory_wait",   "shared_wait",  "barrier_wait",
                    "overhead",     "detail",       "vector_floats", "vector_width", "advice"}},
      {"faults.md",
       {"no_reply", "empty_reply", "reply_too_large", "reply_cut_off", "content_filter", "tool_call", "no_code",
        "several_bundles", "wrong_language", "host_program", "no_bundle_header", "bundle_invalid", "repeated",
        "no_plan", "language", "target"}},
  };
}

/// What each template may name. Prompts fill in these and no others.
const Placeholders& placeholders() {
  static const Placeholders table = [] {
    Placeholders all = common_placeholders();
    for (const Language* language : languages()) {
      all["contract.md"].emplace_back(language->prompt);
      all[example_template(*language)] = {};
    }
    for (const Operator* one : operators().all()) add_operator(*one, all);
    return all;
  }();
  return table;
}

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  for (const auto& [name, known] : placeholders()) names.push_back(name);
  return names;
}

Result<void> check_text(const std::string& name, const std::string& text, const std::string& file) {
  if (const auto offset = first_non_text_byte(text)) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*offset), '\n');
    return fail(Error{errc::prompt_template,
                      "the template is not UTF-8 text, or holds a NUL byte",
                      "",
                      {file, static_cast<int>(line), 0}});
  }
  return check_template(text, placeholders().at(name), file);
}

Result<void> override_from(const FileSystem& files, const fs::path& directory, const fs::path& path,
                           PromptTemplates& templates) {
  const std::string name = path.lexically_relative(directory).generic_string();
  if (placeholders().count(name) == 0) {
    const auto near = closest_name(name, shipped_names());
    return fail(
        Error{errc::prompt_file,
              fmt::format("'{}' is not a prompt template; there are {}", one_line(name, 100), join(shipped_names())),
              near ? fmt::format("did you mean {}?", *near) : "move it out of the directory",
              {path.string(), 0, 0}});
  }
  KW_TRY(std::string text, files.read(path, k_max_template_bytes));
  KW_TRY_VOID(check_text(name, text, path.string()));
  templates.texts[name] = std::move(text);
  return {};
}

void add_shipped(const std::string& name, std::string_view text, PromptTemplates& templates) {
  KW_CHECK(placeholders().count(name) > 0, "prompts/{} has no list of placeholders", name);
  const auto checked = check_text(name, std::string(text), "prompts/" + name);
  KW_CHECK(checked.has_value(), "{}", checked.error().to_string());
  templates.texts[name] = std::string(text);
}

/// What an operator has to say; of the other steps it may keep silent, and they are then not suggested.
void check_advice(const Operator& one, const PromptTemplates& templates) {
  const std::string_view op = one.format.op;
  const auto check = [&](const char* text, const PromptValues& values, std::string_view section) {
    KW_CHECK(!templates.render(operator_template(op, text), values).empty(), "operator {} says nothing of {} {}", op,
             text, section);
  };
  for (const char* text : {"operation", "sizes", "precision"}) check(text, {}, "");
  for (const auto& own : one.checks.distributions()) {
    check("distributions", {{std::string(own.name), "yes"}}, own.name);
  }
  check("strategies", {{"cpu", "yes"}}, "on a CPU");
  check("strategies", {{"gpu", "yes"}}, "on a GPU");
  check("steps", {{"inner_loop", "yes"}}, "inner_loop");
  for (const auto& reason : advised_reasons()) check("reasons", {{reason, "yes"}}, reason);
}

}  // namespace

std::string operator_template(std::string_view op, std::string_view name) {
  return fmt::format("{}/{}.md", op, name);
}

const std::vector<std::string>& advised_steps() {
  static const std::vector<std::string> k_steps = {"materialised",      "few_groups", "tensor_cores",
                                                   "register_blocking", "near_bound", "inner_loop"};
  return k_steps;
}

const std::vector<std::string>& advised_reasons() {
  static const std::vector<std::string> k_reasons = {"wrong_result", "not_finite", "output_unwritten"};
  return k_reasons;
}

std::string PromptTemplates::render(std::string_view name, const PromptValues& values) const {
  const auto found = texts.find(name);
  KW_CHECK(found != texts.end(), "no prompt template {}", name);
  std::string text = render_template(found->second, values);
  text.erase(std::min(text.find_last_not_of(" \t\r\n") + 1, text.size()));
  return text;
}

std::string example_template(const Language& language) {
  return fmt::format("example_{}.md", language.prompt);
}

const PromptTemplates& shipped_prompt_templates() {
  static const PromptTemplates shipped = [] {
    PromptTemplates made;
    for (const auto& file : shipped_prompt_texts()) add_shipped(std::string(file.name) + ".md", file.text, made);
    for (const Operator* one : operators().all()) {
      for (const auto& file : one->prompts.texts()) {
        add_shipped(operator_template(one->format.op, file.name), file.text, made);
      }
    }
    for (const auto& name : shipped_names()) KW_CHECK(made.texts.count(name) > 0, "prompts/{} is not shipped", name);
    for (const Operator* one : operators().all()) check_advice(*one, made);
    return made;
  }();
  return shipped;
}

Result<PromptTemplates> load_prompt_templates(FileSystem& files, std::optional<fs::path> override_dir) {
  PromptTemplates templates = shipped_prompt_templates();
  if (!override_dir) return templates;
  std::error_code error;
  std::vector<fs::path> paths;
  using Entries = fs::recursive_directory_iterator;
  for (Entries entry(*override_dir, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->is_directory()) paths.push_back(entry->path());
  }
  if (error) {
    return fail(Error{errc::prompt_file,
                      fmt::format("cannot read the prompt directory {}: {}", override_dir->string(), error.message()),
                      "name a directory that holds templates such as first.md"});
  }
  // In a fixed order: of two mistakes the same one is named every time.
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) KW_TRY_VOID(override_from(files, *override_dir, path, templates));
  return templates;
}

}  // namespace kw
