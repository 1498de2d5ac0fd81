#include "operators/program/explain_kernels.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"
#include "program/explain/text.hpp"

namespace kw {

Result<Explanation> explain_program(const Problem& problem) {
  const ProgramDetail& detail = program_detail(problem);
  Explanation explanation;
  explanation.counted = "that no rewriting avoids";
  std::string text = program_text(detail.program);
  text.pop_back();  // each entry is a line, and this is many
  explanation.lines.push_back(std::move(text));
  explanation.lines.emplace_back(
      detail.domain == InputDomain::real
          ? "inputs     any real numbers"
          : "inputs     only what get_inputs() draws: the module gives no numbers beyond that");
  const auto precision = detail.module.precision;
  explanation.lines.push_back(fmt::format("precision  {}: {}", to_string(precision), words_for(precision)));
  explanation.fields = {{"class", {detail.program.name}},
                        {"mode", {std::string(to_string(detail.program.mode))}},
                        {"nodes", {static_cast<std::int64_t>(detail.program.graph.nodes.size())}},
                        {"inputs", {std::string(to_string(detail.domain))}},
                        {"precision", {std::string(to_string(precision))}}};
  const auto kernels = explain_kernels(problem);
  if (kernels) {
    std::string sections = kernels_text(*kernels);
    sections.pop_back();
    explanation.lines.push_back(std::move(sections));
    explanation.fields.push_back({"kernels", {kernels_table(*kernels)}});
  } else {
    explanation.lines.push_back("kernels    none: " + kernels.error().message);
  }
  return explanation;
}

}  // namespace kw
