// Options about a model: which go together, and what they become.

#include "cli/model_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "archive/testing/test_support.hpp"
#include "cli/inputs.hpp"
#include "loop/budget.hpp"
#include "propose/llm/client/chat_errors.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ModelOptionsTest : public ArchiveTest {
 protected:
  void SetUp() override {
    ArchiveTest::SetUp();
    archive_ = open();
    options_.proposer = "llm";
    options_.base_url = "http://127.0.0.1:1/v1";
    options_.model = "some-model";
  }
  Result<OpenedModel> opened() { return open_model(options_, clock_, *archive_, setup_); }

  void expect_refused(ErrorCode code, const std::string& message, const std::string& hint) {
    const auto result = opened();
    ASSERT_FALSE(result) << message;
    EXPECT_EQ(result.error().code.name, code.name);
    EXPECT_EQ(result.error().message, message);
    EXPECT_EQ(result.error().hint, hint);
  }
  std::string write(const char* name, const std::string& text) {
    RealFileSystem files;
    EXPECT_TRUE(files.write_atomic(directory_ / name, text));
    return (directory_ / name).string();
  }

  FakeClock clock_;
  std::unique_ptr<Archive> archive_;
  ModelOptions options_;
  RunSetup setup_;
};

TEST_F(ModelOptionsTest, the_search_needs_no_model) {
  options_ = {};
  const auto model = opened();
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(model->client, nullptr);
  EXPECT_EQ(setup_.proposer, "search");
  EXPECT_FALSE(setup_.model);
}

TEST_F(ModelOptionsTest, a_model_of_ones_own_server_needs_no_key) {
  options_.chains = 3;
  options_.samples = 2;
  options_.max_tokens = 9000;
  options_.effort = "high";
  options_.leave_out = "notes";
  options_.plan = true;
  options_.constraints = {"no atomics"};
  options_.require = {"registers<=128", "no_spills"};
  options_.prompt = write("own.md", "Use few registers.");
  const auto model = opened();
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_NE(model->client, nullptr);
  ASSERT_TRUE(setup_.model);
  EXPECT_EQ(setup_.model->client, model->client.get());
  EXPECT_EQ(setup_.model->provider.base_url, "http://127.0.0.1:1/v1");
  EXPECT_EQ(setup_.model->model, "some-model");
  EXPECT_EQ(setup_.model->chains, 3);
  EXPECT_EQ(setup_.model->samples, 2);
  EXPECT_EQ(setup_.model->max_tokens, 9000);
  EXPECT_EQ(setup_.model->provider.effort, "high");
  EXPECT_FALSE(setup_.model->parts.notes);
  EXPECT_TRUE(setup_.model->plan);
  EXPECT_EQ(setup_.model->user_prompt, "Use few registers.");
  EXPECT_EQ(setup_.requirements.size(), 2U);
  EXPECT_EQ(setup_.proposer, "llm");
}

TEST_F(ModelOptionsTest, refuses_a_proposer_that_does_not_exist) {
  options_.proposer = "oracle";
  expect_refused(errc::command_line, "there is no proposer \"oracle\"", "search, llm or hybrid");
}

TEST_F(ModelOptionsTest, refuses_a_model_that_nobody_would_ask) {
  options_.proposer = "search";
  expect_refused(errc::command_line, "a model is named, but the proposer is search, which asks none",
                 "add --proposer llm or hybrid");
}

TEST_F(ModelOptionsTest, refuses_an_effort_that_would_be_ignored) {
  options_.provider = "sglang";
  options_.effort = "high";
  expect_refused(errc::chat_provider, "provider 'sglang' is not known to take an effort",
                 "leave out --effort; or name the server by --base-url alone, then it is sent");
}

TEST_F(ModelOptionsTest, refuses_no_conversations_and_too_many) {
  options_.chains = 0;
  expect_refused(errc::command_line, "0 chains of 1 samples", "each at least 1, together at most 64");
  options_.chains = 13;
  options_.samples = 5;
  expect_refused(errc::command_line, "13 chains of 5 samples", "each at least 1, together at most 64");
}

