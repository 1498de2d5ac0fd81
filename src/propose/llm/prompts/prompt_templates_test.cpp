#include "propose/llm/prompts/prompt_templates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/testing/scratch_directory.hpp"
#include "language/language.hpp"
#include "record/verdict.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string rendered(std::string_view text, const PromptValues& values) {
  const auto checked = check_template(text, {"a", "b", "c"}, "t.md");
  EXPECT_TRUE(checked) << checked.error().to_string();
  return render_template(text, values);
}

Error refused(std::string_view text) {
  const auto checked = check_template(text, {"alpha", "beta"}, "t.md");
  EXPECT_FALSE(checked) << text;
  return checked ? Error{} : checked.error();
}

TEST(TemplateText, puts_in_values_and_shows_sections_that_have_one) {
  EXPECT_EQ(rendered("x {{a}} y {{b}}", {{"a", "1"}}), "x 1 y ");
  EXPECT_EQ(rendered("{{#a}}has {{a}}{{/a}}{{#b}}no{{/b}}.", {{"a", "1"}}), "has 1.");
  EXPECT_EQ(rendered("1\n{{#a}}\n2 {{#b}}3{{/b}}\n{{/a}}\n4\n", {{"a", "x"}}), "1\n2 \n4\n");
  EXPECT_EQ(rendered("1\n  {{#a}}\n2\n{{/a}}\n3\n", {}), "1\n3\n");
  EXPECT_EQ(rendered("{{#a}}{{#b}}x{{/b}}{{/a}}", {{"b", "1"}}), "") << "hidden inside a hidden section";
}

TEST(TemplateText, never_expands_a_value) {
  EXPECT_EQ(rendered("{{a}}{{b}}", {{"a", "{{b}} {{#c}} {{unknown}}"}, {"b", "2"}}), "{{b}} {{#c}} {{unknown}}2");
}

TEST(TemplateText, leaves_other_braces_alone) {
  for (const char* text : {"float4 x = {{1, 2}, {3}};", "{{}}", "{{ a }}", "{{A}}", "{{a", "}}{{", "{{#1}}"}) {
    EXPECT_EQ(rendered(text, {{"a", "!"}}), text);
  }
}

TEST(TemplateText, refuses_mistakes_by_name_and_line) {
  Error error = refused("one\ntwo {{alfa}}\n");
  EXPECT_EQ(error.code, errc::prompt_template);
  EXPECT_EQ(error.to_string(),
            "t.md:2: unknown placeholder 'alfa'; known here are alpha, beta [prompt.template]\n"
            "  try: did you mean alpha?");
  EXPECT_EQ(refused("\n{{#alpha}}\nx\n").message, "the section {{#alpha}} is never closed");
  EXPECT_EQ(refused("\n{{#alpha}}\nx\n").where.line, 2);
  EXPECT_EQ(refused("{{#alpha}}\n{{#beta}}\n{{/alpha}}").message,
            "{{/alpha}} closes a section that is not the one last opened");
  EXPECT_EQ(refused("{{#alpha}}\n{{#beta}}\n{{/alpha}}").hint, "{{#beta}} of line 2 is open");
  EXPECT_EQ(refused("a\n\n{{/alpha}}").where.line, 3);
}

class TemplateDirectory : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.path() / name) << text;
  }
  Error refusal() {
    auto loaded = load_prompt_templates(files_, directory_.path());
    EXPECT_FALSE(loaded);
    return loaded ? Error{} : loaded.error();
  }
  ScratchDirectory directory_;
  RealFileSystem files_;
};

TEST_F(TemplateDirectory, replaces_shipped_templates_of_the_same_name) {
  write("system.md", "You are {{device_name}}.\n");
  const auto loaded = load_prompt_templates(files_, directory_.path());
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_EQ(loaded->render("system.md", {{"device_name", "a CPU"}}), "You are a CPU.");
  EXPECT_EQ(loaded->texts.at("task.md"), shipped_prompt_templates().texts.at("task.md"));
}

TEST_F(TemplateDirectory, replaces_what_an_operator_says) {
  fs::create_directory(directory_.path() / "attention");
  write("attention/sizes.md", "any size\n");
  const auto loaded = load_prompt_templates(files_, directory_.path());
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_EQ(loaded->render(operator_template("attention", "sizes"), {}), "any size");
}

TEST_F(TemplateDirectory, refuses_names_that_are_not_shipped) {
  write("frist.md", "x");
  const Error error = refusal();
  EXPECT_EQ(error.code, errc::prompt_file);
  EXPECT_THAT(error.message, HasSubstr("'frist.md' is not a prompt template; there are answer.md, "
                                       "attention/distributions.md, attention/operation.md"));
  EXPECT_EQ(error.hint, "did you mean first.md?");
  EXPECT_THAT(error.where.file, HasSubstr("frist.md"));
}

TEST_F(TemplateDirectory, refuses_unknown_placeholders_with_the_line) {
  write("first.md", "{{task}}\n\n{{exemplar}}\n");
  const Error error = refusal();
  EXPECT_EQ(error.code, errc::prompt_template);
  EXPECT_EQ(error.where.line, 3);
  EXPECT_EQ(error.hint, "did you mean exemplars?");
}

TEST_F(TemplateDirectory, refuses_bytes_that_are_no_text) {
  write("first.md", "{{task}}\n\xff\n");
  EXPECT_EQ(refusal().message, "the template is not UTF-8 text, or holds a NUL byte");
}

TEST_F(TemplateDirectory, that_does_not_exist_is_an_error) {
  const auto loaded = load_prompt_templates(files_, directory_.path() / "nowhere");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, errc::prompt_file);
  EXPECT_THAT(loaded.error().message, HasSubstr("cannot read the prompt directory"));
}

TEST(ShippedTemplates, describe_every_language_and_show_an_example_in_it) {
  const auto& texts = shipped_prompt_templates().texts;
  for (const Language* language : languages()) {
    EXPECT_THAT(texts.at("contract.md"), HasSubstr("{{#" + std::string(language->prompt) + "}}"));
    EXPECT_THAT(texts.at(example_template(*language)), HasSubstr("target = "));
  }
}

TEST(ShippedTemplates, are_the_files_of_prompts) {
  const auto& shipped = shipped_prompt_templates();
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator("prompts")) {
    if (entry.is_directory()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_EQ(shipped.texts.at(entry.path().lexically_relative("prompts").generic_string()), text) << entry.path();
    ++count;
  }
  EXPECT_EQ(count, shipped.texts.size());
  RealFileSystem files;
  EXPECT_EQ(load_prompt_templates(files, std::nullopt)->texts, shipped.texts);
}

}  // namespace
}  // namespace kw
