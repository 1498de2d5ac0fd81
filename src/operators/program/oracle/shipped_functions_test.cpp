// Functions of program/library/ against the same written out with operators.

#include <gtest/gtest.h>

#include <cmath>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

struct SameFunction {
  const char* shipped = "";
  const char* written_out = "";
  const char* inputs = "torch.rand(3, 4), torch.rand(3, 4)";
};
void PrintTo(const SameFunction& one, std::ostream* out) {
  *out << one.shipped;
}

class ShippedFunctions : public testing::TestWithParam<SameFunction> {};

TEST_P(ShippedFunctions, compute_what_is_written_out) {
  const auto& one = GetParam();
  const auto program = program_of(fmt::format("(({}) * 1.0, ({}) * 1.0)", one.shipped, one.written_out), one.inputs);
  const auto answer = evaluate_graph(program.graph, leaves_of(program), program.outputs);
  ASSERT_TRUE(answer.has_value()) << answer.error().to_string();
  ASSERT_EQ(answer->size(), 2U);
  EXPECT_EQ(shape_text(program.graph.values[program.outputs[0]].type.shape),
            shape_text(program.graph.values[program.outputs[1]].type.shape));
  const auto& values = (*answer)[0].values;
  const auto& expected = (*answer)[1].values;
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-9 * (1.0 + std::fabs(expected[i]))) << i;
}

