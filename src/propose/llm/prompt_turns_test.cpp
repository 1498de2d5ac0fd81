// Prompts as a whole, judged by what scripted models make of them: solve rate, turns to the first right kernel, the
// best after so many turns, with the prompts as they are and with parts left out. The models are as forgetful as real
// ones: they know the prompt and nothing else. They do what a prompt tells them; a prompt that stops telling it shows
// here. That a real model would do the same is not claimed.
//
// The table is tests/golden/prompt_turns.md (KW_ACCEPT=1 rewrites it).
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include "base/text.hpp"
#include "propose/llm/prompts/lesson.hpp"
#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

constexpr int k_turns = 16;
constexpr double k_plain_ms = 60;

/// Something to do to a kernel, and how many times as fast it makes it.
struct Idea {
  std::string name;
  double gain = 1;
};

/// What there is to find. The names are words of the source, by which the verifier of this test knows them.
const std::vector<Idea> k_ideas = {{"more_items", 0.8},   {"prefetch", 0.97},   {"deeper_unrolling", 0.95},
                                   {"wide_stores", 1.0},  {"other_order", 0.9}, {"smaller_groups", 0.85},
                                   {"local_copy", 0.7},   {"wide_loads", 1.04}, {"fold_scale", 1.05},
                                   {"fused_loops", 1.06}, {"accumulators", 2.4}};

bool has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

/// From a heading to the next one.
std::string section(const std::string& prompt, const std::string& heading) {
  const std::size_t at = prompt.find("\n# " + heading);
  return at == std::string::npos ? "" : prompt.substr(at + 1, prompt.find("\n# ", at + 1) - at - 1);
}

using Doing = std::vector<std::string>;

/// The ideas in a piece of source.
Doing ideas_in(std::string_view source) {
  Doing found;
  for (const auto& idea : k_ideas) {
    if (has(source, idea.name + "();")) found.push_back(idea.name);
  }
  return found;
}

std::string body_of(const Doing& doing) {
  std::string body = "float16 k = vload16(0, K);";
  for (const auto& name : doing) body += " " + name + "();";
  return body;
}

double speed_of(const Doing& doing) {
  return std::accumulate(k_ideas.begin(), k_ideas.end(), 2.0, [&](double speed, const Idea& idea) {
    return std::find(doing.begin(), doing.end(), idea.name) == doing.end() ? speed : speed * idea.gain;
  });
}

/// The kernel that a prompt says to continue from.
Doing base_of(const std::string& prompt) {
  return ideas_in(section(prompt, "The best kernel so far"));
}

Doing with(Doing doing, const std::string& idea) {
  if (std::find(doing.begin(), doing.end(), idea) == doing.end()) doing.push_back(idea);
  return doing;
}

/// What the prompt says was done already.
std::string told_of(const std::string& prompt) {
  return section(prompt, "Tried before") + section(prompt, "What was learnt before");
}

/// The first idea of the list that the prompt does not say was tried, and that the kernel does not have.
std::string untried(const std::string& prompt, const Doing& base) {
  const std::string told = told_of(prompt);
  for (const auto& idea : k_ideas) {
    if (std::find(base.begin(), base.end(), idea.name) == base.end() && !has(told, idea.name)) return idea.name;
  }
  return k_ideas.back().name;
}

/// What a model says: a design, and a kernel. `turn` counts its answers, as chance would.
struct Said {
  std::string design;
  Doing doing;
  std::string broken = {};  ///< put in front of the source, which does not compile then
  std::string extra = {};   ///< likewise, and it does
};
using ScriptedModel = std::function<Said(const std::string& prompt, int turn)>;

/// One idea a turn, in the order of the list, but none that the prompt says was tried. Having been told of a repetition
/// and of nothing that was tried, any.
Said one_by_one(const std::string& prompt, int turn) {
  const Doing base = base_of(prompt);
  const bool lost = has(prompt, "identical, byte for byte") && told_of(prompt).empty();
  const std::string idea = lost ? k_ideas[static_cast<std::size_t>(turn) % k_ideas.size()].name : untried(prompt, base);
  return {idea, with(base, idea)};
}

