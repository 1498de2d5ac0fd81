// How sums of a processor's tiles come into the output, through the whole verifier.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/programs/modules_on_processor.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* k_places = "places[r]";
constexpr const char* k_rows_without = "if (places[r] < 0) continue;";
constexpr const char* k_by_rows = "store16(";
constexpr const char* k_in_place = "total[(r * COLUMNS + l) / 16] = ";
constexpr const char* k_none = "lanes that there are none of";

struct StoreCase {
  ModuleCase module;
  const char* text;     ///< that the kernel has
  const char* without;  ///< that it does not have
};

/// Columns that sixteen does not divide.
const std::vector<StoreCase> k_stores = {
    {{"rows", "x @ more[0]", "", "torch.rand(33, 40), torch.rand(40, 70)"}, k_by_rows, k_places},
    {{"rows_of_bf16", "F.gelu(x @ more[0])", "",
      "torch.rand(33, 40, dtype=torch.bfloat16), torch.rand(40, 70, dtype=torch.bfloat16)"},
     "vstore16(to_bf16_16(",
     k_places},
    {{"rows_by_axes", "F.softplus(self.c(x)) - 0.5", "self.c = nn.Linear(H * W, B * C)", "torch.randn(41, H * W)"},
     "log1p_16(",
     k_places},
    {{"rows_and_another_tensor", "F.gelu(self.c(x)) * more[0]", "self.c = nn.Linear(48, 67)",
      "torch.randn(41, 48), torch.rand(41, 67)"},
     "erf16(",
     k_places},
    {{"rows_without_lanes", "torch.lgamma(self.c(x))", "self.c = nn.Linear(48, 67)", "torch.randn(41, 48)"},
     "lgamma(",
     k_by_rows},
    {{"columns", "self.c(x)", "self.c = nn.Conv2d(6, 37, 3, padding=1, bias=False)"}, k_places, k_in_place},
    {{"columns_of_f16", "F.mish(self.c(x))", "self.c = nn.Conv2d(6, 37, 3, padding=1, dtype=torch.float16)",
      "torch.rand(B, C, H, W, dtype=torch.float16)"},
     k_in_place,
     k_rows_without},
    {{"columns_by_axes", "F.elu(self.c(x)) * more[0]", "self.c = nn.Conv2d(C, H * 3, 3, padding=1)",
      "torch.randn(B, C, H, W), torch.rand(H * 3, 1, 1)"},
     "expm1_16(",
     k_rows_without},
    {{"columns_and_another_tensor", "F.relu(self.c(x) + more[0])", "self.c = nn.Conv2d(6, 37, 3, padding=1)",
      "torch.randn(B, C, H, W), torch.randn(B, 37, H, W)"},
     "[place]",
     k_in_place},
    {{"columns_and_lines", "self.c(x) * more[0]", "self.c = nn.Conv2d(6, 37, 3, padding=1)",
      "torch.randn(B, C, H, W), torch.randn(H, W)"},
     k_in_place,
     k_rows_without},
    {{"columns_of_some_rows", "F.gelu(self.c(x))", "self.c = nn.ConvTranspose2d(6, 37, 3, stride=2, padding=1)",
      "torch.randn(B, C, H, W)"},
     k_rows_without,
     k_none},
    {{"columns_of_some_rows_without_lanes", "torch.lgamma(self.c(x))",
      "self.c = nn.ConvTranspose2d(6, 37, 3, stride=2, padding=1)", "torch.randn(B, C, H, W)"},
     k_rows_without,
     k_in_place},
    {{"columns_of_phases_without_taps", "F.silu(self.c(x))",
      "self.c = nn.ConvTranspose2d(6, 37, 3, stride=2, padding=1, dilation=2)", "torch.randn(B, C, H, W)"},
     "const int steps = ((y_phase",
     k_none},
    {{"columns_of_groups", "F.silu(self.c(x))", "self.c = nn.Conv2d(6, 74, 3, padding=1, groups=2)"}, k_places, k_none},
};

class VectorStores : public ModulesOnProcessor<StoreCase> {};

TEST_P(VectorStores, are_accepted) {
  const Problem read = problem(GetParam().module);
  const Bundle bundle = emitted(read);
  EXPECT_THAT(bundle.source, HasSubstr(GetParam().text));
  EXPECT_THAT(bundle.source, Not(HasSubstr(GetParam().without)));
  expect_accepted(read, bundle);
}

INSTANTIATE_TEST_SUITE_P(Products, VectorStores, testing::ValuesIn(k_stores),
                         [](const auto& one) { return one.param.module.name; });

TEST_F(VectorStores, are_rejected_where_rows_or_columns_are_others) {
  const Problem read = problem(k_stores[10].module);
  expect_rejected(read, emitted(read),
                  {{k_rows_without, ""},
                   {"for (; l < columns; ++l)", "for (; l < columns - 1; ++l)"},
                   {"places[r] + column_place;", "places[r] + column_place + 1;"}});
}

TEST_F(VectorStores, are_rejected_where_rows_are_taken_for_neighbours_that_are_none) {
  const Problem read = problem(k_stores[5].module);
  expect_rejected(read, emitted(read), {{"places[r + i] - places[r] == i", "places[r + i] - places[r] >= i"}});
}

}  // namespace
}  // namespace kw
