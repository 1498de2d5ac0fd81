#include "tests/programs/wrong_kernels.hpp"

namespace kw {
namespace {

constexpr const char* k_conv = "self.c = nn.Conv2d(6, 6, 3, padding=1)";
constexpr const char* k_groups = "self.c = nn.Conv2d(6, 6, 3, padding=1, groups=2)";
constexpr const char* k_norm = "self.n = nn.LayerNorm(W)";
constexpr const char* k_matrices = "torch.rand(H, W), torch.rand(W, W)";

const std::vector<ModulePair> k_pairs = {
    {"mean_for_sum", "x.sum(-1)", "x.mean(-1)"},
    {"softmax_without_the_maximum", "torch.softmax(x, -1)", "torch.exp(x) / torch.exp(x).sum(-1, keepdim=True)"},
    {"logsumexp_without_the_maximum", "torch.logsumexp(x, -1)", "torch.log(torch.exp(x).sum(-1))"},
    {"softmax_over_the_other_axis", "torch.softmax(x, 1)", "torch.softmax(x, 2)"},
    {"maximum_that_starts_at_zero", "torch.amax(x, -1)", "torch.relu(torch.amax(x, -1))"},
    {"largest_magnitude", "torch.amax(x, -1)", "torch.amax(torch.abs(x), -1)"},
    {"last_of_tied_maxima", "torch.argmax(x, -1)", "W - 1 - torch.argmax(torch.flip(x, [3]), -1)"},
    {"gelu_by_tanh", "F.gelu(x)", "F.gelu(x, approximate='tanh')"},
    {"relu_that_stops_at_six", "torch.relu(x) * 2", "F.relu6(x) * 2"},
    {"leak_left_out", "F.leaky_relu(x, 0.01)", "torch.relu(x)"},
    {"variance_of_the_sample", "torch.var(x, -1, unbiased=False)", "torch.var(x, -1)"},
    {"variance_from_squares", "torch.var(x, -1)", "((x * x).mean(-1) - x.mean(-1) ** 2) * (W / (W - 1))"},
    {"epsilon_outside_of_the_root",
     "(x - x.mean(-1, keepdim=True)) / torch.sqrt(torch.var(x, -1, keepdim=True) + 1e-3)",
     "(x - x.mean(-1, keepdim=True)) / (torch.sqrt(torch.var(x, -1, keepdim=True)) + 1e-3)"},
    {"scan_without_its_own_element", "torch.cumsum(x, -1)", "torch.cumsum(x, -1) - x"},
    {"scan_from_the_other_end", "torch.cumsum(x, -1)", "torch.flip(torch.cumsum(torch.flip(x, [3]), -1), [3])"},
    {"bias_left_out", "self.c(x)", "F.conv2d(x, self.c.weight, padding=1) + 0 * self.c.bias.sum()", k_conv},
    {"bias_of_the_wrong_channel", "self.c(x)", "F.conv2d(x, self.c.weight, torch.flip(self.c.bias, [0]), padding=1)",
     k_conv},
    {"last_channel_dropped", "self.c(x)", "F.conv2d(x[:, :5], self.c.weight[:, :5], self.c.bias, padding=1)", k_conv},
    {"kernel_flipped", "self.c(x)", "F.conv2d(x, torch.flip(self.c.weight, [2, 3]), self.c.bias, padding=1)", k_conv},
    {"padding_of_ones", "self.c(x)", "F.conv2d(F.pad(x, (1, 1, 1, 1), value=1.0), self.c.weight, self.c.bias)", k_conv},
    {"padding_counted", "F.avg_pool2d(x, 3, 1, 1, count_include_pad=False)", "F.avg_pool2d(x, 3, 1, 1)"},
    {"pooling_from_zero", "F.max_pool2d(x, 3, 1, 1)", "torch.relu(F.max_pool2d(x, 3, 1, 1))"},
    {"weight_left_out", "self.n(x)", "F.layer_norm(x, (W,)) + self.n.bias + 0 * self.n.weight", k_norm},
    {"norm_of_each_sample", "F.batch_norm(x, None, None, training=True)", "F.instance_norm(x)"},
    {"factor_not_transposed", "x @ more[0].T", "x @ more[0]", "", k_matrices},
    {"last_term_of_a_product_dropped", "x @ more[0]", "x @ more[0] - x[:, -1:] * more[0][-1:]", "", k_matrices},
    {"diagonal_left_out", "torch.tril(x)", "torch.tril(x, -1)"},

    {"constant", "torch.sigmoid(x)", "0 * x + 0.5"},
    {"input_returned", "torch.tanh(x)", "x * 1.0"},

    {"last_group_of_channels_dropped", "self.c(x)",
     "torch.cat([F.conv2d(x, self.c.weight, self.c.bias, padding=1, groups=2)[:, :3], torch.zeros_like(x[:, 3:])], 1)",
     k_groups},
    {"groups_ignored", "self.c(x)", "F.conv2d(x[:, :3], self.c.weight, self.c.bias, padding=1)", k_groups},
    {"stride_that_begins_one_late", "self.c(x)",
     "F.conv2d(torch.roll(x, -1, 3), self.c.weight, self.c.bias, stride=2, padding=1)",
     "self.c = nn.Conv2d(6, 6, 3, stride=2, padding=1)"},
    {"dilation_ignored", "self.c(x)", "F.conv2d(x, self.c.weight, self.c.bias, padding=1)",
     "self.c = nn.Conv2d(6, 6, 3, padding=2, dilation=2)"},
    {"output_padding_ignored", "self.c(x)",
     "F.pad(F.conv_transpose2d(x, self.c.weight, self.c.bias, stride=2, padding=1), (0, 1, 0, 1))",
     "self.c = nn.ConvTranspose2d(6, 4, 3, stride=2, padding=1, output_padding=1)"},
    {"window_beyond_the_end_filled_with_zeros", "F.max_pool2d(x, 3, 2, ceil_mode=True)",
     "F.max_pool2d(F.pad(x, (0, 1, 0, 1)), 3, 2)"},
    {"window_beyond_the_end_divided_as_a_whole_one", "F.avg_pool2d(x, 3, 2, ceil_mode=True)",
     "F.avg_pool2d(F.pad(x, (0, 1, 0, 1)), 3, 2)"},
    {"running_statistics_for_the_batch_s", "self.b(x)", "x * self.b.weight[:, None, None] + self.b.bias[:, None, None]",
     "self.b = nn.BatchNorm2d(6)"},
    {"one_group_for_two", "F.group_norm(x, 2)", "F.group_norm(x, 1)"},
    {"mean_of_every_second_element", "x.mean(-1)", "x[..., ::2].mean(-1)"},
    {"first_sample_for_all", "torch.relu(x)", "torch.relu(x[:1]).expand_as(x)"},
    {"saturated_too_early", "torch.tanh(x)", "torch.tanh(torch.clamp(x, -3, 3))"},
    {"softmax_without_its_last_term", "torch.softmax(x, -1)",
     "torch.softmax(x, -1) / (1 - torch.softmax(x, -1)[..., -1:])"},
    {"future_keys_seen", "F.scaled_dot_product_attention(x, x, x, is_causal=True)",
     "F.scaled_dot_product_attention(x, x, x)"},
    {"label_smoothing_ignored", "F.cross_entropy(x, more[0], label_smoothing=0.1)", "F.cross_entropy(x, more[0])", "",
     "torch.randn(H, W), torch.randint(0, W, (H,))"},
    {"loss_averaged_over_the_batch", "F.mse_loss(x, more[0])", "F.mse_loss(x, more[0], reduction='sum') / B", "",
     "torch.randn(B, W), torch.randn(B, W)"},
};

/// So many rows that few of them are no reason for a wider limit.
constexpr const char* k_many_rows = "torch.rand(900, 40) - 0.5, torch.rand(40, 40) - 0.5";
constexpr const char* k_many_rows_of_one_sign = "torch.rand(900, 40), torch.rand(40, 40)";
constexpr const char* k_product = "sum += x_[(long)i * W + k] * input_1[(long)k * W + j];";
constexpr const char* k_rounded_product =
    "sum += as_float(as_int(x_[(long)i * W + k]) & ~0x1fff) * as_float(as_int(input_1[(long)k * W + j]) & ~0x1fff);";
constexpr const char* k_rounded_factor = "x_in_tf32[id] = rounded_to_tf32(x_[id]);";
constexpr const char* k_factor_of_8_bits = "x_in_tf32[id] = as_float((as_int(x_[id]) + 0x8000) & ~0xffff);";

const std::vector<KernelEdit> k_edits = {
    {"scan_that_begins_anew_at_a_tile", "torch.cumsum(x, -1)", "    sum += x_[",
     "    if (l % 8 == 0) sum = 0.0f;\n    sum += x_["},
    {"sum_for_the_primary_shape_only", "torch.relu(x).sum(-1)", "l < W", "l < 20"},
    {"one_tf32_product_for_f32", "x @ more[0]", k_product, k_rounded_product, k_matrices},
    {"one_tf32_product_that_is_no_convolution", "x @ more[0]", k_product, k_rounded_product, k_matrices,
     "tf32_convolutions"},
    {"factor_of_bf16_for_tf32", "x @ more[0]", k_rounded_factor, k_factor_of_8_bits, k_many_rows, "tf32"},
    {"factors_cut_off_for_tf32", "x @ more[0]", "(rounded.bits + 0x1000u)", "(rounded.bits)", k_many_rows_of_one_sign,
     "tf32"},
    {"convolution_of_bf16_for_tf32", "F.conv2d(x, more[0])", k_rounded_factor, k_factor_of_8_bits,
     "torch.rand(9, 6, 24, 24) - 0.5, torch.rand(8, 6, 3, 3) - 0.5", "tf32_convolutions"},
    {"convolution_of_bf16_of_which_rare_sums_count", "torch.clamp(F.conv2d(x, more[0]) + 1.2, max=0)", k_rounded_factor,
     k_factor_of_8_bits, "torch.rand(9, 6, 24, 24) - 0.5, torch.rand(8, 6, 3, 3) - 0.5", "tf32_convolutions"},
    {"sum_held_in_16_bits", "x @ more[0]", k_product,
     "sum = as_float(as_int(sum + x_[(long)i * W + k] * input_1[(long)k * W + j]) & ~0xffff);", k_matrices},
};

}  // namespace

const std::vector<ModulePair>& wrong_modules() {
  return k_pairs;
}

const std::vector<KernelEdit>& wrong_lines() {
  return k_edits;
}

}  // namespace kw
