#include "operators/program/operator.hpp"

#include "operators/program/kernels/styles.hpp"
#include "operators/program/parts.hpp"

namespace kw {

const Operator& program_operator() {
  static const Operator k_operator = {.format = program_format(),
                                      .cost = program_cost,
                                      .checks = program_checks(),
                                      .oracle = program_answer,
                                      .sampling = program_sampling(),
                                      .prompts = program_prompts(),
                                      .explain = explain_program,
                                      .styles = program_styles};
  return k_operator;
}

}  // namespace kw
