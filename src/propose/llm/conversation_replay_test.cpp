// Conversations that are kept word for word in tests/llm/conversations/, played through the prompts and the parser as
// they are: an answer is given only where the prompt says what it is based on. What comes of each (whether it was
// solved, turns to the first right kernel, the best after so many turns) is tests/golden/conversations.md; KW_ACCEPT=1
// rewrites it.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "propose/testing/model_seat.hpp"
#include "record/verdict.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

struct RecordedAnswer {
  bool cut_off = false;
  std::vector<std::string> needs;  ///< words of the prompt
  std::string text;
  std::vector<std::string> verdicts;  ///< of its kernels, each time one is verified
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// README.md there says how a conversation is written.
std::vector<RecordedAnswer> read_conversation(const fs::path& path) {
  std::vector<RecordedAnswer> answers;
  std::istringstream lines(text_of(path));
  bool in_head = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "== answer" || line == "== answer cut off") {
      answers.push_back({line.ends_with("cut off"), {}, "", {}});
      in_head = true;
    } else if (line.starts_with("== verdict ")) {
      answers.back().verdicts.push_back(line.substr(std::string_view("== verdict ").size()));
    } else if (in_head && line.starts_with("needs: ")) {
      answers.back().needs.push_back(line.substr(std::string_view("needs: ").size()));
    } else if (!answers.empty()) {
      if (!in_head) answers.back().text += line + "\n";
      in_head = false;
    }
  }
  return answers;
}

template <typename Value, typename Names>
Value value_named(const Names& names, const std::string& word) {
  for (const auto& one : names) {
    if (one.name == word) return one.value;
  }
  ADD_FAILURE() << "there is no " << word;
  return {};
}

/// "right 20 ms", "faster 9 ms 2.2", "rejected check wrong_result workload ragged: O is wrong", "undecided".
Judgement judgement_of(const std::string& verdict) {
  std::istringstream words(verdict);
  std::string kind;
  words >> kind;
  if (kind == "undecided") return disturbed();
  if (kind == "rejected") {
    std::string gate, reason, sentence;
    words >> gate >> reason >> std::ws;
    std::getline(words, sentence);
    return refused(value_named<GateId>(k_gate_names, gate), value_named<Reason>(k_reason_names, reason), sentence);
  }
  double ms = 0, ratio = 0;
  std::string unit;
  words >> ms >> unit >> ratio;
  EXPECT_EQ(unit, "ms") << verdict;
  const std::map<std::string, Comparison> decisions = {{"right", Comparison::faster},
                                                       {"faster", Comparison::faster},
                                                       {"slower", Comparison::slower},
                                                       {"equivalent", Comparison::equivalent}};
  EXPECT_TRUE(decisions.contains(kind)) << verdict;
  return timed(ms, ratio, decisions.at(kind));
}

/// What came of a conversation.
struct ReplayOutcome {
  std::string name;
  std::string lost;  ///< what a prompt did not say, or which kernel was not taken; empty: it was told all
  int turns = 0;
  int faults = 0;               ///< answers without a kernel
  int first_right = 0;          ///< turns until then; 0: never
  std::map<int, double> speed;  ///< times the plain kernel's, of the best after so many turns
};

class Replay : public ModelSeat {
 public:
  void TestBody() override {}

  ReplayOutcome played(const fs::path& path) {
    outcome_.name = path.stem().string();
    for (const RecordedAnswer& answer : read_conversation(path)) {
      const std::string prompt = told();
      for (const std::string& words : answer.needs) {
        if (prompt.find(words) == std::string::npos) outcome_.lost = fmt::format("not told: {}", words);
      }
      if (!outcome_.lost.empty()) break;
      give(answer);
      if (!outcome_.lost.empty()) break;
    }
    return outcome_;
  }

 private:
  void give(const RecordedAnswer& answer) {
    ++outcome_.turns;
    std::optional<Proposal> proposal = say(answer.text, answer.cut_off ? ChatFinish::length : ChatFinish::stop);
    if (!proposal) ++outcome_.faults;
    for (const std::string& verdict : answer.verdicts) {
      if (!proposal) {
        outcome_.lost = fmt::format("not taken: {} ({})", verdict, turns_.back().fault_message);
        return;
      }
      const Attempt attempt = judge(*proposal, judgement_of(verdict));
      if (attempt.verdict.accepted() && outcome_.first_right == 0) outcome_.first_right = outcome_.turns;
      if (attempt.became_best) best_ = k_plain_ms * 1e6 / attempt.measurement->median_ns;
      proposal = proposer().next();
    }
    if (proposal) outcome_.lost = "a kernel was taken that has no verdict";
    outcome_.speed[outcome_.turns] = best_;
  }

  static constexpr double k_plain_ms = 60;  ///< as the seat has it
  ReplayOutcome outcome_;
  double best_ = 0;
};

std::string conversations_table(const std::vector<ReplayOutcome>& outcomes) {
  std::string text =
      "| conversation | turns | without a kernel | first right kernel | best after 2 | 4 | 8 turns | told all |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  int solved = 0;
  for (const ReplayOutcome& one : outcomes) {
    text += fmt::format("| {} | {} | {} | {} |", one.name, one.turns, one.faults,
                        one.first_right == 0 ? "never" : std::to_string(one.first_right));
    for (const int turns : {2, 4, 8}) {
      const auto until = one.speed.upper_bound(turns);
      text += fmt::format(" {:.3g} |", until == one.speed.begin() ? 0.0 : std::prev(until)->second);
    }
    text += fmt::format(" {} |\n", one.lost.empty() ? "yes" : one.lost);
    solved += one.first_right > 0 ? 1 : 0;
  }
  return text + fmt::format("\nSolved: {} of {}.\n", solved, outcomes.size());
}

TEST(ConversationReplays, come_to_what_was_accepted) {
  std::set<fs::path> paths;
  for (const auto& entry : fs::directory_iterator("tests/llm/conversations")) {
    if (entry.path().extension() == ".txt") paths.insert(entry.path());
  }
  ASSERT_GE(paths.size(), 7U);
  std::vector<ReplayOutcome> outcomes;
  for (const fs::path& path : paths) {
    outcomes.push_back(Replay().played(path));
    EXPECT_EQ(outcomes.back().lost, "") << path;
  }
  const std::string table = conversations_table(outcomes);
  std::printf("%s", table.c_str());
  const char* const golden = "tests/golden/conversations.md";
  if (std::getenv("KW_ACCEPT") != nullptr) std::ofstream(golden, std::ios::binary) << table;
  EXPECT_EQ(table, text_of(golden)) << "KW_ACCEPT=1 rewrites " << golden;
}

TEST(ConversationReplays, end_where_a_prompt_does_not_say_what_an_answer_is_based_on) {
  const fs::path path = fs::path(testing::TempDir()) / "conversation_of_a_prophet.txt";
  std::ofstream(path) << "# a model that knows what nobody said\n== answer\nneeds: the winning numbers\n\nNo kernel.\n";
  const ReplayOutcome outcome = Replay().played(path);
  fs::remove(path);
  EXPECT_EQ(outcome.lost, "not told: the winning numbers");
  EXPECT_EQ(outcome.turns, 0);
}

}  // namespace
}  // namespace kw
