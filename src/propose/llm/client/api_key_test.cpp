#include "propose/llm/client/api_key.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <ostream>
#include <type_traits>

#include "base/testing/scratch_directory.hpp"
#include "propose/llm/client/chat_errors.hpp"
#include "propose/llm/client/provider.hpp"

namespace kw {
namespace {

constexpr std::string_view k_secret = "sk-test-0123456789";

template <typename T>
concept Streamable = requires(std::ostream& out, const T& value) {
  out << value;
};
static_assert(!fmt::is_formattable<ApiKey>::value);
static_assert(!Streamable<ApiKey>);
static_assert(!std::is_convertible_v<ApiKey, std::string_view> && !std::is_convertible_v<ApiKey, std::string>);

class ApiKeyFile : public testing::Test {
 protected:
  std::filesystem::path write(std::string_view text, mode_t mode) {
    auto path = folder_ / "key";
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  ScratchDirectory scratch_;
  std::filesystem::path folder_ = scratch_.path();
};

void expect_key_error(const Error& error, std::string_view message) {
  EXPECT_EQ(error.code, errc::chat_key);
  EXPECT_EQ(error.message, message);
  EXPECT_EQ(error.to_string().find(k_secret), std::string::npos) << "no error quotes a key";
}

TEST(ApiKey, is_trimmed_and_leaves_in_one_header) {
  const auto key = ApiKey::make("  sk-test-0123456789\r\n", "x");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->authorization_header(), "Authorization: Bearer sk-test-0123456789");
}

TEST(ApiKey, refuses_what_no_key_looks_like_without_quoting_it) {
  const auto refused = [](const std::string& text) { return ApiKey::make(text, "the variable X").error(); };
  expect_key_error(refused(" \n"), "the variable X holds no key");
  expect_key_error(refused(std::string(k_secret) + "\nInjected: header"), "the variable X holds more than one line");
  expect_key_error(refused(std::string(k_secret) + " x"), "the variable X holds characters that no key has");
  expect_key_error(refused(std::string(k_secret) + "\xc3\xa4"), "the variable X holds characters that no key has");
  expect_key_error(refused(std::string(5000, 'a')), "the variable X holds 5000 bytes; no key is longer than 4096");
}

TEST(ApiKey, is_taken_out_of_text_wherever_it_stands) {
  const auto key = *ApiKey::make("abcdabce", "x");
  EXPECT_EQ(key.redact("abcdabcdabce-abcdabce!"), "abcd[key]-[key]!");
  EXPECT_EQ(key.redact("nothing"), "nothing");
  EXPECT_EQ(key.redact(""), "");
}

TEST(ApiKey, changes_no_letter_of_a_kernel_where_it_is_too_short_to_be_a_secret) {
  const std::string kernel = "for (int x = 0; x < k; ++x) sum += none[x];";
  for (const char* word : {"x", "k", "none", "EMPTY", "sk-1234"}) {
    EXPECT_EQ(ApiKey::make(word, "x")->redact(kernel), kernel) << word;
  }
  EXPECT_EQ(ApiKey::make("sk-12345", "x")->redact("Bearer sk-12345"), "Bearer [key]");
}

TEST_F(ApiKeyFile, is_read_when_nobody_else_can) {
  EXPECT_EQ(read_key_file(write("sk-test-0123456789\n", 0600))->redact(k_secret), "[key]");
  EXPECT_TRUE(read_key_file(write("sk-test-0123456789\n", 0400)));
}

TEST_F(ApiKeyFile, is_refused_when_others_can_read_it_and_says_the_chmod) {
  for (const auto& [mode, shown] : {std::pair<mode_t, const char*>{0640, "0640"}, {0604, "0604"}, {0620, "0620"}}) {
    const auto path = write(k_secret, mode);
    const auto key = read_key_file(path);
    ASSERT_FALSE(key) << shown;
    expect_key_error(key.error(),
                     fmt::format("the key file {} is open to other users (mode {})", path.string(), shown));
    EXPECT_EQ(key.error().hint, fmt::format("chmod 600 '{}'", path.string()));
  }
}

TEST_F(ApiKeyFile, has_to_be_a_regular_file) {
  const auto folder = read_key_file(folder_);
  ASSERT_FALSE(folder);
  expect_key_error(folder.error(), fmt::format("the key file {} is not a regular file", folder_.string()));
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto from_pipe = read_key_file(pipe);
  ASSERT_FALSE(from_pipe);
  expect_key_error(from_pipe.error(), fmt::format("the key file {} is not a regular file", pipe.string()));
  const auto missing = read_key_file(folder_ / "missing");
  ASSERT_FALSE(missing);
  expect_key_error(missing.error(), fmt::format("cannot read the key file {}: No such file or directory",
                                                (folder_ / "missing").string()));
}

TEST_F(ApiKeyFile, is_bounded) {
  const auto key = read_key_file(write(std::string(100'000, 'a'), 0600));
  ASSERT_FALSE(key);
  EXPECT_NE(key.error().message.find("no key is longer than 4096"), std::string::npos) << key.error().message;
}

TEST_F(ApiKeyFile, comes_before_the_environment) {
  const auto provider = *make_provider("deepseek", "");
  const auto path = write("from-file", 0600);
  EXPECT_EQ((*find_api_key(provider, path, "from-environment"))->redact("from-file"), "[key]");
  EXPECT_EQ((*find_api_key(provider, std::nullopt, "from-environment"))->redact("from-environment"), "[key]");
}

TEST(FindApiKey, missing_key_is_an_error_only_where_one_is_required) {
  const auto missing = find_api_key(*make_provider("deepseek", ""), std::nullopt, std::nullopt);
  ASSERT_FALSE(missing);
  expect_key_error(missing.error(), "deepseek wants a key, and the environment variable DEEPSEEK_API_KEY is not set");
  EXPECT_EQ(missing.error().hint, "export DEEPSEEK_API_KEY=..., or --key-file FILE with mode 0600");
  const auto local = find_api_key(*make_provider("vllm", ""), std::nullopt, "");
  ASSERT_TRUE(local);
  EXPECT_FALSE(local->has_value());
}

}  // namespace
}  // namespace kw
