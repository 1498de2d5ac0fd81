#include "operators/program/testing/image_problem.hpp"

#include "operators/program/parts.hpp"

namespace kw::program_test {

Problem image_problem(const std::string& forward, const std::string& inputs) {
  const std::string module = R"(import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, w=None):
        return )" + forward + R"(
N = 4
C = 16
H = 64
W = 32
def get_inputs():
    return [)" + inputs + R"(]
)";
  const auto text = program_problem_text({module, "some/image.py", "", "", {}, {1e12, 1e12}});
  KW_CHECK(text.has_value(), "{}", text.error().to_string());
  auto problem = parse_problem(*text, "some/image.py");
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

}  // namespace kw::program_test
