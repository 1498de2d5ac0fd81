// The networks of problems/program/ as `explain` prints them: tests/golden/program/NAME.MODE.txt, accepted with
// KW_ACCEPT=1.

#include "program/explain/text.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/file_system.hpp"
#include "program/explain/json.hpp"
#include "program/reader/program_reader.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_most_bytes = 1 << 20;

Program read(const std::string& name, ProgramMode mode, const Axes& set = {}) {
  const auto path = "problems/program/" + name + ".py";
  const auto text = RealFileSystem().read(path, k_most_bytes);
  auto program = read_program(text.value(), path, {"Model", set, mode});
  if (!program) ADD_FAILURE() << program.error().to_string();
  return program ? *std::move(program) : Program{};
}

class Golden : public testing::TestWithParam<std::pair<const char*, ProgramMode>> {};

TEST_P(Golden, network_is_explained_as_accepted) {
  const auto [name, mode] = GetParam();
  const auto path = fmt::format("tests/golden/program/{}.{}.txt", name, to_string(mode));
  const auto text = program_text(read(name, mode));
  RealFileSystem files;
  if (std::getenv("KW_ACCEPT") != nullptr) {
    ASSERT_TRUE(files.create_directories("tests/golden/program"));
    ASSERT_TRUE(files.write_atomic(path, text));
  }
  const auto golden = files.read(path, k_most_bytes);
  ASSERT_TRUE(golden) << golden.error().to_string();
  EXPECT_EQ(text, *golden);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, Golden,
    testing::Values(std::pair("mlp", ProgramMode::train), std::pair("residual_block", ProgramMode::train),
                    std::pair("transformer_block", ProgramMode::train), std::pair("lstm_cell", ProgramMode::train),
                    std::pair("unet_step", ProgramMode::train), std::pair("unet_step", ProgramMode::eval)));

TEST(ProgramText, json_holds_the_same_graph) {
  const auto program = read("residual_block", ProgramMode::eval);
  const auto json = nlohmann::json::parse(program_json(program));
  EXPECT_EQ(json["nodes"].size(), program.graph.nodes.size());
  EXPECT_EQ(json["parameters"][0]["name"], "reduce.conv.weight");
  EXPECT_EQ(json["axes"]["batch_size"], 8);
}

TEST(ProgramText, an_axis_that_is_set_is_read_through_the_whole_network) {
  const auto program = read("transformer_block", ProgramMode::train, {{"seq_len", 17}, {"batch_size", 3}});
  const auto& type = program.graph.values[program.outputs.front()].type;
  EXPECT_EQ(values_of(type.shape), (std::vector<std::int64_t>{3, 17, 256}));
  EXPECT_EQ(shape_text(type.shape), "[batch_size, seq_len, dim]");
}

}  // namespace
}  // namespace kw
