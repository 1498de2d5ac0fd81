// The notes that are shipped: each is held to its source, so that no figure is told to a model that was not measured.
#include "propose/llm/knowledge/knowledge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file_system.hpp"
#include "base/text.hpp"
#include "language/language.hpp"
#include "problem/operator.hpp"
#include "problem/problem.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_most_bytes = std::int64_t{1} << 20;

KnowledgeNote note(const std::string& name, double gain, std::vector<SignCondition> when) {
  KnowledgeNote one;
  one.name = name;
  one.gain = gain;
  one.when = std::move(when);
  return one;
}

std::set<std::string> axes_of_shipped_problems(const std::string& op) {
  std::set<std::string> axes;
  for (const auto& entry : std::filesystem::directory_iterator("problems/" + op)) {
    if (entry.path().extension() != ".toml") continue;
    const auto problem = load_problem(op + "/" + entry.path().stem().string(), RealFileSystem{}, {"problems"});
    EXPECT_TRUE(problem) << entry.path();
    for (const auto& [axis, extent] : problem->primary().axes) axes.insert(axis);
  }
  return axes;
}

TEST(ShippedKnowledge, has_as_many_notes_as_files) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("knowledge")) names.insert(entry.path().stem().string());
  names.erase("README");
  std::set<std::string> shipped;
  for (const auto& one : shipped_knowledge()) shipped.insert(one.name);
  EXPECT_EQ(shipped, names);
  EXPECT_GE(shipped.size(), 8U);
}

TEST(ShippedKnowledge, every_figure_stands_in_its_source) {
  for (const auto& one : shipped_knowledge()) {
    EXPECT_TRUE(one.source.starts_with("docs/results/")) << one.name;
    const auto text = RealFileSystem{}.read(one.source, k_most_bytes);
    ASSERT_TRUE(text) << one.name << ": " << text.error().to_string();
    const std::string source = on_one_line(*text);
    for (const auto& figure : one.figures) {
      EXPECT_NE(source.find(on_one_line(figure)), std::string::npos)
          << one.name << ": '" << figure << "' does not stand in " << one.source;
    }
  }
}

TEST(ShippedKnowledge, names_only_what_there_is) {
  const std::set<std::string> devices = {"cpu", "gpu", "simulator"};
  for (const auto& one : shipped_knowledge()) {
    for (const auto& target : one.targets) EXPECT_NE(find_language(target), nullptr) << one.name << ": " << target;
    for (const auto& device : one.devices) EXPECT_EQ(devices.count(device), 1U) << one.name << ": " << device;
    for (const auto& op : one.operators) EXPECT_NE(find_operator(op), nullptr) << one.name << ": " << op;
    for (const auto& condition : one.when) {
      if (!condition.sign.starts_with("axis_")) continue;
      ASSERT_EQ(one.operators, std::vector<std::string>{"attention"})
          << one.name << ": other operators' axes have no names";
      EXPECT_EQ(axes_of_shipped_problems("attention").count(condition.sign.substr(5)), 1U) << one.name;
    }
  }
}

TEST(FittingNotes, are_those_that_gave_most) {
  const std::vector<KnowledgeNote> notes = {
      note("a", 1.1, {{"registers", ">", 0}}), note("b", 3, {{"registers", ">", 200}}),
      note("c", 1.5, {{"registers", ">", 0}}), note("d", 2, {{"spill_bytes", "<", 9}}),
      note("e", 1.1, {{"registers", ">", 0}})};
  const auto fitting = fitting_notes(notes, {"cuda", "gpu", "attention", {{"registers", 100}}}, 2);
  ASSERT_EQ(fitting.size(), 2U);
  EXPECT_EQ(fitting[0]->name, "c");
  EXPECT_EQ(fitting[1]->name, "a");
}

TEST(FittingNotes, are_for_the_target_the_device_and_the_operator) {
  std::vector<KnowledgeNote> notes = {note("a", 1.1, {{"registers", ">", 0}})};
  const NoteSituation situation{"cuda", "gpu", "attention", {{"registers", 100}}};
  EXPECT_EQ(fitting_notes(notes, situation, 2).size(), 1U);
  notes[0].targets = {"opencl", "hip"};
  EXPECT_TRUE(fitting_notes(notes, situation, 2).empty());
  notes[0].targets = {"hip", "cuda"};
  EXPECT_EQ(fitting_notes(notes, situation, 2).size(), 1U);
  notes[0].devices = {"cpu"};
  EXPECT_TRUE(fitting_notes(notes, situation, 2).empty());
  notes[0].devices = {};
  notes[0].operators = {"program"};
  EXPECT_TRUE(fitting_notes(notes, situation, 2).empty());
}

}  // namespace
}  // namespace kw
