#include "propose/llm/knowledge/knowledge_note.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

constexpr const char* k_note =
    "# Cheaper tanh\n\n* target: opencl, hip\n* device: cpu\n* operator: attention\n"
    "* when: calls_tanh > 0, bound_share <= 0.9\n* gain: 1.18\n* source: docs/results/x.md\n"
    "* figure: 177 against 150\n* figure: 18 %\n\nUse a rational form.\n\nIt is short.\n";

std::string with(std::string text, const std::string& old, const std::string& instead) {
  return text.replace(text.find(old), old.size(), instead);
}

void expect_refused(const std::string& text, const std::string& error) {
  const auto note = parse_knowledge_note(text, "tanh");
  ASSERT_FALSE(note) << text;
  EXPECT_EQ(note.error().code, errc::knowledge_note);
  EXPECT_EQ(note.error().to_string(), error);
}

TEST(KnowledgeNote, reads_head_lines_and_text) {
  const auto note = parse_knowledge_note(k_note, "tanh");
  ASSERT_TRUE(note) << note.error().to_string();
  EXPECT_EQ(note->title, "Cheaper tanh");
  EXPECT_EQ(note->targets, (std::vector<std::string>{"opencl", "hip"}));
  EXPECT_EQ(note->devices, std::vector<std::string>{"cpu"});
  EXPECT_EQ(note->operators, std::vector<std::string>{"attention"});
  ASSERT_EQ(note->when.size(), 2U);
  EXPECT_EQ(note->when[1].to_string(), "bound_share <= 0.9");
  EXPECT_EQ(note->gain, 1.18);
  EXPECT_EQ(note->source, "docs/results/x.md");
  EXPECT_EQ(note->figures, (std::vector<std::string>{"177 against 150", "18 %"}));
  EXPECT_EQ(note->text, "Use a rational form.\n\nIt is short.");
}

TEST(KnowledgeNote, a_condition_on_what_is_not_known_does_not_hold) {
  const SignCondition few{"registers", "<", 64};
  EXPECT_FALSE(few.holds({}));
  EXPECT_TRUE(few.holds({{"registers", 63}}));
  EXPECT_FALSE(few.holds({{"registers", 64}}));
  EXPECT_TRUE((SignCondition{"registers", ">=", 64}.holds({{"registers", 64}})));
  EXPECT_TRUE((SignCondition{"axis_D", "==", 128}.holds({{"axis_D", 128}})));
}

TEST(KnowledgeNote, refuses_what_it_cannot_use) {
  expect_refused("Cheaper tanh\n",
                 "knowledge/tanh.md:1: a note begins with its title [knowledge.note]\n  try: # TITLE");
  expect_refused(with(k_note, "* device", "* machine"),
                 "knowledge/tanh.md:4: a note knows no 'machine' [knowledge.note]\n  try: the head lines are target, "
                 "device, operator, when, gain, source, figure");
  expect_refused(with(k_note, "* device", "* target"), "knowledge/tanh.md:4: 'target' is there twice [knowledge.note]");
  expect_refused(with(k_note, "* gain: 1.18\n", ""),
                 "knowledge/tanh.md:9: the note has no line '* gain:' [knowledge.note]");
  expect_refused(with(k_note, "1.18", "much"),
                 "knowledge/tanh.md:7: 'much' is no gain [knowledge.note]\n  try: write how many times as fast it "
                 "became: 1.18");
  expect_refused(with(k_note, "calls_tanh > 0", "calls_tanh"),
                 "knowledge/tanh.md:6: 'calls_tanh' is no condition [knowledge.note]\n  try: write SIGN < NUMBER, with "
                 "<, <=, >, >= or ==");
  expect_refused(with(k_note, "calls_tanh > 0", "calls_tanh => 0"),
                 "knowledge/tanh.md:6: 'calls_tanh => 0' is no condition [knowledge.note]\n  try: write SIGN < NUMBER, "
                 "with <, <=, >, >= or ==");
  const auto note = parse_knowledge_note(with(k_note, "calls_tanh", "calls_sinh"), "tanh");
  ASSERT_FALSE(note);
  EXPECT_EQ(note.error().message, "there is no sign 'calls_sinh'");
  expect_refused(std::string(k_note, std::string(k_note).find("Use")),
                 "knowledge/tanh.md:10: the note has no text [knowledge.note]");
}

}  // namespace
}  // namespace kw
