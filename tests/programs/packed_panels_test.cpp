// How the second factor of a product comes into panels for a processor, through the whole verifier.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/programs/modules_on_processor.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;

constexpr const char* k_several_panels = "p < panels_here";
constexpr const char* k_one_panel = "const int lanes = min(16, columns - group);";

struct PackCase {
  ModuleCase module;
  const char* text;  ///< that the kernel has
};

/// Columns of more than one work-group, which sixteen does not divide; steps that sixteen does not divide either.
const std::vector<PackCase> k_packs = {
    {{"rows_of_a_matrix", "x @ more[0]", "", "torch.rand(700, 37), torch.rand(37, 530)"}, k_several_panels},
    {{"rows_of_batches", "x @ more[0]", "", "torch.rand(3, 300, 37), torch.rand(3, 37, 290)"}, k_several_panels},
    {{"rows_of_bf16", "x @ more[0]", "",
      "torch.rand(700, 37, dtype=torch.bfloat16), torch.rand(37, 530, dtype=torch.bfloat16)"},
     k_several_panels},
    {{"two_axes_of_steps", "torch.einsum('bcij,ijd->bcd', x, more[0])", "",
      "torch.rand(2, 350, 7, 11), torch.rand(7, 11, 530)"},
     k_several_panels},
    {{"two_axes_of_columns", "torch.einsum('bi,icd->bcd', x, more[0])", "",
      "torch.rand(700, 37), torch.rand(37, 23, 29)"},
     k_several_panels},
    {{"rows_of_weights", "self.c(x)", "self.c = nn.Linear(37, 530)", "torch.randn(700, 37)"}, k_one_panel},
};

class PackedPanels : public ModulesOnProcessor<PackCase> {};

TEST_P(PackedPanels, are_accepted) {
  const Problem read = problem(GetParam().module);
  const Bundle bundle = emitted(read);
  EXPECT_THAT(bundle.source, HasSubstr(GetParam().text));
  expect_accepted(read, bundle);
}

INSTANTIATE_TEST_SUITE_P(Modules, PackedPanels, testing::ValuesIn(k_packs),
                         [](const auto& one) { return one.param.module.name; });

TEST_F(PackedPanels, that_are_not_all_written_are_rejected) {
  const Problem read = problem(k_packs.front().module);
  expect_rejected(read, emitted(read),
                  {{"p < panels_here", "p < 1"}, {"(long)begin * COLUMNS;", "0;"}, {"l < columns", "l + 1 < columns"}});
}

}  // namespace
}  // namespace kw
