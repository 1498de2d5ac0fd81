// Fused kernels of every family, on a CPU through PoCL and on the CUDA simulator, through the whole verifier: chosen
// shapes that tiles, lanes and groups do not divide, and random convolutions.

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/rng.hpp"
#include "tests/programs/program_verdicts.hpp"

namespace kw {
namespace {

struct Fused {
  const char* name;
  const char* result;
  const char* inputs;
  const char* init = "";
  // What the family's texts have, and no other's.
  const char* on_cpu = "multiply_add(";
  const char* on_gpu = "begin_tile(";
  friend void PrintTo(const Fused& fused, std::ostream* out) { *out << fused.name; }
};

constexpr const char* k_products_on_cpu = "multiply_add(";
constexpr const char* k_by_warps = "multiply_tile(";
/// Numbers of 16 bits are tf32 numbers.
constexpr const char* k_one_product_each = "begin_rounded_tile(row_tiles";
constexpr const char* k_halves_by_rows = "begin_tile_by_rows(row_tiles";
constexpr const char* k_halves_by_columns = "begin_tile_by_columns(row_tiles";

/// With more than 32 rows and more than a step, so that warpgroups multiply them, where no other text is named.
const std::vector<Fused> k_products = {
    {"odd_extents", "x @ more[0]", "torch.rand(37, 53), torch.rand(53, 29)"},
    {"one_step", "x @ more[0]", "torch.rand(70, 1), torch.rand(1, 150)", "", k_products_on_cpu, k_by_warps},
    {"few_columns", "x @ more[0]", "torch.rand(90, 40), torch.rand(40, 5)"},
    {"few_rows", "x @ more[0]", "torch.rand(5, 40), torch.rand(40, 90)", "", k_products_on_cpu, k_by_warps},
    {"long_sum", "x @ more[0]", "torch.rand(17, 2503), torch.rand(2503, 19)"},
    {"transposed", "x.T @ more[0].T", "torch.rand(41, 33), torch.rand(39, 41)"},
    {"linear_with_bias", "torch.relu(self.c(x)) * 2", "torch.rand(B, H, W)", "self.c = nn.Linear(20, 33)"},
    {"batches", "torch.bmm(x, more[0])", "torch.rand(3, 21, 35), torch.rand(3, 35, 18)", "", k_products_on_cpu,
     k_by_warps},
    {"sums_of_einsum", "torch.einsum('bhqd,bkhd->bhqk', x, more[0])",
     "torch.rand(2, 3, 17, 20), torch.rand(2, 19, 3, 20)", "", k_products_on_cpu, k_by_warps},
    {"einsum_of_four", "torch.einsum('bln,bsn,bls,bsp->blp', x, more[0], more[1], more[2])",
     "torch.rand(2, 40, 24), torch.rand(2, 36, 24), torch.rand(2, 40, 36), torch.rand(2, 36, 16)"},
    {"f16", "torch.sigmoid(x @ more[0])",
     "torch.rand(33, 41, dtype=torch.float16), torch.rand(41, 37, dtype=torch.float16)", "", k_products_on_cpu,
     k_halves_by_columns},
    {"bf16", "F.linear(x, more[0])",
     "torch.rand(33, 41, dtype=torch.bfloat16), torch.rand(37, 41, dtype=torch.bfloat16)", "", k_products_on_cpu,
     k_halves_by_rows},
    {"runs_of_f16", "torch.relu(F.linear(x, more[0]) + more[1])",
     "torch.rand(72, 200, dtype=torch.float16), torch.rand(136, 200, dtype=torch.float16), "
     "torch.rand(136, dtype=torch.float16)",
     "", k_products_on_cpu, k_halves_by_rows},
    {"batches_of_bf16", "torch.bmm(x, more[0]) * 2",
     "torch.rand(3, 70, 72, dtype=torch.bfloat16), torch.rand(3, 72, 88, dtype=torch.bfloat16)", "", k_products_on_cpu,
     k_halves_by_columns},
    {"long_sum_of_f16", "x @ more[0]",
     "torch.rand(34, 2504, dtype=torch.float16) - 0.5, torch.rand(2504, 16, dtype=torch.float16)", "",
     k_products_on_cpu, k_halves_by_columns},
    {"steps_of_f16_far_apart", "x.T @ more[0]",
     "torch.rand(41, 35, dtype=torch.float16), torch.rand(41, 37, dtype=torch.float16)", "", k_products_on_cpu,
     k_one_product_each},
    {"map_of_a_factor_of_bf16", "torch.relu(x - 0.5) @ more[0]",
     "torch.rand(37, 53, dtype=torch.bfloat16), torch.rand(53, 29, dtype=torch.bfloat16)", "", k_products_on_cpu,
     k_one_product_each},
    {"map_of_a_factor", "torch.relu(x - 0.5) @ more[0]", "torch.rand(37, 53), torch.rand(53, 29)"},
    {"convolution", "self.c(x)", "torch.rand(B, C, H, W)", "self.c = nn.Conv2d(6, 37, 3, padding=1)"},
    {"strided_dilated_grouped", "self.c(x)", "torch.rand(B, C, H, W)",
     "self.c = nn.Conv2d(6, 70, (3, 2), stride=2, dilation=(1, 3), padding=(2, 1), groups=2)"},
    {"convolution_in_1d", "self.c(x)", "torch.rand(B, C, 61)", "self.c = nn.Conv1d(6, 37, 5, padding='same')"},
    {"convolution_in_3d", "self.c(x)", "torch.rand(2, 5, 6, 7, 8)",
     "self.c = nn.Conv3d(5, 37, (1, 2, 3), padding=(0, 1, 1), bias=False)"},
    {"transposed_convolution", "self.c(x)", "torch.rand(B, C, H, W)",
     "self.c = nn.ConvTranspose2d(6, 37, 3, padding=1)"},
    {"transposed_convolution_by_phases", "self.c(x)", "torch.rand(B, C, H, W)",
     "self.c = nn.ConvTranspose2d(6, 37, 3, stride=2, padding=1, output_padding=1)"},
    {"phases_without_taps", "self.c(x)", "torch.rand(1, 12, 3, 4, 5)",
     "self.c = nn.ConvTranspose3d(12, 70, (3, 5, 2), stride=(2, 3, 4), padding=(1, 2, 0), dilation=(2, 1, 3), "
     "groups=2)"},
};

constexpr const char* k_rows_on_cpu = "ROWS_PER_ITEM";
constexpr const char* k_any_kernel = "";
constexpr const char* k_columns = "columns[line][at]";
constexpr const char* k_four_columns = "make_float4(fours[0]";
/// Of rows: four neighbours at a time.
constexpr const char* k_fours = "fours - 1) * 4;";
constexpr const char* k_windows_alone = "if (top + WINDOW_LINES <= ";
constexpr const char* k_tiles = "float sums[WINDOW_LINES][1];";
constexpr const char* k_tiles_of_a_line = "float sums[1];";
constexpr const char* k_four_windows = "*(float4*)&stored[";
/// Where lines of outputs are not of fours.
constexpr const char* k_four_windows_apart = "exchanged[threadIdx.x][side]";

const std::vector<Fused> k_rows_and_maps = {
    {"softmax", "torch.softmax(x * 9, -1)", "torch.rand(9, 1203)", "", "exp16(", "ROW_THREADS"},
    {"softmax_of_channels", "torch.softmax(x, 1)", "torch.rand(3, 40, 7, 23)", "", "_of_rows", "SHORT_LANE_THREADS"},
    {"short_rows", "torch.log_softmax(x, -1)", "torch.rand(50, 5)", "", k_rows_on_cpu, "SHORT_ROW_THREADS"},
    {"layer_norm", "torch.relu(self.c(x))", "torch.rand(5, 7, 267)", "self.c = nn.LayerNorm(267)", k_rows_on_cpu,
     "ROW_THREADS"},
    {"batch_norm", "self.c(x)", "torch.rand(B, C, H, W)", "self.c = nn.BatchNorm2d(6)", k_rows_on_cpu, "ROW_THREADS"},
    {"mean_of_all", "((x - more[0]) ** 2).mean()", "torch.rand(70, 1001), torch.rand(70, 1001)", "", "sum_of(",
     "ROW_THREADS"},
    {"product_and_norm", "self.c(x @ more[0])", "torch.rand(33, 40), torch.rand(40, 900)", "self.c = nn.LayerNorm(900)",
     "multiply_add(", "ROW_THREADS"},
    {"place_of_the_largest", "torch.argmax(x, -1)", "torch.rand(40, 301)", "", k_rows_on_cpu, "ROW_THREADS"},
    {"log_of_a_sum", "torch.logsumexp(x * 30, -1)", "torch.rand(40, 301)", "", k_rows_on_cpu, "ROW_THREADS"},
    {"product_of_rows", "torch.prod(x + 0.5, 1)", "torch.rand(6, 90, 17)", "", "_of_rows", "SHORT_LANE_THREADS"},
    {"map_with_broadcast", "torch.tanh(x) * more[0] + more[1]", "torch.rand(6, 703), torch.rand(703), torch.rand(6, 1)",
     "", "store16(", "MAP_ELEMENTS"},
    {"map_of_f16", "F.gelu(x)", "torch.rand(6, 703, dtype=torch.float16)", "", "vstore_half16(", "MAP_ELEMENTS"},
    {"map_of_bf16", "x * 2 - 1", "torch.rand(6, 703, dtype=torch.bfloat16)", "", "to_bf16_16(", "MAP_ELEMENTS"},
    {"choice", "torch.where(x > more[0], x, -more[0])", "torch.rand(9, 503), torch.rand(503)", "", "select(",
     "MAP_ELEMENTS"},
    {"thin_product", "x @ more[0]", "torch.rand(3, 1301), torch.rand(1301, 3)", "", k_rows_on_cpu, "ROW_THREADS"},
    {"small_product_with_maps", "torch.relu(x @ more[0] + 1)", "torch.rand(7, 5, 9), torch.rand(9, 6)", "",
     k_any_kernel, k_any_kernel},
    {"product_of_integers", "x @ more[0] + 1", "torch.randint(0, 9, (37, 53)), torch.randint(0, 9, (53, 29))", "",
     k_rows_on_cpu, "ROW_THREADS"},
    {"counted_truths", "(x > 0.3).sum(1) * 0.5", "torch.rand(70, 301)", "", k_rows_on_cpu, "ROW_THREADS"},
    {"sum_of_a_linear", "(self.c(x) / 2).sum(1, keepdim=True) * 1.5", "torch.rand(70, 301)",
     "self.c = nn.Linear(301, 90)", k_any_kernel, k_any_kernel},
    {"sum_of_a_product", "(x @ more[0]).sum(-1).unsqueeze(1).max(1, keepdim=True)[0]",
     "torch.rand(70, 301), torch.rand(301, 90)", "", k_any_kernel, k_any_kernel},
    {"constant_part", "torch.softmax(self.c(x), 1) * torch.exp(x)", "torch.rand(70, 301)", "self.c = nn.Linear(301, 1)",
     k_any_kernel, k_any_kernel},
    {"running_sum", "torch.cumsum(x, 1) * 2", "torch.rand(6, 1501)", "", k_any_kernel, "SCAN_THREADS"},
    {"running_log_of_a_sum_with_maps", "torch.logcumsumexp(x, 1) / (more[0] + 0.5) * 0.3",
     "torch.rand(6, 150), torch.rand(6, 150)", "", k_any_kernel, k_any_kernel},
    {"log_of_a_sum_with_maps", "torch.logsumexp(x * 9, -1) / more[0] * 0.3",
     "torch.rand(40, 301), torch.rand(40) + 0.5", "", k_rows_on_cpu, "ROW_THREADS"},
    {"running_product_of_columns", "torch.cumprod(x + 0.5, 0)", "torch.rand(301, 5)", "", k_any_kernel, "SCAN_THREADS"},
};

const std::vector<Fused> k_parts_and_windows = {
    {"weights_of_long_rows", "x * more[0] + more[1]", "torch.rand(3, 262150), torch.rand(262150), torch.rand(262150)",
     "", k_any_kernel, "const int row = blockIdx.x % rows"},
    {"rows_of_a_warp", "torch.softmax(x * 9, -1)", "torch.rand(3001, 70)", "", k_any_kernel, "WARP_ROW_THREADS"},
    {"places_in_rows_of_a_warp", "torch.argmin(x, -1)", "torch.rand(3001, 70)", "", k_any_kernel, "WARP_ROW_THREADS"},
    {"mean_and_variance_at_once", "torch.var(x + 300, -1)", "torch.rand(5, 3003)", "", k_any_kernel, "other_squares"},
    {"norm_in_parts", "self.c(x + 50)", "torch.rand(8, 3, 61, 101)", "self.c = nn.BatchNorm2d(3)", k_any_kernel,
     "_variance_parts"},
    {"norm_of_columns_in_parts", "self.c(x - 3)", "torch.rand(20001, 7)", "self.c = nn.BatchNorm1d(7)", k_any_kernel,
     "_variance_parts"},
    {"sum_over_groups_in_parts", "self.c(x).mean((1, 2, 3))", "torch.rand(2, 6, 91, 101)",
     "self.c = nn.GroupNorm(3, 6)", k_any_kernel, "_parts"},
    {"exponentials_in_one_reading", "torch.log_softmax(x * 50 - 900, -1)", "torch.rand(9, 3001)", "", k_any_kernel,
     "most = larger(most, values[part])"},
    {"exponentials_of_columns", "torch.logsumexp(x * 50 - 900, 1)", "torch.rand(3, 90, 70)", "", k_any_kernel,
     "most = larger(most, values[part])"},
    {"exponentials_of_rows_of_a_warp", "torch.logsumexp(x * 90, -1) + 1", "torch.rand(3001, 70)", "", k_any_kernel,
     "best = larger(best, values[part])"},
    {"sum_of_a_transposed_convolution", "self.c(x).mean((2, 3), keepdim=True) * 3", "torch.rand(B, C, H, W)",
     "self.c = nn.ConvTranspose2d(6, 37, 3)", "_sums", "_sums"},
    {"sum_of_phases", "(self.c(x) * 0.5).mean((2, 3))", "torch.rand(B, C, H, W)",
     "self.c = nn.ConvTranspose2d(6, 37, 3, stride=2, padding=1, output_padding=1)", "_sums", "_sums"},
    {"sum_along_one_axis_of_a_convolution", "torch.tanh(self.c(x).sum(2, keepdim=True))", "torch.rand(2, 6, 7, 8, 19)",
     "self.c = nn.Conv3d(6, 20, 3, padding=1, stride=(1, 2, 1))", "_sums", "_sums"},
    {"sum_over_the_batch_of_a_linear", "(self.c(x) / 3).mean(0) - 1", "torch.rand(90, 70)",
     "self.c = nn.Linear(70, 41)", "_sums", "_sums"},
    {"pooled_convolution", "F.avg_pool2d(self.c(x), 3) + 1", "torch.rand(B, C, 23, 26)",
     "self.c = nn.Conv2d(6, 37, 3, padding=1)", "_filter", "_filter"},
    {"pooled_overlapping", "F.avg_pool2d(self.c(x) * 2, (2, 3), 2)", "torch.rand(B, C, 23, 26)",
     "self.c = nn.Conv2d(6, 24, (2, 3), stride=(2, 1), groups=2)", "_filter", "_filter"},
    {"pooled_phases", "F.avg_pool3d(self.c(x) * 0.3, 2)", "torch.rand(2, 3, 5, 6, 7)",
     "self.c = nn.ConvTranspose3d(3, 16, 3, stride=2, padding=1)", "_filter", "_filter"},
    {"pooled_transposed", "F.avg_pool1d(self.c(x), 4, 2)", "torch.rand(2, 9, 61)",
     "self.c = nn.ConvTranspose1d(9, 16, 3, stride=2, padding=1, output_padding=1)", "_filter", "_filter"},
    {"fours", "torch.tanh(x) * more[0] + more[1]", "torch.rand(6, 4700), torch.rand(4700), torch.rand(6, 1)", "",
     k_any_kernel, "make_float4("},
    {"sum_from_the_end", "torch.flip(torch.cumsum(torch.flip(x, [1]), 1), [1])", "torch.rand(6, 1501)", "",
     k_any_kernel, "1500 - j] = elements[at]"},
    {"sum_from_the_end_of_columns", "torch.cumsum(x.flip(0), 0).flip(0)", "torch.rand(301, 5)", "", k_any_kernel,
     "SCAN_THREADS"},
    {"fours_of_short_rows", "torch.tanh(x) * more[0] + more[1]",
     "torch.rand(6, 30, 5, 12), torch.rand(30, 1, 1), torch.rand(5, 12)", "", k_any_kernel, "make_float4("},
    {"short_rows_that_four_does_not_divide", "(x - more[0]) * more[1].T.unsqueeze(2)",
     "torch.rand(6, 31, 5), torch.rand(31, 5), torch.rand(31, 6)", "", k_any_kernel, "MAP_ELEMENTS"},
    {"fours_of_a_choice", "torch.cat([x, more[0]], 0) * 2", "torch.rand(6, 700), torch.rand(3, 700)", "", k_any_kernel,
     "MAP_ELEMENTS"},
    {"largest_of_all", "torch.amax(x * 2)", "torch.rand(7, 61, 303)", "", k_any_kernel, "_parts"},
    {"largest_of_windows", "F.max_pool2d(x, 3, 2, 1)", "torch.rand(B, C, 23, 37)", "", k_any_kernel, k_columns},
    {"average_without_padding", "F.avg_pool2d(x, (2, 3), (1, 2), (1, 1), count_include_pad=False)",
     "torch.rand(B, C, 19, 45)", "", k_any_kernel, k_columns},
    {"dilated_windows_in_1d", "F.max_pool1d(x, 4, 1, 2, 3)", "torch.rand(3, 5, 1301)", "", k_any_kernel, k_columns},
    {"averages_in_3d_with_maps", "F.avg_pool3d(torch.tanh(x), 3, 2, 1) * 2 + 1", "torch.rand(2, 3, 9, 11, 35)", "",
     k_any_kernel, k_columns},
    {"distinct_windows", "F.avg_pool2d(x, 5)", "torch.rand(2, 3, 61, 67)", "", k_any_kernel, k_columns},
    {"windows_that_overhang", "F.max_pool2d(x, 3, 2, 0, ceil_mode=True)", "torch.rand(2, 3, 22, 46)", "", k_any_kernel,
     k_columns},
    {"rows_in_fours", "torch.softmax(x * 9, -1)", "torch.rand(9, 1204)", "", k_any_kernel, k_fours},
    {"rows_of_a_warp_in_fours", "torch.softmax(x * 9, -1)", "torch.rand(1101, 256)", "", k_any_kernel, k_fours},
    {"maps_of_rows_in_fours", "self.c(x)", "torch.rand(3, 5, 1024)", "self.c = nn.LayerNorm(1024)", k_any_kernel,
     "places[four]"},
    {"moments_in_fours", "torch.var(x + 300, -1)", "torch.rand(5, 3004)", "", k_any_kernel, k_fours},
    {"parts_in_fours", "((x - more[0]) ** 2).mean()", "torch.rand(90, 1000), torch.rand(90, 1000)", "", k_any_kernel,
     k_fours},
    {"rows_that_four_does_not_divide", "torch.softmax(x * 9, -1)", "torch.rand(9, 60 * W + 1)", "", k_any_kernel,
     k_fours},
    {"parts_of_several_axes_in_fours", "torch.relu(1 - x * more[0]).mean()", "torch.rand(301, 300), torch.rand(300)",
     "", k_any_kernel, "next_j * 4"},
    {"norm_in_fours", "self.c(x + 50)", "torch.rand(8, 3, 62, 102)", "self.c = nn.BatchNorm2d(3)", k_any_kernel,
     k_fours},
    {"places_in_fours", "torch.argmax(x, -1)", "torch.rand(40, 300)", "", k_any_kernel, k_fours},
    {"choice_in_fours", "(torch.where(x > 0.5, more[0], x) * x).sum(-1)", "torch.rand(9, 1204), torch.rand(1204)", "",
     k_any_kernel, k_fours},
    {"running_sum_in_fours", "torch.cumsum(x * more[0], 1) * 2", "torch.rand(6, 1500), torch.rand(1500)", "",
     k_any_kernel, "fours_written"},
    {"running_product_of_f16", "torch.cumprod(x + 0.5, 1)", "torch.rand(6, 150, dtype=torch.float16)", "", k_any_kernel,
     "SCAN_THREADS"},
    {"exclusive_sum", "torch.cat((torch.zeros_like(x[:, :1]), torch.cumsum(x[:, :-1], 1)), 1)", "torch.rand(6, 1500)",
     "", k_any_kernel, "following[item] = j < 1 ? 0.0f"},
    {"exclusive_product_by_three", "torch.cat((torch.ones_like(x[:3]), torch.cumprod(x[:-3] + 0.5, 0)), 0)",
     "torch.rand(301, 5)", "", k_any_kernel, "following[item] = i < 3 ? 1.0f"},
    {"sum_behind_other_numbers", "torch.cat((torch.ones_like(x[:, :1]), torch.cumsum(x[:, :-1], 1)), 1)",
     "torch.rand(6, 301)", "", k_any_kernel, "j < 1 ? 1.0f : cumsum"},
    {"short_sum_of_warps", "x @ more[0]", "torch.rand(70, 1), torch.rand(1, 150)", "", k_any_kernel,
     "TILE_THREADS, RESIDENT_SHORT_BLOCKS"},
    {"attention", "F.scaled_dot_product_attention(x, more[0], more[1])",
     "torch.rand(2, 40, 33), torch.rand(2, 48, 33), torch.rand(2, 48, 300)", "", k_any_kernel, "_factor["},
    {"outputs_in_fours", "torch.relu(x @ more[0] + more[1])", "torch.rand(70, 50), torch.rand(50, 68), torch.rand(68)",
     "", k_any_kernel, "make_float4(results[0]"},
    {"maps_of_short_rows", "torch.tanh(x) * more[0]", "torch.rand(37, 300), torch.rand(37, 1)", "", k_any_kernel,
     "MAP_THREADS / 64) + threadIdx.x / 64"},
    {"dilated_windows_in_fours", "F.max_pool1d(x, 4, 1, 2, 3)", "torch.rand(3, 5, 1300)", "", k_any_kernel,
     k_four_columns},
    {"averages_in_1d_in_fours", "F.avg_pool1d(x, 8, 1, 4)", "torch.rand(3, 5, 1300)", "", k_any_kernel, k_four_columns},
    {"averages_of_a_map_in_fours", "F.avg_pool2d(torch.tanh(x), 2) * 2 + 1", "torch.rand(2, 3, 30, 48)", "",
     k_any_kernel, k_four_columns},
    {"windows_of_one_line_that_four_does_not_divide", "F.avg_pool1d(x, 7, 3)", "torch.rand(1, 1, 1303)", "",
     k_any_kernel, k_columns},
    {"depthwise_of_wide_windows", "self.c(x)", "torch.rand(2, 3, 23, 41)",
     "self.c = nn.Conv2d(3, 3, (3, 21), padding=(1, 10), groups=3)", k_any_kernel, k_windows_alone},
};

/// Windows that work-items reduce as tiles: with four outputs side by side or one, with lines or without.
const std::vector<Fused> k_tiled_windows = {
    {"windows_in_fours", "F.max_pool2d(x, 3, 2, 1)", "torch.rand(B, C, 24, 36)", "", k_any_kernel,
     k_four_windows_apart},
    {"windows_without_padding_in_fours", "F.avg_pool2d(x, (2, 5), (1, 3))", "torch.rand(2, 3, 17, 68)", "",
     k_any_kernel, k_four_windows_apart},
    {"averages_in_3d_in_fours", "F.avg_pool3d(torch.relu(x), 3, 2, 1) * 2 + 1", "torch.rand(2, 3, 9, 11, 36)", "",
     k_any_kernel, k_four_windows_apart},
    {"windows_of_one_line_in_fours", "F.avg_pool1d(x, 7, 3)", "torch.rand(1, 1, 1304)", "", k_any_kernel,
     k_four_windows_apart},
    {"depthwise", "self.c(x)", "torch.rand(B, C, H, W)", "self.c = nn.Conv2d(6, 6, 3, padding=1, groups=6)",
     k_any_kernel, k_four_windows},
    {"depthwise_strided", "torch.relu(self.c(x))", "torch.rand(2, C, 23, 41)",
     "self.c = nn.Conv2d(6, 12, (3, 2), stride=(2, 1), dilation=(1, 2), groups=6)", k_any_kernel, k_tiles},
    {"depthwise_in_1d", "self.c(x)", "torch.rand(3, 5, 301)", "self.c = nn.Conv1d(5, 5, 7, padding=3, groups=5)",
     k_any_kernel, k_tiles_of_a_line},
    {"depthwise_of_odd_lines", "self.c(x) * more[0]", "torch.rand(2, C, 13, 21), torch.rand(2, C, 13, 21)",
     "self.c = nn.Conv2d(6, 6, 3, padding=1, groups=6)", k_any_kernel, k_tiles},
    {"depthwise_in_1d_in_fours", "torch.tanh(self.c(x)) + more[0]", "torch.rand(3, 5, 304), torch.rand(10, 304)",
     "self.c = nn.Conv1d(5, 10, 7, padding=3, groups=5)", k_any_kernel, k_four_windows},
    {"depthwise_without_padding_in_fours", "torch.relu(self.c(x) + more[0])",
     "torch.rand(B, C, 13, 36), torch.rand(C, 1, 34)", "self.c = nn.Conv2d(6, 6, 3, groups=6)", k_any_kernel,
     k_four_windows_apart},
    {"depthwise_strided_and_dilated_in_fours", "self.c(x)", "torch.rand(2, 6, 29, 72)",
     "self.c = nn.Conv2d(6, 6, (3, 5), stride=(2, 2), padding=(3, 4), dilation=(3, 2), groups=6)", k_any_kernel,
     k_four_windows},
    {"depthwise_in_3d_in_fours", "self.c(x) + more[0]", "torch.rand(2, 3, 7, 9, 40), torch.rand(3, 7, 9, 40)",
     "self.c = nn.Conv3d(3, 3, 3, padding=1, groups=3)", k_any_kernel, k_four_windows},
    {"depthwise_of_a_map_in_fours", "self.c(torch.relu(x - 0.5) * more[0])", "torch.rand(2, 5, 30, 48), torch.rand(48)",
     "self.c = nn.Conv2d(5, 5, 5, padding=2, groups=5)", k_any_kernel, k_four_windows},
    {"depthwise_of_two_channels_in_fours", "self.c(x)", "torch.rand(2, 6, 17, 32)",
     "self.c = nn.Conv2d(6, 3, 3, padding=1, groups=3)", k_any_kernel, k_four_windows},
    {"depthwise_of_f16", "self.c(x)", "torch.rand(2, 6, 17, 32, dtype=torch.float16)",
     "self.c = nn.Conv2d(6, 6, 3, padding=1, groups=6, dtype=torch.float16)", k_any_kernel, k_tiles},
    {"dilated_windows_in_3d_in_fours", "F.max_pool3d(x, 3, 2, 1, 3)", "torch.rand(2, 3, 15, 17, 68)", "", k_any_kernel,
     k_four_windows},
    {"windows_that_overhang_in_fours", "F.max_pool2d(x, 3, 2, 0, ceil_mode=True)", "torch.rand(2, 3, 22, 48)", "",
     k_any_kernel, k_four_windows},
    {"averages_without_padding_in_fours", "F.avg_pool2d(x, 3, 1, 1, count_include_pad=False)",
     "torch.rand(2, 3, 19, 44)", "", k_any_kernel, k_four_windows},
};

/// Convolutions whose patches of an image all taps read: sizes that no tile and no chunk of channels divides.
const std::vector<Fused> k_convolutions = {
    {"padded", "self.c(x)", "torch.rand(2, 9, 13, 21)", "self.c = nn.Conv2d(9, 37, 3, padding=1)"},
    {"few_channels", "torch.relu(self.c(x)) * 2", "torch.rand(2, 3, 19, 23)", "self.c = nn.Conv2d(3, 70, 3)"},
    {"strided_and_dilated", "self.c(x) + more[0]", "torch.rand(3, 5, 29, 31), torch.rand(70, 1, 1)",
     "self.c = nn.Conv2d(5, 70, (3, 2), stride=(2, 3), padding=(2, 1), dilation=(1, 2))"},
    {"three_lines_apart", "self.c(x)", "torch.rand(4, 10, 31, 33)",
     "self.c = nn.Conv2d(10, 66, (2, 5), stride=(3, 2), padding=(1, 0), dilation=(2, 1), bias=False)"},
    {"grouped", "self.c(x)", "torch.rand(2, 12, 17, 19)", "self.c = nn.Conv2d(12, 130, 3, padding=1, groups=2)"},
    {"pointwise", "self.c(x)", "torch.rand(3, 13, 17, 19)", "self.c = nn.Conv2d(13, 70, 1)"},
    {"pointwise_strided", "self.c(x)", "torch.rand(3, 13, 17, 29)", "self.c = nn.Conv2d(13, 70, 1, stride=2)"},
    {"in_1d", "self.c(x)", "torch.rand(3, 6, 301)", "self.c = nn.Conv1d(6, 37, 5, padding='same')"},
    {"in_1d_strided_and_dilated", "self.c(x)", "torch.rand(3, 9, 401)",
     "self.c = nn.Conv1d(9, 70, 3, stride=3, padding=2, dilation=4)"},
    {"in_3d", "self.c(x)", "torch.rand(2, 5, 7, 11, 13)",
     "self.c = nn.Conv3d(5, 37, (2, 3, 3), stride=(2, 1, 1), padding=(1, 1, 0))"},
    {"transposed", "self.c(x)", "torch.rand(2, 9, 13, 21)", "self.c = nn.ConvTranspose2d(9, 37, (3, 2), padding=1)"},
    {"transposed_by_phases", "torch.tanh(self.c(x))", "torch.rand(2, 9, 13, 17)",
     "self.c = nn.ConvTranspose2d(9, 66, 3, stride=2, padding=1, output_padding=1)"},
    {"transposed_and_dilated", "self.c(x)", "torch.rand(2, 6, 11, 14)",
     "self.c = nn.ConvTranspose2d(6, 70, (3, 4), stride=(3, 2), padding=(1, 2), dilation=(2, 3))"},
    {"transposed_in_1d", "self.c(x)", "torch.rand(3, 10, 201)",
     "self.c = nn.ConvTranspose1d(10, 70, 5, stride=2, dilation=3, groups=2)"},
    {"transposed_in_3d", "self.c(x)", "torch.rand(2, 6, 4, 5, 9)",
     "self.c = nn.ConvTranspose3d(6, 66, 3, stride=2, padding=1, output_padding=1)"},
};
constexpr const char* k_by_patches = "load_patch(";
const IntBindings k_patches = {{"PATCHES", 1}};
const IntBindings k_tf32_patches = {{"PATCHES", 1}, {"SCALED", 2}};

/// The kernels of the family, and the verdict on them.
void expect_accepted(const ProgramVerdicts& device, const std::string& module, const char* of_family,
                     const std::string& arch = "", const std::string& precision = "", const IntBindings& structure = {},
                     const IntBindings& tunables = {}) {
  const Problem problem = problem_of_module(module, "m.py", "", k_any_steps, precision);
  const Bundle bundle = with_defaults(device.emitted(problem, "fused", arch, structure), tunables);
  EXPECT_NE(bundle.to_text().find(of_family), std::string::npos) << "of another family:\n" << module;
  const Verdict verdict = device.verdict_of(problem, bundle);
  EXPECT_TRUE(verdict.accepted()) << module << verdict.message << "\n" << bundle.to_text();
}

class FusedOnCpu : public testing::TestWithParam<Fused> {
 protected:
  static void SetUpTestSuite() { device_ = std::make_unique<ProgramVerdicts>("opencl:0", "opencl"); }
  static void TearDownTestSuite() { device_.reset(); }
  static inline std::unique_ptr<ProgramVerdicts> device_;
};

TEST_P(FusedOnCpu, is_accepted) {
  expect_accepted(*device_, module_of(GetParam().result, GetParam().init, GetParam().inputs), GetParam().on_cpu);
}

INSTANTIATE_TEST_SUITE_P(Products, FusedOnCpu, testing::ValuesIn(k_products),
                         [](const auto& one) { return std::string(one.param.name); });
INSTANTIATE_TEST_SUITE_P(RowsAndMaps, FusedOnCpu, testing::ValuesIn(k_rows_and_maps),
                         [](const auto& one) { return std::string(one.param.name); });
INSTANTIATE_TEST_SUITE_P(PartsAndWindows, FusedOnCpu, testing::ValuesIn(k_parts_and_windows),
                         [](const auto& one) { return std::string(one.param.name); });
INSTANTIATE_TEST_SUITE_P(TiledWindows, FusedOnCpu, testing::ValuesIn(k_tiled_windows),
                         [](const auto& one) { return std::string(one.param.name); });

class FusedOnSimulator : public testing::TestWithParam<Fused> {
 protected:
  static void SetUpTestSuite() { device_ = std::make_unique<ProgramVerdicts>("sim", "cuda"); }
  static void TearDownTestSuite() { device_.reset(); }
  static inline std::unique_ptr<ProgramVerdicts> device_;
};

TEST_P(FusedOnSimulator, is_accepted_without_findings) {
  expect_accepted(*device_, module_of(GetParam().result, GetParam().init, GetParam().inputs), GetParam().on_gpu);
}

/// Tensor cores without the instructions of a warpgroup, and threads alone.
TEST_P(FusedOnSimulator, is_accepted_as_older_chips_have_it) {
  const auto& one = GetParam();
  const bool is_product = std::string_view(one.on_cpu) == k_products_on_cpu;
  if (!is_product) return;
  const auto module = module_of(one.result, one.init, one.inputs);
  expect_accepted(*device_, module, "multiply_add(", "sm_80");
  expect_accepted(*device_, module, "multiply_tile(", "sm_75");
}

INSTANTIATE_TEST_SUITE_P(Products, FusedOnSimulator, testing::ValuesIn(k_products),
                         [](const auto& one) { return std::string(one.param.name); });
INSTANTIATE_TEST_SUITE_P(RowsAndMaps, FusedOnSimulator, testing::ValuesIn(k_rows_and_maps),
                         [](const auto& one) { return std::string(one.param.name); });
INSTANTIATE_TEST_SUITE_P(PartsAndWindows, FusedOnSimulator, testing::ValuesIn(k_parts_and_windows),
                         [](const auto& one) { return std::string(one.param.name); });
INSTANTIATE_TEST_SUITE_P(TiledWindows, FusedOnSimulator, testing::ValuesIn(k_tiled_windows),
                         [](const auto& one) { return std::string(one.param.name); });

class WindowsOnSimulator : public FusedOnSimulator {};

TEST_P(WindowsOnSimulator, are_accepted_of_other_tiles) {
  const auto& one = GetParam();
  const auto module = module_of(one.result, one.init, one.inputs);
  for (const std::int64_t lines : {1, 2, 4}) {
    expect_accepted(*device_, module, one.on_gpu, "", "", {},
                    {{"WINDOW_LINES", 8 / lines}, {"POOL_LINES", lines}, {"WINDOW_THREADS", 128}});
  }
}

INSTANTIATE_TEST_SUITE_P(TiledWindows, WindowsOnSimulator, testing::ValuesIn(k_tiled_windows),
                         [](const auto& one) { return std::string(one.param.name); });

/// Warpgroups that multiply a filter and patches, in both precisions.
class ConvolutionsOnSimulator : public FusedOnSimulator {};

TEST_P(ConvolutionsOnSimulator, are_accepted_by_patches) {
  const auto& one = GetParam();
  expect_accepted(*device_, module_of(one.result, one.init, one.inputs), k_by_patches, "", "", k_patches);
}

TEST_P(ConvolutionsOnSimulator, are_accepted_by_rounded_patches) {
  const auto& one = GetParam();
  expect_accepted(*device_, module_of(one.result, one.init, one.inputs), "keep_rounded_pixel(places", "",
                  "tf32_convolutions", k_tf32_patches);
}

INSTANTIATE_TEST_SUITE_P(Patches, ConvolutionsOnSimulator, testing::ValuesIn(k_convolutions),
                         [](const auto& one) { return std::string(one.param.name); });

/// One product of tf32 numbers each, on tensor cores with and without the instructions of a warpgroup.
class RoundedOnSimulator : public FusedOnSimulator {};

TEST_P(RoundedOnSimulator, is_accepted_as_one_product_of_tf32_numbers) {
  const auto& one = GetParam();
  const auto module = module_of(one.result, one.init, one.inputs);
  const std::string_view on_gpu = one.on_gpu;
  const bool halves = on_gpu == k_halves_by_rows || on_gpu == k_halves_by_columns;
  const bool by_warps = on_gpu == k_by_warps;  // perhaps
  const char* rounded = by_warps ? "_rounded_tile" : k_one_product_each;
  const IntBindings no_patches = {{"PATCHES", 2}};
  expect_accepted(*device_, module, halves ? one.on_gpu : rounded, "", "tf32", no_patches);
  expect_accepted(*device_, module, "multiply_rounded_tile<", "sm_80", "tf32", no_patches);
}

INSTANTIATE_TEST_SUITE_P(Products, RoundedOnSimulator, testing::ValuesIn(k_products),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_F(FusedOnSimulator, adds_parts_of_a_long_sum_of_tf32_products_in_f32) {
  const auto module = module_of("x @ more[0]", "", "torch.rand(33, 4100), torch.rand(4100, 9)");
  expect_accepted(*device_, module, "% 2048 == 2048 - TILE_K", "", "tf32");
  expect_accepted(*device_, module, "multiply_rounded_tile<true>(", "sm_80", "tf32");
}

/// Where rows that lie side by side are many for each unit.
TEST_F(FusedOnSimulator, gives_a_work_group_a_hundred_and_more_rows_that_lie_side_by_side) {
  const std::pair<const char*, const char*> cases[] = {{"torch.amax(x * 2, 0)", "WIDE_LANE_THREADS"},
                                                       {"torch.argmax(x, 0)", "LANE_ELEMENTS"}};
  for (const auto& [result, text] : cases) {
    const Problem problem = problem_of_module(module_of(result, "", "torch.rand(257, 1030)"), "m.py");
    const Bundle bundle = device_->emitted(problem, "fused", "", {}, 1);
    EXPECT_NE(bundle.to_text().find(text), std::string::npos) << bundle.to_text();
    const Verdict verdict = device_->verdict_of(problem, bundle);
    EXPECT_TRUE(verdict.accepted()) << verdict.message << "\n" << bundle.to_text();
  }
}

/// Whose sums take fewer instructions than moments that are joined; not of rows that no near cache has.
TEST_F(FusedOnSimulator, reads_a_warps_row_again_for_its_variance) {
  for (const bool long_rows : {false, true}) {
    const std::string length = long_rows ? "2100" : "70";
    const Problem problem = problem_of_module(
        module_of("self.n(x)", "self.n = nn.LayerNorm(" + length + ")", "torch.rand(33, " + length + ")"), "m.py");
    const Bundle bundle = device_->emitted(problem, "fused", "", {}, 1);
    EXPECT_EQ(bundle.to_text().find("WARP_ROW_THREADS") == std::string::npos, long_rows) << bundle.to_text();
    EXPECT_EQ(bundle.to_text().find("other_squares") == std::string::npos, !long_rows) << bundle.to_text();
    const Verdict verdict = device_->verdict_of(problem, bundle);
    EXPECT_TRUE(verdict.accepted()) << verdict.message << "\n" << bundle.to_text();
  }
}

/// Both kinds of products in one source.
TEST_F(FusedOnSimulator, rounds_factors_of_convolutions_alone_where_it_is_told_so) {
  const auto module =
      module_of("self.c(x) @ more[0]", "self.c = nn.Conv2d(6, 40, 3)", "torch.rand(2, C, H, W), torch.rand(18, 33)");
  const Problem problem = problem_of_module(module, "m.py", "", k_any_steps, "tf32_convolutions");
  const Bundle older = device_->emitted(problem, "fused", "sm_80");
  EXPECT_NE(older.source.find("multiply_rounded_tile<false>(row_tiles"), std::string::npos) << older.source;
  EXPECT_NE(older.source.find(" multiply_tile(row_tiles"), std::string::npos) << older.source;
  const Bundle bundle = device_->emitted(problem, "fused", "", {{"PATCHES", 2}});
  EXPECT_NE(bundle.source.find("begin_rounded_tile(row_tiles"), std::string::npos) << bundle.source;
  EXPECT_NE(bundle.source.find("begin_tile(row_tiles"), std::string::npos) << bundle.source;
  const Verdict verdict = device_->verdict_of(problem, bundle);
  EXPECT_TRUE(verdict.accepted()) << verdict.message;
}

TEST_F(FusedOnSimulator, rejects_rounded_factors_in_a_strict_problem) {
  const auto module = module_of("x @ more[0]", "", "torch.rand(90, 53), torch.rand(53, 29)");
  const Problem rounded = problem_of_module(module, "m.py", "", k_any_steps, "tf32");
  const Verdict verdict = device_->verdict_of(problem_of_module(module, "m.py"), device_->emitted(rounded, "fused"));
  EXPECT_EQ(verdict.status, VerdictStatus::rejected);
  EXPECT_EQ(verdict.reason, Reason::wrong_result) << verdict.message;
}

/// Rows of the product are counted over seven axes, more than an expression of a bundle may multiply.
constexpr const char* k_many_axes = R"(import torch
import torch.nn as nn
a, b, c, d, e, f, g, steps, columns = 2, 3, 2, 3, 2, 3, 2, 24, 40
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(steps, columns))
    def forward(self, x):
        return x.permute(6, 5, 4, 3, 2, 1, 0, 7) @ self.weight
def get_inputs():
    return [torch.rand(a, b, c, d, e, f, g, steps)]
def get_init_inputs():
    return []
)";

TEST(FusedManyAxes, products_are_right_at_every_shape) {
  expect_accepted(ProgramVerdicts("opencl:0", "opencl"), k_many_axes, k_any_kernel);
  expect_accepted(ProgramVerdicts("sim", "cuda"), k_many_axes, k_any_kernel);
}

struct Layer {
  std::string init, inputs;
};

/// A convolution of any kind that has enough work for tiles.
Layer random_convolution(Rng& random) {
  const auto draw = [&](std::int64_t least, std::int64_t most) { return least + random.below(most - least + 1); };
  const auto windows = draw(1, 3);
  const bool transposed = draw(0, 1) == 1;
  const auto groups = draw(1, 2);
  const auto channels = groups * draw(3, 9);
  std::string kernel, stride, padding, dilation, image;
  for (std::int64_t i = 0; i < windows; ++i) {
    const auto taps = draw(1, 4);
    kernel += fmt::format("{}, ", taps);
    stride += fmt::format("{}, ", draw(1, 3));
    dilation += fmt::format("{}, ", draw(1, 2));
    padding += fmt::format("{}, ", draw(0, transposed ? 0 : taps / 2));
    image += fmt::format(", {}", (windows == 1 ? 90 : windows == 2 ? 18 : 9) + draw(0, 5));
  }
  return {fmt::format("self.c = nn.Conv{}{}d({}, {}, ({}), stride=({}), padding=({}), dilation=({}), groups={})",
                      transposed ? "Transpose" : "", windows, channels, groups * draw(8, 21), kernel, stride, padding,
                      dilation, groups),
          fmt::format("torch.rand({}, {}{})", draw(1, 3), channels, image)};
}

TEST(FusedRandom, convolutions_are_accepted_on_a_cpu) {
  const char* chosen = std::getenv("KW_TEST_SEED");
  const std::uint64_t seed = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 20261123;
  RecordProperty("seed", std::to_string(seed));
  Rng random(seed);
  const ProgramVerdicts device("opencl:0", "opencl");
  for (int round = 0; round < 8; ++round) {
    SCOPED_TRACE(fmt::format("seed {}, round {}", seed, round));
    const Layer layer = random_convolution(random);
    expect_accepted(device, module_of("self.c(x)", layer.init, layer.inputs), "multiply_add(");
  }
}

}  // namespace
}  // namespace kw
