// What modules of program/library/ compute, against PyTorch 2.11 in float64 on the same numbers.

#include <gtest/gtest.h>

#include <cmath>

#include "operators/program/testing/oracle_case.hpp"

namespace kw::program_oracle_test {
namespace {

struct ShippedCase {
  const char* init = "";
  const char* forward = "";
  const char* inputs = "";
  std::vector<double> sums = {};  ///< of each result: of element i times the cosine of i
};
void PrintTo(const ShippedCase& one, std::ostream* out) {
  *out << one.init << "; " << one.forward << " of " << one.inputs;
}

/// As leaves_of(), but parameters that begin as 1 have numbers of any sign too.
std::map<std::size_t, DenseTensor> leaves_for(const Program& program) {
  auto leaves = leaves_of(program);
  std::vector<std::size_t> order;
  for (const auto& input : program.inputs) order.push_back(input.value);
  for (const auto& parameter : program.parameters) order.push_back(parameter.value.value());
  for (std::size_t k = 0; k < order.size(); ++k) {
    auto& leaf = leaves.at(order[k]);
    if (!is_floating(leaf.dtype)) continue;
    for (std::size_t i = 0; i < leaf.values.size(); ++i)
      leaf.values[i] = (static_cast<double>((i * 37 + k * 11) % 17) - 8.0) / 4.0;
  }
  return leaves;
}

class ShippedModules : public testing::TestWithParam<ShippedCase> {};

TEST_P(ShippedModules, compute_what_those_of_pytorch_do) {
  const auto& one = GetParam();
  const auto program = program_of(one.forward, one.inputs, one.init);
  const auto leaves = leaves_for(program);
  const auto answer = evaluate_graph(program.graph, leaves, program.outputs);
  ASSERT_TRUE(answer.has_value()) << answer.error().to_string();
  ASSERT_EQ(answer->size(), one.sums.size());
  for (std::size_t k = 0; k < answer->size(); ++k) {
    const auto& values = (*answer)[k].values;
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * std::cos(static_cast<double>(i));
    EXPECT_NEAR(sum, one.sums[k], 1e-9 * (1.0 + std::fabs(one.sums[k]))) << "result " << k;
  }
}

const ShippedCase k_cases[] = {
    ShippedCase{"self.m = nn.LSTM(3, 2, 2, bidirectional=True)",
                "self.m(x)[0], self.m(x)[1][0], self.m(x)[1][1]",
                "torch.rand(4, 2, 3)",
                {0.10446613499601531, -0.02751079165995775, -3.256808581037866}},
    ShippedCase{"self.m = nn.LSTM(3, 4, proj_size=2, batch_first=True)",
                "self.m(x, (y, more[1]))[0], self.m(x, (y, more[1]))[1][1]",
                "torch.rand(2, 4, 3), torch.rand(1, 2, 2), torch.rand(1, 2, 4)",
                {1.2881379489244436, 1.223584033940602}},
    ShippedCase{"self.m = nn.LSTM(3, 2)", "self.m(x)[0]", "torch.rand(4, 3)", {0.33175635403168396}},
    ShippedCase{"self.m = nn.GRU(3, 2, 2, bidirectional=True)",
                "self.m(x)[0], self.m(x)[1]",
                "torch.rand(4, 2, 3)",
                {-1.0282765108031664, -3.149289201579206}},
    ShippedCase{"self.m = nn.GRU(3, 2, batch_first=True)",
                "self.m(x, y)[0]",
                "torch.rand(2, 4, 3), torch.rand(1, 2, 2)",
                {1.8003435250493052}},
    ShippedCase{"self.m = nn.RNN(3, 2, nonlinearity='relu', bias=False)",
                "self.m(x)[0], self.m(x)[1]",
                "torch.rand(4, 2, 3)",
                {3.7562757496364503, 8.24216204869854}},
    ShippedCase{"self.m = nn.RNN(3, 2, 2)", "self.m(x)[0]", "torch.rand(4, 2, 3)", {-0.23229591824952017}},
    ShippedCase{"self.m = nn.LSTMCell(3, 2)",
                "self.m(x, self.m(x))[0], self.m(x)[1]",
                "torch.rand(2, 3)",
                {-0.23342116308928737, -0.2861875031607885}},
    ShippedCase{"self.m = nn.GRUCell(3, 2)", "self.m(x, self.m(x))", "torch.rand(2, 3)", {-1.76277101433201}},
    ShippedCase{"self.m = nn.RNNCell(3, 2)", "self.m(x, self.m(x))", "torch.rand(2, 3)", {1.2316955256764248}},
    ShippedCase{"self.m = nn.MultiheadAttention(4, 2)",
                "self.m(x, x, x)[0], self.m(x, x, x)[1]",
                "torch.rand(3, 2, 4)",
                {30.54045944615178, 0.4722367356081048}},
    ShippedCase{"self.m = nn.MultiheadAttention(4, 2, kdim=3, vdim=2, batch_first=True)",
                "self.m(x, y, more[1])[0], self.m(x, y, more[1], average_attn_weights=False)[1]",
                "torch.rand(2, 3, 4), torch.rand(2, 5, 3), torch.rand(2, 5, 2)",
                {-3.4654667229689458, -0.5580977285428494}},
    ShippedCase{
        "self.m = nn.MultiheadAttention(4, 2, batch_first=True)",
        "self.m(x, x, x, key_padding_mask=y > 1.0, attn_mask=more[1])[0], self.m(x, x, x, attn_mask=more[1] > 1.0)[1]",
        "torch.rand(2, 3, 4), torch.rand(2, 3), torch.rand(3, 3)",
        {-3.643581560368509, 0.5188349632443384}},
    ShippedCase{"self.m = nn.MultiheadAttention(4, 2)",
                "self.m(x, y, y)[0]",
                "torch.rand(3, 4), torch.rand(5, 4)",
                {0.5598579830871712}},
    ShippedCase{"self.m = nn.TransformerEncoderLayer(4, 2, 3, dropout=0.0)",
                "self.m(x)",
                "torch.rand(3, 2, 4)",
                {1.598852379365975}},
    ShippedCase{"self.m = nn.TransformerEncoderLayer(4, 2, 3, dropout=0.0, activation='gelu', norm_first=True, "
                "batch_first=True, bias=False)",
                "self.m(x, src_mask=y)",
                "torch.rand(2, 3, 4), torch.rand(3, 3)",
                {71.56089113817879}},
    ShippedCase{"self.m = nn.TransformerDecoderLayer(4, 2, 3, dropout=0.0)",
                "self.m(x, y)",
                "torch.rand(3, 2, 4), torch.rand(5, 2, 4)",
                {-2.1019759527258937}},
    ShippedCase{"self.m = nn.TransformerDecoderLayer(4, 2, 3, dropout=0.0, norm_first=True)",
                "self.m(x, y, tgt_mask=more[1])",
                "torch.rand(3, 2, 4), torch.rand(5, 2, 4), torch.rand(3, 3)",
                {-21.36748597886488}},
    ShippedCase{"self.m = nn.Transformer(4, 2, 1, 2, 3, dropout=0.0)",
                "self.m(x, y, tgt_mask=nn.Transformer.generate_square_subsequent_mask(3))",
                "torch.rand(5, 2, 4), torch.rand(3, 2, 4)",
                {-0.5008015091500247}},
    ShippedCase{"self.m = nn.ChannelShuffle(2)", "self.m(x)", "torch.rand(2, 6, 2, 2)", {4.474923854673517}},
    ShippedCase{"self.m = nn.Softmax2d()", "self.m(x)", "torch.rand(2, 3, 2, 2)", {-3.3368555919896083}},
    ShippedCase{"self.m = nn.UpsamplingBilinear2d(scale_factor=2)",
                "self.m(x)",
                "torch.rand(1, 2, 3, 4)",
                {-2.7596101476107444}},
    ShippedCase{
        "self.m = nn.UpsamplingNearest2d(size=(5, 7))", "self.m(x)", "torch.rand(1, 2, 3, 4)", {-7.6284363528973875}},
    ShippedCase{"self.m = nn.LPPool1d(3, 2)", "self.m(x.abs())", "torch.rand(2, 3, 7)", {-0.2876644877330657}},
    ShippedCase{
        "self.m = nn.LPPool2d(2, (3, 2), stride=2)", "self.m(x)", "torch.rand(2, 3, 7, 6)", {-1.095498407424842}},
    ShippedCase{"self.m = nn.Conv2d(2, 3, 3, padding=(1, 2), padding_mode='circular')",
                "self.m(x)",
                "torch.rand(1, 2, 4, 5)",
                {-2.3563540651930532}},
    ShippedCase{"self.m = nn.Conv1d(2, 3, 4, padding='same', padding_mode='reflect', dilation=2)",
                "self.m(x)",
                "torch.rand(1, 2, 9)",
                {3.750101534534611}},
    ShippedCase{"self.m = nn.Conv3d(1, 2, 2, padding=1, padding_mode='replicate')",
                "self.m(x)",
                "torch.rand(1, 1, 2, 3, 2)",
                {-8.897594207966508}},
    ShippedCase{"self.m = nn.ReflectionPad3d(1)", "self.m(x)", "torch.rand(1, 1, 2, 3, 2)", {-5.309790552279297}},
    ShippedCase{"self.m = nn.ReplicationPad3d((1, 0, 2, 1, 0, 1))",
                "self.m(x)",
                "torch.rand(1, 1, 2, 3, 2)",
                {-7.103490710686168}},
    ShippedCase{"self.m = nn.CircularPad2d((1, 2, 0, 1))", "self.m(x)", "torch.rand(1, 1, 2, 3)", {0.5421131055964139}},
    ShippedCase{"self.m = nn.MultiLabelSoftMarginLoss()",
                "self.m(x, y)",
                "torch.rand(4, 3), torch.rand(4, 3)",
                {1.3483098890672678}},
    ShippedCase{"self.m = nn.MultiMarginLoss(p=2, margin=0.7)",
                "self.m(x, y)",
                "torch.rand(4, 3), torch.randint(0, 3, (4,))",
                {0.9289583333333333}},
    ShippedCase{"self.m = nn.TripletMarginWithDistanceLoss(swap=True, margin=2.0)",
                "self.m(x, y, more[1])",
                "torch.rand(4, 3), torch.rand(4, 3), torch.rand(4, 3)",
                {2.564118568583331}},
    ShippedCase{"self.m = nn.EmbeddingBag(5, 3, mode='sum')",
                "self.m(x, per_sample_weights=y)",
                "torch.randint(0, 3, (2, 4)), torch.rand(2, 4)",
                {3.94626983471841}},
    ShippedCase{"self.m = nn.EmbeddingBag(5, 3)", "self.m(x)", "torch.randint(0, 3, (2, 4))", {1.0462466309251497}},
    ShippedCase{"pass",
                "x.unfold(1, 3, 2), x.unfold(-1, 2, 2)",
                "torch.rand(2, 7, 4)",
                {-6.166936345232559, -2.3823414063304194}},
};

INSTANTIATE_TEST_SUITE_P(Library, ShippedModules, testing::ValuesIn(k_cases));

}  // namespace
}  // namespace kw::program_oracle_test