/// Changes one small thing where nothing says how much is wanted; where something does, as many as reach it.
Said as_far_as_asked(const std::string& prompt, int turn) {
  const Doing base = base_of(prompt);
  Said said{"", base};
  const bool asked = has(prompt, "To reach: at least 10 % faster than the best kernel");
  for (const char* idea : {"wide_loads", "fold_scale", "fused_loops"}) {
    const bool enough = speed_of(said.doing) >= (asked ? 1.1 : 1.001) * speed_of(base);
    const bool done = std::find(base.begin(), base.end(), idea) != base.end() || has(told_of(prompt), idea);
    if (enough || done) continue;
    said.doing = with(said.doing, idea);
    said.design += std::string(said.design.empty() ? "" : " and ") + idea;
  }
  return said.doing == base ? one_by_one(prompt, turn) : said;
}

/// Does what a note says; without one, as one_by_one.
Said reads_notes(const std::string& prompt, int turn) {
  const Doing base = base_of(prompt);
  const bool new_here = std::find(base.begin(), base.end(), "accumulators") == base.end();
  if (new_here && has(section(prompt, "Notes that fit"), "accumulators in registers")) {
    return {"Instead: accumulators", with(base, "accumulators")};
  }
  return one_by_one(prompt, turn);
}

/// Does what a judge plans; without one, as one_by_one.
Said follows_judge(const std::string& prompt, int turn) {
  const std::string plan = section(prompt, "What a judge says");
  const Doing base = base_of(prompt);
  for (const auto& idea : k_ideas) {
    const bool new_here = std::find(base.begin(), base.end(), idea.name) == base.end();
    if (new_here && has(plan, "Plan: " + idea.name)) return {idea.name, with(base, idea.name)};
  }
  return one_by_one(prompt, turn);
}

/// Reads the figures: many loads call for accumulators. It knows no other remedy, and says then that nothing stands
/// out.
std::string reads_figures(const std::string& prompt) {
  const bool loads = has(prompt, "; 40 load or store");
  return loads ? "Bottleneck: 40 loads in an inner loop of 100 instructions.\nMethod: use each more often.\nPlan: "
                 "accumulators in registers.\n"
               : "Bottleneck: no figure stands out.\n";
}

/// What the verifier of this test finds until the source says that it handles the tail.
constexpr const char* k_tail_wrong = "workload ragged: O is wrong; ragged: the last rows are wrong";
constexpr const char* k_tail = "tail_handled();";

/// Forgets the tail, and does not find that mistake by itself: it changes one thing after the other until it comes to
/// it by going through the list of what may be wrong. What a judge plans it does.
Said forgets_the_tail(const std::string& prompt, int turn) {
  const bool planned = has(section(prompt, "What a judge says"), "Plan: handle the tail");
  constexpr int k_guesses = 5;
  if (planned || turn >= k_guesses || has(prompt, k_tail)) {
    Said said = one_by_one(prompt, turn);
    said.extra = k_tail;
    return said;
  }
  return {fmt::format("guess {}", turn), {}, "", fmt::format("guess_{}();", turn)};
}

/// Reads where an output is wrong, and what that means.
std::string reads_patterns(const std::string& prompt) {
  return has(prompt, "the last rows are wrong") ? "Bottleneck: the last rows are wrong: the tail is not "
                                                  "handled.\nMethod: bounds.\nPlan: handle the tail.\n"
                                                : "Bottleneck: no figure stands out.\n";
}

/// Invents a function in its first answer of all; repairs it when the error is quoted.
Said invents(const std::string& prompt, int turn) {
  if (turn == 0 || (has(prompt, "invented_sum") && !has(prompt, "error: implicit declaration"))) {
    return {"a fast sum", {}, "invented_sum();"};
  }
  return one_by_one(prompt, turn);
}

/// One that never writes a kernel.
Said talks(const std::string&, int) {
  return {};
}

/// What came of a play.
struct Outcome {
  int first_right = 0;          ///< turns until then; 0: never
  std::map<int, double> speed;  ///< of the best against the plain kernel, after so many turns
  std::vector<std::string> lessons;
  int judged = 0;  ///< requests to the judge, besides the turns
};

using ScriptedJudge = std::function<std::string(const std::string& prompt)>;

