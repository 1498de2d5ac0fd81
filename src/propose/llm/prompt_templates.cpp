#include "propose/llm/prompt_templates.hpp"

#include <algorithm>
#include <system_error>

#include "propose/llm/code_blocks.hpp"
#include "propose/llm/shipped_prompts.hpp"
#include "record/turn.hpp"
#include "record/utf8.hpp"
#include "record/verdict.hpp"
#include "spec/closest_name.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t k_max_template_bytes = std::int64_t{256} << 10;

/// What each template may name. Prompts fill in these and no others.
const std::map<std::string, std::vector<std::string>, std::less<>>& placeholders() {
  static const std::map<std::string, std::vector<std::string>, std::less<>> table = {
      {"system.md", {"language", "target", "device_name"}},
      {"task.md",
       {"user_prompt", "problem", "description", "operation", "tensors", "constants", "mods", "primary_sizes",
        "edge_sizes", "device", "work", "plain_time", "constraints", "language", "target"}},
      {"contract.md", {"language", "target", "axes", "opencl", "cuda", "hip", "example"}},
      {"example_opencl.md", {}},
      {"example_cuda.md", {}},
      {"example_hip.md", {}},
      {"operators.md", {"attention", "scale", "lse"}},
      {"answer.md", {"plan", "language", "target"}},
      {"strategies.md", {"cpu", "gpu", "vector_floats", "compute_units"}},
      {"first.md", {"task", "contract", "exemplars", "tried", "strategy", "answer", "plan"}},
      {"repair.md",
       {"task", "contract", "status", "passed", "gate", "reason", "advice", "seen", "errors", "last", "best",
        "best_time", "best_speedup", "tried", "answer"}},
      {"improve.md",
       {"task", "contract", "measured", "standing", "last", "best", "exemplars", "tried", "step", "answer"}},
      {"fault.md", {"task", "contract", "advice", "seen", "excerpt", "best", "best_time", "answer"}},
      {"reasons.md", {"unverified",     "bundle_invalid",    "source_forbidden",
                      "build_failed",   "build_timeout",     "build_crashed",
                      "kernel_missing", "resource_limit",    "constraint_violated",
                      "wrong_result",   "not_finite",        "output_unwritten",
                      "input_modified", "guard_overwritten", "nondeterministic",
                      "crashed",        "timeout",           "launch_failed",
                      "memory_limit",   "sanitizer_report",  "wrong_when_timed",
                      "above_roofline", "clock_mismatch",    "language"}},
      {"steps.md",
       {"spills", "materialised", "few_groups", "few_items", "occupancy", "tensor_cores", "vectors", "tunables",
        "register_blocking", "layout", "bandwidth", "near_bound", "inner_loop", "detail", "vector_floats",
        "vector_width"}},
      {"faults.md",
       {"no_reply", "empty_reply", "reply_too_large", "reply_cut_off", "content_filter", "tool_call", "no_code",
        "several_bundles", "wrong_language", "host_program", "no_bundle_header", "bundle_invalid", "repeated",
        "language", "target"}},
  };
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

Result<void> override_from(const FileSystem& files, const fs::path& path, PromptTemplates& templates) {
  const std::string name = path.filename().string();
  if (placeholders().count(name) == 0) {
    const auto near = closest_name(name, shipped_names());
    return fail(
        Error{errc::prompt_file,
              fmt::format("'{}' is no prompt template; there are {}", one_line(name, 100), comma_list(shipped_names())),
              near ? fmt::format("did you mean {}?", *near) : "move it out of the directory",
              {path.string(), 0, 0}});
  }
  KW_TRY(std::string text, files.read(path, k_max_template_bytes));
  KW_TRY_VOID(check_text(name, text, path.string()));
  templates.texts[name] = std::move(text);
  return {};
}

}  // namespace

std::string PromptTemplates::render(std::string_view name, const PromptValues& values) const {
  const auto found = texts.find(name);
  KW_CHECK(found != texts.end(), "no prompt template {}", name);
  std::string text = render_template(found->second, values);
  text.erase(std::min(text.find_last_not_of(" \t\r\n") + 1, text.size()));
  return text;
}

const PromptTemplates& shipped_prompt_templates() {
  static const PromptTemplates shipped = [] {
    PromptTemplates made;
    for (const auto& file : shipped_prompt_texts()) {
      const std::string name = std::string(file.name) + ".md";
      KW_CHECK(placeholders().count(name) > 0, "prompts/{} has no list of placeholders", name);
      const auto checked = check_text(name, std::string(file.text), "prompts/" + name);
      KW_CHECK(checked.has_value(), "{}", checked.error().to_string());
      made.texts[name] = std::string(file.text);
    }
    for (const auto& name : shipped_names()) KW_CHECK(made.texts.count(name) > 0, "prompts/{} is not shipped", name);
    return made;
  }();
  return shipped;
}

Result<PromptTemplates> load_prompt_templates(FileSystem& files, std::optional<fs::path> override_dir) {
  PromptTemplates templates = shipped_prompt_templates();
  if (!override_dir) return templates;
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator entry(*override_dir, error), end; !error && entry != end; entry.increment(error)) {
    paths.push_back(entry->path());
  }
  if (error) {
    return fail(Error{errc::prompt_file,
                      fmt::format("cannot read the prompt directory {}: {}", override_dir->string(), error.message()),
                      "name a directory that holds templates such as first.md"});
  }
  // In a fixed order: of two mistakes the same one is named every time.
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) KW_TRY_VOID(override_from(files, path, templates));
  return templates;
}

}  // namespace kw
