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

Result<InputDomain> read_domain(const ConfigValue& table) {
  KW_TRY(const auto text, optional_text(table, "inputs"));
  if (!text || *text == to_string(InputDomain::real)) return InputDomain::real;
  if (*text == to_string(InputDomain::given)) return InputDomain::given;
  return fail(Error{errc::problem_value, fmt::format("inputs = \"{}\" is not known", *text),
                    "write \"real\" or \"given\"", table.find("inputs")->where});
}

Result<ProgramMode> read_mode_word(const ConfigValue& table) {
  KW_TRY(const auto text, optional_text(table, "mode"));
  if (!text) return ProgramMode::train;
  if (const auto named = program_mode_named(*text)) return *named;
  return fail(Error{errc::problem_value, fmt::format("mode = \"{}\" is not known", *text),
                    "write \"train\", \"eval\" or \"train_no_dropout\"", table.find("mode")->where});
}

Result<Precision> read_precision(const ConfigValue& table) {
  KW_TRY(const auto text, optional_text(table, "precision"));
  if (!text) return Precision::strict;
  if (const auto named = precision_named(*text)) return *named;
  return fail(Error{errc::problem_value, fmt::format("precision = \"{}\" is not known", *text),
                    fmt::format("write {}", precision_names()), table.find("precision")->where});
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
  KW_TRY_VOID(check_keys(*table, "[program]", {"module", "class", "mode", "inputs", "precision", "set"}));
  ModuleSource module;
  KW_TRY(module.text, required_text(*table, "module", "class Model(nn.Module): ..."));
  KW_TRY(auto class_name, optional_text(*table, "class"));
  if (class_name) module.class_name = *std::move(class_name);
  KW_TRY(module.mode, read_mode_word(*table));
  KW_TRY(module.precision, read_precision(*table));
  KW_TRY(const auto domain, read_domain(*table));
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
  // Problems from before there was a choice keep their identity.
  const auto precision = detail.module.precision;
  const auto line = precision == Precision::strict ? "" : fmt::format("precision {}\n", to_string(precision));
  return fmt::format("inputs {}\n{}{}", to_string(detail.domain), line, program_text(detail.program));
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