/// The seat, played by itself.
class Play : public ModelSeat {
 public:
  Play(PromptParts parts, std::vector<std::string> lessons, ScriptedJudge judge = nullptr) : judge_(std::move(judge)) {
    if (judge_) options_.judge = "judge";
    device_.peak_f32_flops = 5.1e11;
    device_.peak_bytes = 3.2e10;
    options_.parts = parts;
    lessons_ = std::move(lessons);
  }
  void TestBody() override {}

  Outcome played(const ScriptedModel& model) {
    Outcome outcome;
    for (int turn = 0; turn < k_turns; ++turn) {
      answer_for_judge(outcome);
      const std::string prompt = told();
      if (testing::Test::HasFailure()) return outcome;
      const Said said = model(prompt, turn);
      if (const auto proposal = say(answer_of(said, prompt))) judge_it(*proposal, said);
      if (best_ > 0 && outcome.first_right == 0) outcome.first_right = turn + 1;
      outcome.speed[turn + 1] = best_;
    }
    outcome.lessons = lessons_of(turns_, attempts_);
    return outcome;
  }

 private:
  void answer_for_judge(Outcome& outcome) {
    if (!judge_) return;
    const auto ask = [this] {
      if (service_.open.empty()) {
        EXPECT_FALSE(proposer().next());
      }
      return service_.open.front().second;
    };
    while (ask().model == "judge") {
      ChatReply reply;
      reply.text = judge_(service_.open.front().second.messages.at(0).text);
      reply.finish = ChatFinish::stop;
      service_.answer(std::move(reply));
      EXPECT_FALSE(proposer().next());
      ++outcome.judged;
    }
  }
  static std::string answer_of(const Said& said, const std::string& prompt) {
    if (said.design.empty()) return "One could make it fast.";
    const std::string base = base_of(prompt).empty() ? "nothing yet" : join(base_of(prompt));
    const std::string reflection =
        has(prompt, "**Reflection**") ? "Diagnosis: see the pairs.\nPrioritise: " + base + ".\n" : "";
    return reflection + "1. **Analysis**: it is slow.\n2. **Design**: " + said.design + "\n\n" +
           fence(bundle(said.broken + said.extra + body_of(said.doing)));
  }
  void judge_it(const Proposal& proposal, const Said& said) {
    if (!said.broken.empty()) {
      attempts_.push_back(
          judge(proposal, refused(GateId::build, Reason::build_failed,
                                  "kernel.cl:3:3: error: implicit declaration of function 'invented_sum'")));
      return;
    }
    if (said.extra.starts_with("guess")) {
      attempts_.push_back(judge(proposal, refused(GateId::check, Reason::wrong_result, k_tail_wrong)));
      return;
    }
    const double speed = speed_of(said.doing);
    const double ratio = best_ > 0 ? speed / best_ : 0;
    const Comparison decision = ratio > 1.02   ? Comparison::faster
                                : ratio < 0.98 ? Comparison::slower
                                               : Comparison::equivalent;
    attempts_.push_back(judge(proposal, [&](Attempt& attempt) {
      timed(k_plain_ms / speed, ratio, decision)(attempt);
      attempt.measurement->roofline_fraction = 0.05 * speed;
      const bool blocks = std::find(said.doing.begin(), said.doing.end(), "accumulators") != said.doing.end();
      attempt.build.machine_code = {{"k", true, 100, 50, 0, 512, blocks ? 8 : 40, 0, 0, {}}};
    }));
    if (attempts_.back().became_best) best_ = speed;
  }

  ScriptedJudge judge_;
  double best_ = 0;  ///< speed of the best against the plain kernel
  std::vector<Attempt> attempts_;
};

struct Row {
  std::string model;
  Outcome before, after;
};

Outcome play(const ScriptedModel& model, PromptParts parts, std::vector<std::string> lessons = {}) {
  return Play(parts, std::move(lessons)).played(model);
}

std::vector<Row> all_played() {
  const PromptParts none{false, false, false};
  const std::vector<std::pair<std::string, ScriptedModel>> models = {{"one idea a turn", one_by_one},
                                                                     {"as far as asked", as_far_as_asked},
                                                                     {"reads notes", reads_notes},
                                                                     {"invents a function", invents},
                                                                     {"only talks", talks}};
  std::vector<Row> rows;
  for (const auto& [name, model] : models) rows.push_back({name, play(model, none), play(model, {})});
  // A second run on the same problem, which the archive tells what the first learnt.
  const auto lessons = play(one_by_one, {}).lessons;
  rows.push_back({"one idea a turn, second run", play(one_by_one, none), play(one_by_one, {}, lessons)});
  return rows;
}

