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
  explanation.lines.push_back(detail.domain == InputDomain::real
                                  ? "inputs     any real numbers"
                                  : "inputs     only what get_inputs() draws: the module gives no numbers beyond that");
  explanation.fields = {{"class", {detail.program.name}},
                        {"mode", {std::string(to_string(detail.program.mode))}},
                        {"nodes", {static_cast<std::int64_t>(detail.program.graph.nodes.size())}},
                        {"inputs", {std::string(to_string(detail.domain))}}};
  return explanation;
}

}  // namespace kw