TEST_F(ModelOptionsTest, wants_the_names_of_model_and_place) {
  options_.model = "";
  expect_refused(errc::command_line, "a model must be named",
                 "add --model NAME, as the provider spells it (docs/models.md)");
  options_.model = "some-model";
  options_.base_url = "";
  expect_refused(errc::command_line, "where is the model? neither a provider nor a URL is given",
                 "add --provider NAME (deepseek, nvidia, openai, openrouter, vllm, sglang, ollama, llamacpp, custom), "
                 "or --base-url URL");
  options_.provider = "deepseekk";
  const auto unknown = opened();
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code.name, errc::chat_provider.name);
  EXPECT_EQ(unknown.error().hint, "--provider deepseek");
}

TEST_F(ModelOptionsTest, refuses_a_key_file_that_others_can_read) {
  options_.key_file = write("key", "secret");
  std::filesystem::permissions(options_.key_file, std::filesystem::perms(0644));
  expect_refused(errc::chat_key, "the key file " + options_.key_file.string() + " is open to other users (mode 0644)",
                 "chmod 600 '" + options_.key_file.string() + "'");
  std::filesystem::permissions(options_.key_file, std::filesystem::perms(0600));
  EXPECT_TRUE(opened());
}

TEST_F(ModelOptionsTest, names_the_variable_in_which_a_key_is_missing) {
  options_.provider = "deepseek";
  options_.base_url = "";
  ::unsetenv("DEEPSEEK_API_KEY");
  expect_refused(errc::chat_key, "deepseek wants a key, and the environment variable DEEPSEEK_API_KEY is not set",
                 "export DEEPSEEK_API_KEY=..., or --key-file FILE with mode 0600");
}

TEST_F(ModelOptionsTest, a_budget_in_dollars_needs_a_price) {
  options_.base_url = "https://models.example/v1";
  setup_.limits = *parse_budget("2usd");
  expect_refused(errc::command_line, "a budget in dollars, but no price of some-model at custom is known",
                 "give one with --prices FILE (docs/models.md has the format), or limit tokens: 200000t");
}

TEST_F(ModelOptionsTest, refuses_exemplars_and_requirements_it_does_not_know) {
  options_.exemplars = "topp";
  const auto exemplars = opened();
  ASSERT_FALSE(exemplars);
  EXPECT_EQ(exemplars.error().code.name, errc::exemplar_choice.name);
  EXPECT_EQ(exemplars.error().hint, "did you mean top?");
  options_.exemplars = "top";
  options_.require = {"speed>=2"};
  const auto requirement = opened();
  ASSERT_FALSE(requirement);
  EXPECT_EQ(requirement.error().code.name, errc::requirement_unknown.name);
  EXPECT_THAT(requirement.error().message, StartsWith("'speed' cannot be required; known are "));
}

TEST_F(ModelOptionsTest, says_which_prompt_file_is_missing) {
  options_.prompt = directory_ / "none.md";
  const auto missing = opened();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code.name, errc::not_found.name);
  EXPECT_THAT(missing.error().message, HasSubstr("none.md"));
}

TEST_F(ModelOptionsTest, a_replay_has_the_setup_of_its_run_and_asks_nobody) {
  RunRecord run = synthetic_run(1, 0).run;
  run.proposer = "hybrid";
  run.model_use = ModelUse{};
  run.model_use->provider = "deepseek";
  run.model_use->model = "deepseek-reasoner";
  run.model_use->chains = 4;
  run.model_use->exemplars = "island";
  ASSERT_TRUE(archive_->begin_run(run));
  options_ = {};
  options_.replay = "last";
  const auto model = opened();
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(model->client, nullptr);
  EXPECT_EQ(setup_.replay, run.id);
  EXPECT_EQ(setup_.proposer, "hybrid");
  EXPECT_EQ(setup_.model->model, "deepseek-reasoner");
  EXPECT_EQ(setup_.model->chains, 4);
  EXPECT_EQ(setup_.model->exemplars, ExemplarChoice::island);
  EXPECT_TRUE(setup_.model->provider.local) << "replies that were paid for once cost nothing now";
}

TEST_F(ModelOptionsTest, refuses_to_replay_a_run_without_a_model) {
  const RunRecord run = synthetic_run(1, 0).run;
  ASSERT_TRUE(archive_->begin_run(run));
  options_ = {};
  options_.replay = run.id;
  expect_refused(errc::command_line, "no model took part in run " + run.id,
                 "replay a run that was made with --proposer llm or hybrid");
}

}  // namespace
}  // namespace kw
