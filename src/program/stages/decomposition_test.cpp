// Each family of operators against values that PyTorch gave: inputs are sin(0.7 k + j) for element k of input j
// (integers 7 k % 4), and what is compared is the sum of the elements of the output times cos(0.3 k).

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string_view>

#include "program/stages/lower.hpp"
#include "program/testing/module_text.hpp"
#include "program/testing/stage_interpreter.hpp"

namespace kw {
namespace {

using program_test::module_text;

struct Known {
  const char* forward;
  const char* inputs;
  double checksum;
};

constexpr std::array k_known = {
    Known{"torch.tanh(x) * 2 - x", "torch.randn(3, 4)", 1.044794733},
    Known{"F.softmax(x * 9, dim=1)", "torch.randn(3, 4, 2)", 1.521262112},
    Known{"F.log_softmax(x, dim=-1)", "torch.randn(3, 4)", 1.424378034},
    Known{"torch.logsumexp(x * 90, dim=(0, 2))", "torch.randn(3, 4, 2)", 234.0354837},
    Known{"torch.var(x, dim=1)", "torch.randn(3, 4, 2)", 2.413045446},
    Known{"torch.norm(x, p=3, dim=0)", "torch.randn(3, 4)", 3.180848472},
    Known{"torch.cumsum(x, dim=1) + torch.cumprod(x, dim=0)", "torch.randn(3, 4)", 8.699269249},
    Known{"torch.logcumsumexp(x * 50, dim=1)", "torch.randn(3, 4)", 38.26508266},
    Known{"torch.max(x, dim=1)[0] + torch.argmin(x, dim=1)", "torch.randn(3, 4)", 4.987056038},
    Known{"torch.topk(x, 2, dim=1)[0]", "torch.randn(3, 4)", 2.273076251},
    Known{"torch.cat([x.permute(1, 0), y], dim=1).flip(0)", "torch.randn(3, 4), torch.randn(4, 2)", 1.661912292},
    Known{"F.pad(x, (1, 2), mode='reflect').roll(1, dims=0)", "torch.randn(3, 4)", -5.796927397},
    Known{"torch.diagonal(x, 1, 1, 2)", "torch.randn(2, 3, 4)", 0.8106516177},
    Known{"x[:, 1::2] * y[0]", "torch.randn(3, 4), torch.randn(5, 2)", 0.5850870914},
    Known{"torch.gather(x, 1, y)", "torch.randn(3, 4), torch.randint(0, 4, (3, 2))", -0.2715815771},
    Known{"torch.einsum('bik,bjk->bij', x, y)", "torch.randn(2, 3, 4), torch.randn(2, 5, 4)", -0.03849756944},
    Known{"torch.addmm(x, y, z, beta=0.5, alpha=2)", "torch.randn(5), torch.randn(3, 4), torch.randn(4, 5)",
          -2.58266584},
    Known{"F.linear(x, y, z)", "torch.randn(2, 3, 4), torch.randn(5, 4), torch.randn(5)", 2.340336415},
    Known{"F.conv2d(x, y, z, stride=2, padding=1, groups=2)",
          "torch.randn(2, 4, 5, 6), torch.randn(6, 2, 3, 3), torch.randn(6)", 3.055745845},
    Known{"F.conv1d(x, y, dilation=2, padding='same')", "torch.randn(2, 3, 7), torch.randn(4, 3, 3)", 8.472246156},
    Known{"F.conv_transpose2d(x, y, z, stride=2, padding=1, output_padding=1, groups=2)",
          "torch.randn(2, 4, 3, 4), torch.randn(4, 3, 3, 3), torch.randn(6)", 4.169460334},
    Known{"F.conv_transpose3d(x, y, stride=2, dilation=2)", "torch.randn(1, 2, 2, 3, 2), torch.randn(2, 2, 2, 2, 2)",
          -3.609017203},
    Known{"F.max_pool2d(x, 3, stride=2, padding=1, ceil_mode=True)", "torch.randn(1, 2, 6, 7)", 2.727554909},
    Known{"F.avg_pool2d(x, 3, stride=2, padding=1, ceil_mode=True, count_include_pad=False)", "torch.randn(1, 2, 6, 7)",
          -0.2975811631},
    Known{"F.avg_pool1d(x, 3, stride=2, padding=1, ceil_mode=True)", "torch.randn(1, 2, 8)", 0.7282431338},
    Known{"F.adaptive_avg_pool2d(x, (3, 1))", "torch.randn(1, 2, 7, 4)", 0.221981596},
    Known{"F.interpolate(x, size=(7, 3), mode='bilinear')", "torch.randn(1, 2, 4, 5)", 3.011470898},
    Known{"F.batch_norm(x, None, None, y, z, training=True)", "torch.randn(4, 3, 5), torch.randn(3), torch.randn(3)",
          5.790716256},
    Known{"F.group_norm(x, 2, y, z)", "torch.randn(2, 4, 3, 3), torch.randn(4), torch.randn(4)", 6.058362572},
    Known{"F.layer_norm(x, (3, 4), y, z)", "torch.randn(2, 3, 4), torch.randn(3, 4), torch.randn(3, 4)", -0.3908240353},
    Known{"F.instance_norm(x)", "torch.randn(2, 3, 4, 4)", 0.2359855914},
    Known{"F.mse_loss(x, y) + F.smooth_l1_loss(x, y, beta=0.5)", "torch.randn(3, 4), torch.randn(3, 4)", 0.7803924274},
    Known{"F.cross_entropy(x, y, label_smoothing=0.1)", "torch.randn(5, 4, 2), torch.randint(0, 4, (5, 2))",
          1.612097647},
    Known{"F.kl_div(x, y.abs(), reduction='batchmean')", "torch.randn(3, 4), torch.randn(3, 4)", -1.10765282},
    Known{"F.triplet_margin_loss(x, y, z, swap=True)", "torch.randn(3, 4), torch.randn(3, 4), torch.randn(3, 4)",
          0.9650218874},
    Known{"F.binary_cross_entropy_with_logits(x, y.abs())", "torch.randn(3, 4), torch.randn(3, 4)", 0.7226519342},
    Known{"F.gelu(x) + F.mish(x) - F.hardswish(x) + F.selu(x) + F.softplus(x)", "torch.randn(3, 4)", 2.816147197},
};

/// As many elements as the value has.
std::vector<double> drawn(const TensorType& type, std::size_t input) {
  std::vector<double> elements(static_cast<std::size_t>(element_count(type.shape).value().value()));
  for (std::size_t k = 0; k < elements.size(); ++k) {
    elements[k] = is_floating(type.dtype) ? std::sin(0.7 * static_cast<double>(k) + static_cast<double>(input))
                                          : static_cast<double>(k * 7 % 4);
  }
  return elements;
}

std::string module_of(const Known& known) {
  std::size_t inputs = 0;
  for (std::size_t at = 0; (at = std::string_view(known.inputs).find("torch.", at)) != std::string_view::npos; ++at) {
    ++inputs;
  }
  std::string body;
  if (inputs > 1) body += "y = more[0]\n";
  if (inputs > 2) body += "z = more[1]\n";
  return module_text(body + "return " + known.forward, known.inputs);
}

Result<double> checksum_of(const Known& known) {
  KW_TRY(const auto program, read_program(module_of(known), "m.py"));
  KW_TRY(const auto stages, lower(program.graph, program.outputs));
  program_test::StageValues values;
  for (std::size_t i = 0; i < stages.buffers.size(); ++i) {
    if (stages.buffers[i].use != BufferUse::input) continue;
    for (std::size_t k = 0; k < program.inputs.size(); ++k) {
      if (program.inputs[k].value == stages.buffers[i].value) values[i] = drawn(stages.buffers[i].type, k);
    }
  }
  program_test::run_stages(stages, values);
  double sum = 0.0;
  const auto& out = values.at(stages.outputs.front());
  for (std::size_t k = 0; k < out.size(); ++k) sum += out[k] * std::cos(0.3 * static_cast<double>(k));
  return sum;
}

TEST(Decompositions, give_what_pytorch_gives) {
  for (const auto& known : k_known) {
    const auto sum = checksum_of(known);
    ASSERT_TRUE(sum) << known.forward << ": " << sum.error().to_string();
    EXPECT_NEAR(*sum, known.checksum, 1e-7 * (1.0 + std::fabs(known.checksum))) << known.forward;
  }
}

}  // namespace
}  // namespace kw
