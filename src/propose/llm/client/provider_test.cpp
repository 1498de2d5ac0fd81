#include "propose/llm/client/provider.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "propose/llm/client/chat_errors.hpp"
#include "propose/llm/client/name_pattern.hpp"

namespace kw {
namespace {

using testing::ElementsAre;

TEST(Provider, has_these_presets) {
  EXPECT_THAT(provider_presets(), ElementsAre("deepseek", "nvidia", "openai", "openrouter", "vllm", "sglang", "ollama",
                                              "llamacpp", "custom"));
}

TEST(Provider, presets_that_cost_money_want_a_key_over_https_and_local_ones_stay_on_this_machine) {
  for (const auto& name : provider_presets()) {
    if (name == "custom") continue;
    const auto provider = make_provider(name, "");
    ASSERT_TRUE(provider) << name;
    EXPECT_EQ(provider->name, name);
    EXPECT_EQ(provider->key_required, !provider->local) << name;
    EXPECT_EQ(is_loopback(*provider), provider->local) << name;
    EXPECT_EQ(provider->base_url.starts_with("https://"), !provider->local) << name;
    EXPECT_TRUE(provider->key_variable.ends_with("_API_KEY")) << name;
  }
}

TEST(Provider, unknown_preset_names_those_there_are_and_the_likely_one) {
  const auto provider = make_provider("depseek", "");
  ASSERT_FALSE(provider);
  EXPECT_EQ(provider.error().code, errc::chat_provider);
  EXPECT_EQ(provider.error().message,
            "no provider is named 'depseek'; there are deepseek, nvidia, openai, openrouter, vllm, sglang, ollama, "
            "llamacpp, custom");
  EXPECT_EQ(provider.error().hint, "--provider deepseek");
}

void expect_no_effort(const char* preset, const char* model, const char* effort, const char* message) {
  auto provider = *make_provider(preset, "");
  const auto set = set_effort(provider, model, effort);
  ASSERT_FALSE(set) << preset;
  EXPECT_EQ(set.error().code, errc::chat_provider);
  EXPECT_EQ(set.error().message, message);
  EXPECT_EQ(provider.effort, "");
}

TEST(Provider, takes_an_effort_where_it_is_known_to) {
  expect_no_effort("openai", "o3-mini", "much", "there is no effort 'much'");
  expect_no_effort("deepseek", "deepseek-reasoner", "high", "provider 'deepseek' is not known to take an effort");
  expect_no_effort("openai", "o1-mini", "high", "model 'o1-mini' takes no effort");
  for (const char* preset : {"openai", "openrouter", "vllm", "ollama"}) {
    auto provider = *make_provider(preset, "");
    EXPECT_TRUE(set_effort(provider, "some-model", "low")) << preset;
    EXPECT_EQ(provider.effort, "low");
  }
}

TEST(Provider, custom_needs_a_url) {
  const auto provider = make_provider("custom", "");
  ASSERT_FALSE(provider);
  EXPECT_EQ(provider.error().code, errc::chat_provider);
  EXPECT_EQ(provider.error().message, "provider 'custom' has no URL of its own");
}

TEST(Provider, base_url_replaces_the_presets_and_loses_what_is_added_later) {
  EXPECT_EQ(make_provider("vllm", "http://10.0.0.7:9000/v1/")->base_url, "http://10.0.0.7:9000/v1");
  EXPECT_EQ(make_provider("custom", "https://example.org/v1/chat/completions")->base_url, "https://example.org/v1");
  EXPECT_EQ(make_provider("custom", "HTTPS://example.org")->base_url, "https://example.org");
}

void expect_refused(std::string_view url, std::string_view message) {
  const auto provider = make_provider("custom", url);
  ASSERT_FALSE(provider) << url;
  EXPECT_EQ(provider.error().code, errc::chat_provider);
  EXPECT_EQ(provider.error().message, message);
}

TEST(Provider, refuses_what_is_no_base_url) {
  expect_refused("127.0.0.1:8000/v1", "the base URL '127.0.0.1:8000/v1' is not a URL");
  expect_refused("file:///etc/passwd", "the base URL 'file:///etc/passwd' is neither http nor https");
  expect_refused("http://h/v1?key=1", "the base URL 'http://h/v1?key=1' holds a query or a fragment");
  expect_refused("https://me:secret@h/v1", "the base URL holds a user name or password");
  expect_refused("http://h/\r\nX: y", "the base URL holds spaces or characters outside ASCII");
}

TEST(Provider, knows_this_machine_by_address_and_not_by_resemblance) {
  const auto loopback = [](const char* url) { return is_loopback(*make_provider("custom", url)); };
  EXPECT_TRUE(loopback("http://localhost:1/v1"));
  EXPECT_TRUE(loopback("http://127.1.2.3/v1"));
  EXPECT_TRUE(loopback("http://[::1]:8000/v1"));
  EXPECT_FALSE(loopback("http://127.0.0.1.example.org/v1"));
  EXPECT_FALSE(loopback("http://localhost.example.org/v1"));
  EXPECT_FALSE(loopback("http://10.0.0.1/v1"));
  EXPECT_TRUE(is_open_to_listeners(*make_provider("custom", "http://10.0.0.1/v1")));
  EXPECT_FALSE(is_open_to_listeners(*make_provider("custom", "https://10.0.0.1/v1")));
  EXPECT_FALSE(is_open_to_listeners(*make_provider("custom", "http://127.0.0.1/v1")));
}

TEST(Provider, rules_follow_the_models_name) {
  const auto openai = *make_provider("openai", "");
  const auto deepseek = *make_provider("deepseek", "");
  const auto vllm = *make_provider("vllm", "");
  EXPECT_EQ(traits_of(openai, "gpt-4o").max_tokens_field, "max_completion_tokens");
  EXPECT_TRUE(traits_of(openai, "gpt-4o").takes_temperature);
  EXPECT_FALSE(traits_of(openai, "o3-mini").takes_temperature);
  EXPECT_TRUE(traits_of(openai, "o3-mini").takes_system_role);
  EXPECT_FALSE(traits_of(openai, "o1-mini").takes_system_role);
  EXPECT_FALSE(traits_of(deepseek, "deepseek-reasoner").takes_temperature);
  EXPECT_TRUE(traits_of(deepseek, "deepseek-chat").takes_temperature);
  EXPECT_FALSE(traits_of(vllm, "deepseek-ai/DeepSeek-R1").takes_system_role);
  EXPECT_TRUE(traits_of(vllm, "deepseek-ai/DeepSeek-R1").takes_temperature);
  EXPECT_FALSE(traits_of(vllm, "google/gemma-2-27b-it").takes_system_role);
  EXPECT_TRUE(traits_of(vllm, "Qwen/QwQ-32B").takes_system_role);
}

TEST(NamePattern, star_takes_anything_and_letters_match_without_case) {
  EXPECT_TRUE(matches_name_pattern("gpt-4o", "GPT-4o"));
  EXPECT_FALSE(matches_name_pattern("gpt-4o", "gpt-4o-mini"));
  EXPECT_TRUE(matches_name_pattern("gpt-4o*", "gpt-4o"));
  EXPECT_TRUE(matches_name_pattern("*r1*", "deepseek/deepseek-r1-0528"));
  EXPECT_TRUE(matches_name_pattern("a*b*c", "axxbyybzc"));
  EXPECT_FALSE(matches_name_pattern("a*b*c", "axxbyybz"));
  EXPECT_TRUE(matches_name_pattern("*", ""));
  EXPECT_FALSE(matches_name_pattern("", "a"));
}

}  // namespace
}  // namespace kw
