// Shape rules against values worked out by hand from PyTorch's formulas, with odd sizes.

#include <gtest/gtest.h>

#include "program/testing/module_text.hpp"

namespace kw::program_test {
namespace {

struct ShapeCase {
  const char* forward;
  const char* inputs;
  const char* shape;
};

void PrintTo(const ShapeCase& one, std::ostream* out) {
  *out << one.forward << " of " << one.inputs;
}

class Shapes : public testing::TestWithParam<ShapeCase> {};

TEST_P(Shapes, operator_gives_this_shape) {
  EXPECT_EQ(shape_of(std::string("return ") + GetParam().forward, GetParam().inputs), GetParam().shape);
}

constexpr const char* k_image = "torch.rand(2, 6, 17, 13)";
constexpr const char* k_matrix = "torch.rand(5, 7)";
constexpr const char* k_cube = "torch.rand(3, 5, 7)";

INSTANTIATE_TEST_SUITE_P(
    Convolutions, Shapes,
    testing::Values(
        ShapeCase{"F.conv2d(x, torch.rand(4, 6, 3, 5))", k_image, "[2, 4, 15, 9]"},
        ShapeCase{"F.conv2d(x, torch.rand(4, 6, 3, 5), stride=(3, 2), padding=(1, 2))", k_image, "[2, 4, 6, 7]"},
        ShapeCase{"F.conv2d(x, torch.rand(4, 6, 3, 3), dilation=(4, 3))", k_image, "[2, 4, 9, 7]"},
        ShapeCase{"F.conv2d(x, torch.rand(9, 2, 3, 3), groups=3)", k_image, "[2, 9, 15, 11]"},
        ShapeCase{"F.conv2d(x, torch.rand(4, 6, 4, 3), padding='same', dilation=2)", k_image, "[2, 4, 17, 13]"},
        ShapeCase{"F.conv2d(x[0], torch.rand(4, 6, 17, 13), padding='valid')", k_image, "[4, 1, 1]"},
        ShapeCase{"F.conv_transpose2d(x, torch.rand(6, 4, 3, 5), stride=(3, 2))", k_image, "[2, 4, 51, 29]"},
        ShapeCase{"F.conv_transpose2d(x, torch.rand(6, 2, 3, 3), stride=2, padding=1, output_padding=1, groups=3)",
                  k_image, "[2, 6, 34, 26]"},
        ShapeCase{"F.conv_transpose2d(x, torch.rand(6, 4, 3, 3), dilation=(2, 5), output_padding=(1, 4), padding=2)",
                  k_image, "[2, 4, 18, 23]"},
        ShapeCase{"F.unfold(x, (3, 2), stride=2, padding=1)", k_image, "[2, 36, 63]"}));

INSTANTIATE_TEST_SUITE_P(
    Pooling, Shapes,
    testing::Values(ShapeCase{"F.max_pool2d(x, 3)", k_image, "[2, 6, 5, 4]"},
                    ShapeCase{"F.max_pool2d(x, 3, ceil_mode=True)", k_image, "[2, 6, 6, 5]"},
                    ShapeCase{"F.max_pool2d(x, 2, stride=3, padding=1, ceil_mode=True)", k_image, "[2, 6, 6, 5]"},
                    ShapeCase{"F.max_pool2d(x, (3, 2), stride=1, dilation=(2, 3))", k_image, "[2, 6, 13, 10]"},
                    ShapeCase{"F.max_pool2d(x, 2, return_indices=True)[1]", k_image, "[2, 6, 8, 6]"},
                    ShapeCase{"F.avg_pool2d(x, (5, 3), padding=(2, 1), stride=2)", k_image, "[2, 6, 9, 7]"},
                    ShapeCase{"F.adaptive_avg_pool2d(x, (None, 3))", k_image, "[2, 6, 17, 3]"},
                    ShapeCase{"F.interpolate(x, scale_factor=1.5)", k_image, "[2, 6, 25, 19]"},
                    ShapeCase{"F.interpolate(x, size=(5, 40), mode='bilinear')", k_image, "[2, 6, 5, 40]"},
                    ShapeCase{"F.interpolate(x, scale_factor=2, mode='bicubic', recompute_scale_factor=True, "
                              "antialias=False)",
                              k_image, "[2, 6, 34, 26]"},
                    ShapeCase{"F.pixel_shuffle(torch.rand(2, 18, 4, 5), 3)", k_image, "[2, 2, 12, 15]"}));

INSTANTIATE_TEST_SUITE_P(
    Layout, Shapes,
    testing::Values(
        ShapeCase{"x.view(-1, 5)", k_cube, "[21, 5]"}, ShapeCase{"x.reshape(5, -1, 3)", k_cube, "[5, 7, 3]"},
        ShapeCase{"x.permute(-1, 0, 1)", k_cube, "[7, 3, 5]"}, ShapeCase{"x.transpose(-1, 0)", k_cube, "[7, 5, 3]"},
        ShapeCase{"x.mT", k_cube, "[3, 7, 5]"}, ShapeCase{"x.movedim(0, -1)", k_cube, "[5, 7, 3]"},
        ShapeCase{"x.flatten(1)", k_cube, "[3, 35]"}, ShapeCase{"torch.flatten(x, 0, -2)", k_cube, "[15, 7]"},
        ShapeCase{"x.unflatten(2, (7, -1, 1))", k_cube, "[3, 5, 7, 1, 1]"},
        ShapeCase{"x[:1].squeeze(0).unsqueeze(-1)", k_cube, "[5, 7, 1]"},
        ShapeCase{"x[:, 1:-1:2, None, ..., -1]", k_cube, "[3, 2, 1]"}, ShapeCase{"x[..., ::3]", k_cube, "[3, 5, 3]"},
        ShapeCase{"x[1, 7:]", k_cube, "[0, 7]"}, ShapeCase{"x[:, :1].expand(-1, 4, -1)", k_cube, "[3, 4, 7]"},
        ShapeCase{"x.repeat(2, 1, 1, 3)", k_cube, "[2, 3, 5, 21]"},
        ShapeCase{"x.repeat_interleave(2, dim=-2)", k_cube, "[3, 10, 7]"},
        ShapeCase{"torch.cat([x, x[:, :2]], dim=-2)", k_cube, "[3, 7, 7]"},
        ShapeCase{"torch.stack((x, x), dim=-1)", k_cube, "[3, 5, 7, 2]"},
        ShapeCase{"x.chunk(3, dim=2)[2]", k_cube, "[3, 5, 1]"}, ShapeCase{"x.chunk(5, dim=2)[-1]", k_cube, "[3, 5, 1]"},
        ShapeCase{"x.split([1, 6], -1)[1]", k_cube, "[3, 5, 6]"}, ShapeCase{"x.split(3, 2)[2]", k_cube, "[3, 5, 1]"},
        ShapeCase{"x.diagonal(2, 1, 2)", k_cube, "[3, 5]"}, ShapeCase{"x.diagonal(-3, 1, 2)", k_cube, "[3, 2]"},
        ShapeCase{"torch.diagonal(x, offset=1, dim1=-2, dim2=-1)", k_cube, "[3, 5]"},
        ShapeCase{"F.pad(x, (1, 2, 0, 3))", k_cube, "[3, 8, 10]"}, ShapeCase{"F.pad(x, (-2, 0))", k_cube, "[3, 5, 5]"},
        ShapeCase{"torch.arange(3, 17, 4)", k_cube, "[4]"}, ShapeCase{"torch.arange(9, 0, -2)", k_cube, "[5]"},
        ShapeCase{"torch.arange(0, 1, 0.3)", k_cube, "[4]"},
        ShapeCase{"x.gather(2, torch.zeros(3, 2, 9, dtype=torch.long))", k_cube, "[3, 2, 9]"},
        ShapeCase{"x[:, torch.zeros(4, 2, dtype=torch.long)]", k_cube, "[3, 4, 2, 7]"},
        ShapeCase{"x.index_select(1, torch.tensor([0, 2]))", k_cube, "[3, 2, 7]"},
        ShapeCase{"F.one_hot(x.argmax(1), num_classes=5)", k_cube, "[3, 7, 5]"}));

INSTANTIATE_TEST_SUITE_P(
    Products, Shapes,
    testing::Values(
        ShapeCase{"torch.matmul(x, x.mT)", k_cube, "[3, 5, 5]"}, ShapeCase{"x @ torch.rand(7)", k_cube, "[3, 5]"},
        ShapeCase{"torch.rand(5) @ x", k_cube, "[3, 7]"},
        ShapeCase{"torch.rand(2, 1, 4, 5) @ x", k_cube, "[2, 3, 4, 7]"},
        ShapeCase{"torch.addmm(torch.rand(9), x, torch.rand(7, 9))", k_matrix, "[5, 9]"},
        ShapeCase{"torch.baddbmm(torch.rand(3, 1, 2), x, torch.rand(3, 7, 2))", k_cube, "[3, 5, 2]"},
        ShapeCase{"torch.einsum('bij,kj->bki', x, torch.rand(4, 7))", k_cube, "[3, 4, 5]"},
        ShapeCase{"torch.einsum('...i,i', x, torch.rand(7))", k_cube, "[3, 5]"},
        ShapeCase{"torch.einsum('...i,...i->...', x, torch.rand(5, 7))", k_cube, "[3, 5]"},
        ShapeCase{"torch.einsum('b...,b...i->...', torch.rand(3, 7), torch.rand(3, 5, 1, 2))", k_cube, "[5, 7]"},
        ShapeCase{"torch.einsum('ii', x[0, :, :5])", k_cube, "[]"},
        ShapeCase{"torch.outer(x[0], x[1])", k_matrix, "[7, 7]"},
        ShapeCase{"F.scaled_dot_product_attention(x, torch.rand(3, 11, 7), torch.rand(3, 11, 2))", k_cube, "[3, 5, 2]"},
        ShapeCase{"F.bilinear(x, x, torch.rand(4, 7, 7))", k_matrix, "[5, 4]"}));

INSTANTIATE_TEST_SUITE_P(
    Reductions, Shapes,
    testing::Values(ShapeCase{"x.sum((0, -1), keepdim=True)", k_cube, "[1, 5, 1]"}, ShapeCase{"x.mean()", k_cube, "[]"},
                    ShapeCase{"x.max(-2).values", k_cube, "[3, 7]"},
                    ShapeCase{"torch.max(x, dim=1, keepdim=True)[1]", k_cube, "[3, 1, 7]"},
                    ShapeCase{"torch.max(x, x[:, :1])", k_cube, "[3, 5, 7]"},
                    ShapeCase{"x.std(dim=0)", k_cube, "[5, 7]"},
                    ShapeCase{"torch.logsumexp(x, dim=(1, 2))", k_cube, "[3]"},
                    ShapeCase{"x.topk(3, dim=1)[0]", k_cube, "[3, 3, 7]"},
                    ShapeCase{"torch.norm(x, p=2, dim=-1)", k_cube, "[3, 5]"},
                    ShapeCase{"F.glu(x, dim=1)", "torch.rand(3, 6, 7)", "[3, 3, 7]"},
                    ShapeCase{"F.cosine_similarity(x, x[:1], dim=-1)", k_cube, "[3, 5]"},
                    ShapeCase{"F.cross_entropy(x, torch.zeros(3, 7, dtype=torch.long), reduction='none')", k_cube,
                              "[3, 7]"}));

INSTANTIATE_TEST_SUITE_P(
    Refused, Shapes,
    testing::Values(
        ShapeCase{"x + torch.rand(3, 4, 7)", k_cube,
                  "m.py:10:18: shapes [3, 5, 7] and [3, 4, 7] do not broadcast: 5 against 4 on axis 1 [program.shape]"},
        ShapeCase{"x @ x", k_cube,
                  "m.py:10:18: matmul of [3, 5, 7] and [3, 5, 7]: 7 against 5 [program.shape]\n  try: the last axis of "
                  "the first and the second but last of the second must agree"},
        ShapeCase{
            "x.view(4, -1)", k_cube,
            "m.py:10:17: x.view cannot make [4, -1] of [3, 5, 7] [program.shape]\n  try: the tensor has 105 elements"},
        ShapeCase{"x.sum(3)", k_cube,
                  "m.py:10:17: dim 3 of x.sum is out of range for a tensor of 3 axes [program.value]\n  try: write a "
                  "number from -3 to 2"},
        ShapeCase{"F.conv2d(x, torch.rand(4, 3, 3, 3))", k_image,
                  "m.py:10:17: F.conv2d takes 3 channels, but [2, 6, 17, 13] has 6 [program.shape]\n  try: check "
                  "in_channels and groups"},
        ShapeCase{"F.max_pool2d(x, 2, padding=2)", k_image,
                  "m.py:10:17: the padding 2 of F.max_pool2d is more than half of its kernel_size 2 [program.value]"}));

}  // namespace
}  // namespace kw::program_test
