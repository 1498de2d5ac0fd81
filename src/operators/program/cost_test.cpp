#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"

namespace kw {
namespace {

/// Bytes of the primary workload of a module whose forward() takes `arguments` and returns `result`.
double bytes_of(const std::string& arguments, const std::string& result, const std::string& inputs) {
  const std::string module =
      "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nN = 100\nV = 300\nW = 8\n"
      "class Model(nn.Module):\n    def forward(self, " +
      arguments + "):\n        return " + result + "\ndef get_inputs():\n    return [" + inputs + "]\n";
  const auto text = program_problem_text({module, "m.py", "", "", {}, {1e30, 1e30}});
  KW_CHECK(text.has_value(), "{}", text.error().to_string());
  const Problem problem = parse_problem(*text, "m.py").value();
  return program_cost(problem, problem.primary()).bytes;
}

TEST(ProgramCost, counts_of_inputs_what_every_kernel_has_to_read) {
  constexpr double k_row = 8 * 4, k_all = 300 * k_row;
  EXPECT_EQ(bytes_of("x", "x * 2", "torch.rand(V, W)"), 2 * k_all);
  EXPECT_EQ(bytes_of("x", "x[:N] * 2", "torch.rand(V, W)"), 2 * 100 * k_row);
  // Indices may name one row alone.
  const double indices = 100 * 4, rows = 100 * k_row;
  EXPECT_EQ(bytes_of("i, x", "F.embedding(i, x)", "torch.randint(0, V, (N,)), torch.rand(V, W)"), indices + rows);
  EXPECT_EQ(bytes_of("i, x", "F.embedding(i, x) + x.sum()", "torch.randint(0, V, (N,)), torch.rand(V, W)"),
            indices + rows + k_all);
}

}  // namespace
}  // namespace kw
