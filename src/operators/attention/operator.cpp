#include "operators/attention/operator.hpp"

#include "operators/attention/cost.hpp"
#include "operators/attention/explain.hpp"
#include "operators/attention/kernels/styles.hpp"
#include "operators/attention/oracle/oracle.hpp"
#include "operators/attention/parts.hpp"

namespace kw {

const Operator& attention_operator() {
  static const Operator k_operator = {
      .format = attention_format(),
      .cost = attention_cost,
      .checks = attention_checks(),
      .oracle = attention_oracle,
      .sampling = {attention_oracle_rows, attention_oracle_sample, attention_oracle_reads},
      .prompts = attention_prompts(),
      .explain = explain_attention,
      .styles = attention_styles};
  return k_operator;
}

}  // namespace kw