const SameFunction k_functions[] = {
    {"torch.addr(x, x[:, 0], y[0], beta=2, alpha=3)", "2 * x + 3 * x[:, 0:1] * y[0:1]"},
    {"torch.hstack((x, y))", "torch.cat([x, y], 1)"},
    {"torch.vstack((x, y[0]))", "torch.cat([x, y[0:1]], 0)"},
    {"torch.dstack((x, y))", "torch.stack([x, y], 2)"},
    {"torch.column_stack((x[:, 0], y))", "torch.cat([x[:, 0:1], y], 1)"},
    {"torch.block_diag(x, y[:1, :2])", "torch.cat([F.pad(x, (0, 2)), F.pad(y[:1, :2], (4, 0))], 0)"},
    {"torch.bucketize(x, torch.tensor([-1.0, 0.5, 0.75]))", "(x > -1.0) * 1 + (x > 0.5) * 1 + (x > 0.75) * 1"},
    {"torch.searchsorted(torch.tensor([-1.0, 0.5]), x, right=True)", "(x >= -1.0) * 1 + (x >= 0.5) * 1"},
    {"torch.cartesian_prod(x[0], y[:, 0])", "torch.stack([x[0].repeat_interleave(3), y[:, 0].repeat(4)], 1)"},
    {"torch.cdist(x, y)", "((x[:, None] - y[None]) ** 2).sum(-1).sqrt()"},
    {"torch.cdist(x, y, p=1.0)", "(x[:, None] - y[None]).abs().sum(-1)"},
    {"torch.chain_matmul(x, y.T, x)", "x @ y.T @ x"},
    {"torch.count_nonzero(x, dim=1)", "torch.where(x == 0, 0, 1).sum(1)"},
    {"torch.cov(x)", "(x - x.mean(1, keepdim=True)) @ (x - x.mean(1, keepdim=True)).T / 3"},
    {"torch.cross(x[:, :3], y[:, :3], dim=1)",
     "torch.stack([x[:, 1] * y[:, 2] - x[:, 2] * y[:, 1], x[:, 2] * y[:, 0] - x[:, 0] * y[:, 2], "
     "x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0]], 1)"},
    {"torch.diag_embed(x)", "x[:, :, None] * torch.eye(4)"},
    {"torch.diff(x)", "x[:, 1:] - x[:, :-1]"},
    {"torch.diff(x, n=2, dim=0)", "x[2:] - 2 * x[1:-1] + x[:-2]"},
    {"torch.dist(x, y, 1)", "(x - y).abs().sum()"},
    {"torch.rot90(x)", "torch.stack([x[:, 3], x[:, 2], x[:, 1], x[:, 0]], 0)"},
    {"torch.rot90(x, -1)", "torch.stack([x[2], x[1], x[0]], 1)"},
    {"torch.inner(x, y)", "x @ y.T"},
    {"torch.inner(x[0], y[0])", "(x[0] * y[0]).sum()"},
    {"torch.tensordot(x, y, dims=([0], [0]))", "x.T @ y"},
    {"torch.tensordot(x, more[1], dims=2)", "(x[:, :, None] * more[1]).sum((0, 1))",
     "torch.rand(3, 4), torch.rand(1), torch.rand(3, 4, 2)"},
    {"torch.isclose(x, y + 1e-9)", "torch.where((x - y).abs() < 1e-6, 1, 0)"},
    {"torch.kron(x[:2, :2], y)", "(x[:2, None, :2, None] * y[None, :, None, :]).reshape(6, 8)"},
    {"torch.kron(x[0], y)", "(x[None, None, 0, :, None] * y[None, :, None, :]).reshape(3, 16)"},
    {"torch.ldexp(x, torch.tensor(3))", "8 * x"},
    {"torch.logspace(0, 2, 3) + x[:, :3]", "torch.tensor([1.0, 10.0, 100.0]) + x[:, :3]"},
    {"torch.nanmean(torch.where(x > 0, x, float('nan')), dim=0)",
     "torch.where(x > 0, x, 0.0).sum(0) / (x > 0).float().sum(0)"},
    {"torch.signbit(x)", "torch.where(x < 0, 1, 0)"},
    {"torch.take(x, torch.tensor([0, 5]))", "torch.stack([x[0, 0], x[1, 1]])"},
    {"torch.tensor_split(x, 3, dim=1)[0]", "x[:, :2]"},
    {"torch.tensor_split(x, (1, 3), dim=1)[1]", "x[:, 1:3]"},
    {"torch.trace(x[:3, :3])", "x[0, 0] + x[1, 1] + x[2, 2]"},
    {"torch.trapezoid(x, dx=2.0)", "x[:, 0] + 2 * x[:, 1] + 2 * x[:, 2] + x[:, 3]"},
    {"torch.trapezoid(x, y[:, 0], dim=0)", "((x[1:] + x[:-1]) * (y[1:, :1] - y[:-1, :1]) / 2).sum(0)"},
    {"torch.vander(x[0], 3)", "torch.stack([x[0] ** 2, x[0], torch.ones(4)], 1)"},
    {"torch.cumulative_trapezoid(x[0])", "torch.cumsum((x[0, 1:] + x[0, :-1]) / 2, 0)"},
    {"torch.linalg.matrix_norm(x)", "(x * x).sum().sqrt()"},
    {"torch.linalg.vecdot(x, y)", "(x * y).sum(1)"},
    {"torch.index_add(x, 0, torch.tensor([2, 0, 2]), y)", "torch.stack([x[0] + y[1], x[1], x[2] + y[0] + y[2]])"},
    {"x.clone().index_fill_(1, torch.tensor([1, 3]), 5.0)",
     "torch.stack([x[:, 0], torch.full((3,), 5.0), x[:, 2], torch.full((3,), 5.0)], 1)"},
    {"x.clone().fill_diagonal_(2.0)", "torch.where(torch.eye(3, 4) > 0, 2.0, x)"},
    {"x.sum_to_size(3, 1)", "x.sum(1, keepdim=True)"},
    {"x.clone().zero_() + y", "y"},
    {"F.channel_shuffle(x.view(1, 6, 2), 3)", "x.view(1, 3, 2, 2).transpose(1, 2).reshape(1, 6, 2)"},
};

INSTANTIATE_TEST_SUITE_P(Library, ShippedFunctions, testing::ValuesIn(k_functions));

}  // namespace
}  // namespace kw::program_oracle_test
