// Every operator that the reader knows has an answer, and no answer is for an operator that it does not know.

#include "operators/program/oracle/answers.hpp"

#include <gmock/gmock.h>

#include "program/operators/operator_table.hpp"

namespace kw::program_oracle {
namespace {

TEST(OracleAnswers, every_operator_of_the_reader_has_one) {
  std::vector<std::string_view> known;
  for (const auto rows : {elementwise_rows(), activation_operator_rows(), binary_rows(), reduction_rows(), scan_rows(),
                          layout_rows(), joining_rows(), indexing_rows(), creation_operator_rows(), product_rows(),
                          recurrence_rows(), convolution_rows(), pooling_rows(), normalisation_rows(), loss_rows()}) {
    for (const auto& row : rows) known.push_back(row.name);
  }
  EXPECT_THAT(oracle_names(), testing::UnorderedElementsAreArray(known));
}

TEST(OracleAnswers, unknown_name_has_none) {
  EXPECT_EQ(oracle_row_named("sort"), nullptr);
}

}  // namespace
}  // namespace kw::program_oracle
