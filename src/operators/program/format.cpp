// The program operator's part of a problem file: [program], with a module's text, and the axes of it that are sizes.

#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"
#include "problem/file/problem_mod.hpp"
#include "problem/file/problem_reader.hpp"
#include "program/explain/text.hpp"

namespace kw {
namespace {

Result<Axes> integers_of(const ConfigValue& table, std::string_view what) {
  KW_TRY_VOID(check_kind(table, what, ConfigKind::table));
  Axes integers;
  for (std::size_t i = 0; i < table.items.size(); ++i) {
    KW_TRY_VOID(check_kind(table.items[i], fmt::format("'{}'", table.keys[i]), ConfigKind::integer));
    integers[table.keys[i]] = table.items[i].integer;
  }
  return integers;
}

/// One of two words under `key`; the first is the default.
template <typename Word>
Result<Word> read_word(const ConfigValue& table, const char* key, Word first, Word second) {
  KW_TRY(const auto text, optional_text(table, key));
  if (!text || *text == to_string(first)) return first;
  if (*text == to_string(second)) return second;
  return fail(Error{errc::problem_value, fmt::format("{} = \"{}\" is not known", key, *text),
                    fmt::format("write \"{}\" or \"{}\"", to_string(first), to_string(second)),
                    table.find(key)->where});
}

/// A module imports nothing beside PyTorch, so no file beside it is read.
Result<void> read_program_table(const ConfigValue& root, ModuleFiles*, Problem& problem) {
  const auto* table = root.find("program");
  if (table == nullptr) {
    return fail(Error{errc::problem_missing_key, "[program] is missing",
                      "add a table [program] with module = the text of a Python file that has class Model(nn.Module)",
                      root.where});
  }
  KW_TRY_VOID(check_kind(*table, "'program'", ConfigKind::table));
  KW_TRY_VOID(check_keys(*table, "[program]", {"module", "class", "mode", "inputs", "set"}));
  ModuleSource module;
  KW_TRY(module.text, required_text(*table, "module", "class Model(nn.Module): ..."));
  KW_TRY(auto class_name, optional_text(*table, "class"));
  if (class_name) module.class_name = *std::move(class_name);
  KW_TRY(module.mode, read_word(*table, "mode", ProgramMode::train, ProgramMode::eval));
  KW_TRY(const auto domain, read_word(*table, "inputs", InputDomain::real, InputDomain::given));
  if (const auto* set = table->find("set")) {
    KW_TRY(module.settings, integers_of(*set, "[program.set]"));
  }
  KW_TRY(const auto axes, integers_of(*root.find("axes"), "'axes'"));
  auto made = set_program(problem, std::move(module), domain, axes);
  if (made) return {};
  return with_context(placed_in_file(std::move(made).error(), *table->find("module")), "reading the module");
}

Result<void> check_program_axes(const Problem& problem, const Axes& axes) {
  const auto program = program_at(problem, axes);
  if (program) return {};
  Error error = program.error();
  error.where = {};
  return tl::unexpected(std::move(error));
}

std::string canonical_program(const Problem& problem) {
  const ProgramDetail& detail = program_detail(problem);
  return fmt::format("inputs {}\n{}", to_string(detail.domain), program_text(detail.program));
}

}  // namespace

OperatorFormat program_format() {
  return {.op = "program",
          .axes = {},
          .reserved = "",
          .default_axes = [](Axes&) {},
          .check_axes = check_program_axes,
          .read = read_program_table,
          .canonical = canonical_program,
          .functions = [](const Problem&) { return std::vector<UserFunction>(); },
          .with_mod = refuse_mod,
          .from_module = program_problem_text};
}

}  // namespace kw
