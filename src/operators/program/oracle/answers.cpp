#include "operators/program/oracle/answers.hpp"

#include <algorithm>
#include <array>

namespace kw::program_oracle {
namespace {

std::array<std::span<const OracleRow>, 24> all_oracle_rows() {
  return {unary_answers(),         activation_answers(),  binary_answers(),      blend_answers(),
          distance_answers(),      reduction_answers(),   extremum_answers(),    softmax_answers(),
          scan_answers(),          view_answers(),        rearranging_answers(), joining_answers(),
          indexing_answers(),      creation_answers(),    product_answers(),     einsum_answers(),
          attention_answers(),     convolution_answers(), pooling_answers(),     resampling_answers(),
          normalisation_answers(), pair_loss_answers(),   class_loss_answers(),  recurrence_answers()};
}

}  // namespace

const OracleRow* oracle_row_named(std::string_view name) {
  for (const auto rows : all_oracle_rows()) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const OracleRow& row) { return row.name == name; });
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

std::vector<std::string_view> oracle_names() {
  std::vector<std::string_view> names;
  for (const auto rows : all_oracle_rows()) {
    for (const auto& row : rows) names.push_back(row.name);
  }
  return names;
}

}  // namespace kw::program_oracle
