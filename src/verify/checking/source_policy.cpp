#include "verify/checking/source_policy.hpp"

#include <algorithm>
#include <array>

#include "language/kernel_headers.hpp"
#include "language/language.hpp"
#include "verify/checking/building_blocks.hpp"
#include "verify/checking/source_conditions.hpp"
#include "verify/checking/source_lines.hpp"

namespace kw {
namespace {

/// Whether a simulator compiles the source anew, or its code shares the process of its runtime.
bool is_guarded(std::string_view target) {
  const Language* language = find_language(target);
  return language != nullptr && (language->simulator || !language->forbidden.empty());
}

/// Of the compiler or of the simulator, as opposed to the author's own.
bool is_reserved(std::string_view name) {
  return name.starts_with("_") || name.starts_with("KW_");
}

/// What in the lines lets a source be another kernel for the simulator than for the GPU. Words that follow "the source
/// uses".
std::optional<std::string> tells_simulator(const SimulatorDialect& simulator, const std::vector<std::string>& lines,
                                           const SourceConditions& conditions) {
  for (const std::string& line : lines) {
    const auto directive = directive_of(line);
    if (directive && directive->word == "line") return "#line";
    for (const std::string_view name : identifiers_in(line)) {
      if (name.find("kw_sim") != std::string_view::npos || name.starts_with("KW_SIM")) {
        return fmt::format("{} outside of the shipped building blocks (docs/cuda.md)", name);
      }
    }
  }
  for (const std::string& name : conditions.names) {
    const bool same =
        std::ranges::any_of(simulator.same_conditions, [&](auto begin) { return name.starts_with(begin); });
    if (is_reserved(name) && !same) return fmt::format("{} in a condition", name);
  }
  return std::nullopt;
}

std::optional<std::string> hidden_difference(const std::vector<std::string>& all_lines, std::string_view target) {
  if (!is_guarded(target)) return std::nullopt;
  const auto& simulator = find_language(target)->simulator;
  const auto lines = simulator ? without_building_blocks(all_lines) : all_lines;
  const SourceConditions conditions = conditions_in(lines);
  if (conditions.hidden || !simulator) return conditions.hidden;
  return tells_simulator(*simulator, lines, conditions);
}

/// What an #include names, between angle brackets, may be included.
bool names_kernel_header(std::string_view rest, std::string_view target) {
  if (!rest.starts_with('<') || !rest.ends_with('>')) return false;
  return is_kernel_header(target, rest.substr(1, rest.size() - 2));
}

std::optional<std::string> forbidden_in(const Directive& directive, std::string_view target) {
  const std::string_view word = directive.word;
  if (!word.starts_with("include") && word != "import" && word != "embed") return std::nullopt;
  if (word == "include" && names_kernel_header(directive.rest, target)) return std::nullopt;
  constexpr std::size_t k_most = 60;
  const std::string_view rest = directive.rest.substr(0, k_most);
  return fmt::format("#{}{}{}", word, rest.empty() ? "" : " ", rest);
}

std::optional<std::string> forbidden_among(const std::vector<std::string>& lines, std::string_view target) {
  for (const std::string& line : lines) {
    const auto directive = directive_of(line);
    auto forbidden = directive ? forbidden_in(*directive, target) : std::nullopt;
    if (forbidden) return forbidden;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> forbidden_directive(const std::string& source, std::string_view target) {
  const SourceLines text = source_lines(source);
  return text.ambiguous ? text.ambiguous : forbidden_among(text.lines, target);
}

std::optional<std::string> source_problem(const std::string& source, std::string_view target) {
  const SourceLines text = source_lines(source);
  if (text.ambiguous) return fmt::format("the source uses {}, which compilers read in different ways", *text.ambiguous);
  if (const auto hidden = hidden_difference(text.lines, target)) {
    return fmt::format("the source uses {}, which could tell a simulator from the device", *hidden);
  }
  const auto directive = forbidden_among(text.lines, target);
  if (!directive) return std::nullopt;
  std::string message = fmt::format("the source uses {}; a bundle must contain everything it needs", *directive);
  const auto headers = language_headers(target);
  if (!headers.empty()) {
    message += fmt::format("; it may include <{}> and, of the C library, <{}>", fmt::join(headers, ">, <"),
                           fmt::join(k_c_headers, ">, <"));
  }
  return message;
}

std::string guarded_source(const std::string& source, std::string_view target, const IntBindings& definitions) {
  if (!is_guarded(target)) return source;
  const Language& language = *find_language(target);
  std::string guard;
  for (const std::string_view name : language.unlike_macros) guard += fmt::format("#undef {}\n", name);
  for (const std::string& name : conditions_in(source_lines(source).lines).names) {
    // Where a simulator has a dialect of its own, the names of compilers were judged (source_problem).
    const bool judged = language.simulator && is_reserved(name);
    if (!definitions.contains(name) && !judged) guard += fmt::format("#undef {}\n", name);
  }
  if (!language.forbidden.empty()) guard += fmt::format("#pragma GCC poison {}\n", fmt::join(language.forbidden, " "));
  return guard.empty() ? source : fmt::format("{}#line 1\n{}", guard, source);
}

std::string without_guard(const std::string& build_log) {
  constexpr std::array<std::string_view, 2> k_of_guard = {": poisoning existing macro", ": undefining builtin macro"};
  std::string rest;
  for (std::size_t begin = 0; begin < build_log.size();) {
    const std::size_t end = std::min(build_log.find('\n', begin), build_log.size() - 1) + 1;
    const std::string_view line = std::string_view(build_log).substr(begin, end - begin);
    const bool of_guard = std::ranges::any_of(
        k_of_guard, [&](std::string_view words) { return line.find(words) != std::string_view::npos; });
    if (!of_guard) rest += line;
    begin = end;
  }
  return rest;
}

std::optional<std::string> forbidden_identifier(std::string_view build_log) {
  const std::size_t at = build_log.find(": attempt to use a poisoned identifier");
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t newline = build_log.rfind('\n', at);
  std::string_view place = build_log.substr(newline == std::string_view::npos ? 0 : newline + 1);
  constexpr std::string_view k_error = "error: ";  // PoCL writes it in front
  if (place.starts_with(k_error)) place.remove_prefix(k_error.size());
  place = place.substr(0, place.find_first_of(" \n"));
  while (place.ends_with(':')) place.remove_suffix(1);
  constexpr std::size_t k_most = 60;
  place = place.substr(0, k_most);
  return fmt::format(
      "the source uses an identifier at {} that candidates may not use, such as those of inline assembly, "
      "of sections and constructors, of functions by address, and #include",
      place);
}

}  // namespace kw