std::string first_right_text(const Outcome& outcome) {
  return outcome.first_right == 0 ? "never" : std::to_string(outcome.first_right);
}

/// Turns until the goal, which only the one great idea reaches.
std::string to_goal_text(const Outcome& outcome) {
  constexpr double k_goal = 3;
  const auto reached =
      std::find_if(outcome.speed.begin(), outcome.speed.end(), [&](const auto& best) { return best.second >= k_goal; });
  return reached == outcome.speed.end() ? "never" : std::to_string(reached->first);
}

std::string table_of(const std::vector<Row>& rows) {
  std::string text =
      "| scripted model | prompts | first right kernel | turns to 3x | best after 2 | 4 | 8 | 12 | 16 turns |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  std::map<std::string, int> solved;
  for (const auto& row : rows) {
    for (const auto& [name, outcome] : {std::pair("left out", &row.before), std::pair("as shipped", &row.after)}) {
      text += fmt::format("| {} | {} | {} | {} |", row.model, name, first_right_text(*outcome), to_goal_text(*outcome));
      for (const int turns : {2, 4, 8, 12, 16}) text += fmt::format(" {:.3g} |", outcome->speed.at(turns));
      text += "\n";
      solved[name] += outcome->first_right > 0 ? 1 : 0;
    }
  }
  return text + fmt::format("\nSolved: {} of {} with the parts left out, {} of {} as shipped.\n", solved["left out"],
                            rows.size(), solved["as shipped"], rows.size());
}

/// One model, with the prompts as shipped, without a judge and with one.
std::string judge_rows(const std::string& model_name, const ScriptedModel& model, const std::string& judge_name,
                       const ScriptedJudge& judge) {
  const Outcome without = Play({}, {}).played(model);
  const Outcome with_judge = Play({}, {}, judge).played(model);
  std::string text;
  for (const auto& [name, outcome] : {std::pair(std::string("none"), &without), std::pair(judge_name, &with_judge)}) {
    text += fmt::format("| {} | {} | {} | {} | {} |", model_name, name, k_turns + outcome->judged,
                        first_right_text(*outcome), to_goal_text(*outcome));
    for (const int turns : {2, 4, 8, 12, 16}) text += fmt::format(" {:.3g} |", outcome->speed.at(turns));
    text += "\n";
  }
  EXPECT_LE(with_judge.first_right, without.first_right) << model_name;
  for (const int turns : {2, 4, 8, 12, 16}) EXPECT_GE(with_judge.speed.at(turns), without.speed.at(turns)) << turns;
  return text;
}

/// For optimising and for repairing.
std::string judge_table() {
  return "\n| scripted model | judge | requests | first right kernel | turns to 3x | best after 2 | 4 | 8 | 12 | 16 "
         "turns "
         "|\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n" +
         judge_rows("follows the judge", follows_judge, "reads figures", reads_figures) +
         judge_rows("forgets the tail", forgets_the_tail, "reads patterns", reads_patterns);
}

TEST(PromptTurns, are_as_accepted_and_never_more_than_without_the_parts) {
  const auto rows = all_played();
  const std::string table = table_of(rows) + judge_table();
  std::printf("%s", table.c_str());
  for (const auto& row : rows) {
    EXPECT_EQ(row.before.first_right, row.after.first_right) << row.model;
    for (const int turns : {2, 4, 8, 12, 16}) {
      EXPECT_GE(row.after.speed.at(turns), row.before.speed.at(turns)) << row.model << " after " << turns;
    }
  }
  const char* const path = "tests/golden/prompt_turns.md";
  if (std::getenv("KW_ACCEPT") != nullptr) std::ofstream(path, std::ios::binary) << table;
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(table, std::string(std::istreambuf_iterator<char>(file), {})) << "KW_ACCEPT=1 rewrites " << path;
}

}  // namespace
}  // namespace kw
