#include "propose/llm/llm_proposer.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "propose/bandit.hpp"
#include "propose/llm/answer_room.hpp"
#include "propose/llm/chain.hpp"
#include "propose/llm/client/chat_errors.hpp"
#include "propose/llm/judging.hpp"
#include "propose/llm/prompts/judge.hpp"
#include "propose/llm/prompts/lesson.hpp"
#include "propose/llm/prompts/same_source.hpp"
#include "propose/llm/prompts/task_text.hpp"
#include "propose/llm/replies/reply_parse.hpp"
#include "propose/llm/shown_exemplars.hpp"
#include "propose/llm/written_kernels.hpp"

namespace kw {
namespace {

/// A server that failed this often in a row, each time after the client's own retries, is gone.
constexpr int k_failures_in_a_row = 6;
/// A kernel that the verifier could not judge this often, through no fault of its own, is left.
constexpr int k_most_tries = 3;
constexpr double k_coolest = 0.6;
constexpr double k_hottest = 1.0;
constexpr double k_accepted_gain = 0.3;  ///< of a right kernel that is not faster, for the bandit over chains

/// A request that is out.
struct PendingRequest {
  std::size_t chain = 0;
  std::string purpose;
  ChatRequest request;
  std::string source;                     ///< that a header alone is put above
  bool plan = false;                      ///< before the code
  std::optional<SampleResult> told = {};  ///< the kernel that the prompt is about
};

/// A candidate on its way to the verifier.
struct Ready {
  std::size_t chain = 0;
  Turn turn;
  Candidate candidate;
  int tries = 0;  ///< that ended without a verdict
};

PromptContext prompt_context(const ProposerContext& run, const LlmOptions& options) {
  PromptContext prompt;
  prompt.problem = run.problem;
  prompt.costs = run.costs;
  prompt.device = run.device;
  prompt.target = run.target;
  prompt.constraints = options.constraints;
  prompt.requirements = run.requirements;
  prompt.plain = run.plain;
  prompt.plan = options.plan;
  prompt.user_prompt = options.user_prompt;
  prompt.templates = options.templates;
  prompt.parts = options.parts;
  return prompt;
}

/// What a kernel gained over the best of the run before it, for the bandit over chains.
double gain_of(const Attempt& attempt, const Attempt* before) {
  if (!attempt.verdict.accepted()) return 0;
  if (before == nullptr) return 1;
  for (const auto& versus : attempt.measurement ? attempt.measurement->versus : std::vector<Versus>()) {
    if (versus.name == "incumbent") return k_accepted_gain + (1 - k_accepted_gain) * gain_of_speedup(versus.speedup);
  }
  return k_accepted_gain;
}

/// The source that the next prompt of a chain asks to be repaired; empty where it asks for no repair.
std::string source_shown(const Chain& chain) {
  const SampleResult* last = chain.last();
  if (last == nullptr) return "";
  std::string source = last->attempt == nullptr ? source_in(last->turn.reply) : "";
  return source.empty() && chain.wrong() != nullptr ? chain.wrong()->candidate.bundle.source : source;
}

class LlmProposer final : public Proposer {
 public:
  LlmProposer(const ProposerContext& run, const LlmAccess& access)
      : options_(access.options),
        prompt_(prompt_context(run, access.options)),
        measured_(run.measured),
        past_(run.past),
        lessons_(run.lessons),
        room_(access.options.max_tokens, run.token_limit),
        service_(*access.service),
        keep_(access.keep),
        rng_(run.seed),
        judging_(options_.judge),
        exemplars_(options_.exemplars, options_.exemplar_count, options_.chains),
        chain_bandit_(static_cast<std::size_t>(options_.chains)) {
    for (int i = 0; i < options_.chains; ++i) chains_.emplace_back(i);
  }

  std::optional<Proposal> next() override;
  [[nodiscard]] Idle idle() const override;
  void observe(const Attempt& attempt) override;
  void others_proposed(const Candidate& candidate) override { kernels_.add(candidate); }
  void others_observed(const Attempt& attempt) override;

 private:
  void ask_due_chains();
  void ask(std::size_t index);
  void ask_judge(std::size_t index);
  void look_at(const Chain& chain);
  [[nodiscard]] std::vector<ChatMessage> prompt_for(const Chain& chain);
  [[nodiscard]] std::vector<Exemplar> draw_exemplars(const Chain& chain);
  [[nodiscard]] bool asks_for_plan(const Chain& chain) const;
  void take(ChatOutcome outcome);
  void take_judgement(const PendingRequest& pending, Turn turn, Result<ChatReply> reply);
  void take_failure(const PendingRequest& pending, Turn turn, const Error& error);
  [[nodiscard]] std::vector<Candidate> read_reply(const PendingRequest& pending, Turn& turn);
  const Attempt& keep(const Attempt& attempt);
  void end_with_fault(std::size_t chain, Turn turn);
  [[nodiscard]] Proposal propose_ready();

  LlmOptions options_;
  PromptContext prompt_;
  const DeviceFacts* measured_;  ///< may be null
  std::vector<Attempt> past_;
  Lessons lessons_;
  AnswerRoom room_;
  ChatService& service_;
  std::function<void(Turn)> keep_;
  Rng rng_;
  std::deque<Chain> chains_;
  Judging judging_;
  ShownExemplars exemplars_;
  Bandit chain_bandit_;
  std::deque<Attempt> attempts_;   ///< all observed; chains point into it
  const Attempt* best_ = nullptr;  ///< the run's, whoever wrote it; null while there is none
  std::map<std::int64_t, PendingRequest> requests_;
  std::int64_t next_turn_ = 0;
  std::deque<Ready> ready_;
  std::deque<Ready> pending_;  ///< proposed, not observed
  WrittenKernels kernels_;
  bool took_reply_ = false;      ///< by the last next()
  int failures_ = 0;             ///< of the server, in a row
  std::optional<Error> closed_;  ///< no request is made any more
};

std::optional<Proposal> LlmProposer::next() {
  // One reply a call, so that the loop can end between two of them; and what was taken is followed up before the next
  // one is, so that a replay, which has all of them at hand, asks in the same order.
  took_reply_ = false;
  if (ready_.empty()) {
    ask_due_chains();
    if (auto outcome = service_.poll(std::ssize(attempts_))) {
      take(*std::move(outcome));
      took_reply_ = true;
    }
  }
  if (ready_.empty()) return std::nullopt;
  return propose_ready();
}

Proposal LlmProposer::propose_ready() {
  Ready ready = std::move(ready_.front());
  ready_.pop_front();
  Proposal proposal{
      ready.candidate,
      "llm",
      fmt::format("chain {}, {}{}", ready.turn.chain, ready.turn.purpose, ready.tries > 0 ? ", again" : ""),
      {ready.turn.ordinal, ready.turn.chain}};
  pending_.push_back(std::move(ready));
  return proposal;
}

Idle LlmProposer::idle() const {
  if (took_reply_) return {Idle::Why::again, {}};
  if (!requests_.empty()) return {Idle::Why::waiting, {}};
  if (closed_) return {Idle::Why::failed, *closed_};
  return {};
}

void LlmProposer::ask_due_chains() {
  while (!closed_ && std::ssize(requests_) < service_.capacity()) {
    const auto judged =
        std::find_if(chains_.begin(), chains_.end(), [&](const Chain& chain) { return judging_.wants(chain); });
    if (judged != chains_.end()) {
      ask_judge(static_cast<std::size_t>(judged - chains_.begin()));
      continue;
    }
    std::vector<bool> due;
    for (const auto& chain : chains_) due.push_back(chain.need() != ChainNeed::nothing && !judging_.is_asked(chain));
    if (std::find(due.begin(), due.end(), true) == due.end()) return;
    ask(chain_bandit_.choose(due));
  }
}

bool LlmProposer::asks_for_plan(const Chain& chain) const {
  if (chain.need() == ChainNeed::first) return options_.plan;
  return chain.need() == ChainNeed::repair_reply && chain.last()->turn.fault == ReplyFault::no_plan;
}

/// One round of a chain. Its samples differ in temperature, as chains do: alike requests get alike answers.
void LlmProposer::ask(std::size_t index) {
  Chain& chain = chains_[index];
  PendingRequest pending{index, chain.purpose(), {}, source_shown(chain), asks_for_plan(chain)};
  pending.request.model = options_.model;
  pending.request.messages = prompt_for(chain);
  pending.request.max_tokens = room_.next();
  std::string step;
  if (const auto* last = chain.last(); last != nullptr && last->attempt != nullptr) {
    step = suggested_step(prompt_, *last->attempt, best_);
    pending.told = *last;
  }
  chain.begin_round(options_.samples, std::move(step));
  const int all = options_.chains * options_.samples;
  for (int sample = 0; sample < options_.samples; ++sample) {
    const int place = static_cast<int>(index) * options_.samples + sample;
    pending.request.temperature = all == 1 ? k_coolest : k_coolest + (k_hottest - k_coolest) * place / (all - 1);
    const std::int64_t turn = next_turn_++;
    service_.submit(turn, pending.request);
    requests_.emplace(turn, pending);
  }
}

void LlmProposer::ask_judge(std::size_t index) {
  const Chain& chain = chains_[index];
  look_at(chain);
  PendingRequest pending{index, std::string(k_judge_purpose), {}, "", false};
  pending.request.model = judging_.model();
  pending.request.messages = judge_prompt(prompt_, *chain.last()->attempt, best_);
  pending.request.max_tokens = room_.next();
  pending.request.temperature = k_coolest;
  judging_.asked(chain);
  const std::int64_t turn = next_turn_++;
  service_.submit(turn, pending.request);
  requests_.emplace(turn, std::move(pending));
}

/// What the next prompt about the chain is to say of the run.
void LlmProposer::look_at(const Chain& chain) {
  prompt_.tried = chain.tried();
  prompt_.lessons = lessons_.shown();
  prompt_.judgement.clear();
  if (measured_ != nullptr) prompt_.device = *measured_;
  if (prompt_.first_bound_ns) return;
  if (const auto bound = peak_times(prompt_)) prompt_.first_bound_ns = bound->bound_ns();
}

std::vector<ChatMessage> LlmProposer::prompt_for(const Chain& chain) {
  look_at(chain);
  prompt_.judgement = judging_.take_text(chain);
  switch (chain.need()) {
    case ChainNeed::repair_reply:
      return fault_prompt(prompt_, chain.last()->turn, chain.wrong(), best_);
    case ChainNeed::feedback:
      return feedback_prompt(prompt_, *chain.last()->attempt, best_, draw_exemplars(chain));
    case ChainNeed::first:
    case ChainNeed::nothing:
      break;
  }
  const int variation = static_cast<int>(chain.id()) + chain.restarts() * options_.chains;
  return first_prompt(prompt_, draw_exemplars(chain), variation, best_);
}

std::vector<Exemplar> LlmProposer::draw_exemplars(const Chain& chain) {
  std::vector<const Attempt*> verified;
  // What stands in the prompt already, as the best, is not shown twice.
  const bool with_best = best_ != nullptr;
  const Hash best = with_best ? source_identity(best_->candidate.bundle) : Hash();
  const auto offer = [&](const Attempt& attempt) {
    if (!attempt.verdict.accepted() || !attempt.measurement) return;
    if (!with_best || source_identity(attempt.candidate.bundle) != best) verified.push_back(&attempt);
  };
  std::for_each(past_.begin(), past_.end(), offer);
  std::for_each(attempts_.begin(), attempts_.end(), offer);
  return exemplars_.draw(chain.id(), verified, prompt_.plain.median_ns, rng_);
}

/// A reply, or the failure of a request, becomes a turn.
void LlmProposer::take(ChatOutcome outcome) {
  const auto found = requests_.find(outcome.turn);
  KW_CHECK(found != requests_.end(), "turn {} was never asked for", outcome.turn);
  const PendingRequest pending = std::move(found->second);
  requests_.erase(found);
  Turn turn;
  turn.ordinal = outcome.turn;
  turn.chain = chains_[pending.chain].id();
  turn.before_attempt = std::ssize(attempts_);
  turn.purpose = pending.purpose;
  turn.request = pending.request;
  if (pending.purpose == k_judge_purpose) return take_judgement(pending, std::move(turn), std::move(outcome.reply));
  if (!outcome.reply) return take_failure(pending, std::move(turn), outcome.reply.error());
  failures_ = 0;
  turn.reply = *std::move(outcome.reply);
  turn.summary = reasoning_summary(turn.reply);
  if (pending.told) lessons_.add(lesson_text(turn, *pending.told->attempt, pending.told->turn));
  room_.count(turn.reply);
  exemplars_.count_answer(chains_[pending.chain].id(), attempts_);
  auto candidates = read_reply(pending, turn);
  if (candidates.empty()) return end_with_fault(pending.chain, std::move(turn));
  keep_(turn);
  chains_[pending.chain].take_candidates(static_cast<int>(candidates.size()));
  for (auto& candidate : candidates) ready_.push_back({pending.chain, turn, std::move(candidate)});
}

/// Of use or not: the chain goes on.
void LlmProposer::take_judgement(const PendingRequest& pending, Turn turn, Result<ChatReply> reply) {
  const Chain& chain = chains_[pending.chain];
  if (!reply) {
    const bool for_length = room_.take_failure(turn.request.max_tokens, reply.error());
    judging_.take_failure(chain, is_final_chat_error(reply.error()) && !for_length);
    if (reply.error().code == errc::chat_stopped) return;
    turn.fault = ReplyFault::no_reply;
    turn.fault_message = reply.error().message;
  } else {
    turn.reply = *std::move(reply);
    turn.summary = reasoning_summary(turn.reply);
    room_.count(turn.reply);
    judging_.take_answer(chain, turn);
  }
  keep_(std::move(turn));
}

void LlmProposer::take_failure(const PendingRequest& pending, Turn turn, const Error& error) {
  // The run is ending: nobody's turn.
  if (error.code == errc::chat_stopped) return chains_[pending.chain].drop_sample();
  ++failures_;
  const bool for_length = room_.take_failure(turn.request.max_tokens, error);
  if ((is_final_chat_error(error) && !for_length) || failures_ >= k_failures_in_a_row) closed_ = error;
  turn.fault = ReplyFault::no_reply;
  turn.fault_message = error.message;
  end_with_fault(pending.chain, std::move(turn));
}

/// Those of the reply that were not seen before; without any, the turn says why.
std::vector<Candidate> LlmProposer::read_reply(const PendingRequest& pending, Turn& turn) {
  ParsedReply parsed = parse_reply(turn.reply, prompt_.target, pending.source);
  turn.fault = parsed.fault;
  turn.fault_message = parsed.message;
  if (!parsed.bundle) return {};
  if (pending.plan && parsed.plan.empty()) {
    turn.fault = ReplyFault::no_plan;
    turn.fault_message = "a plan was asked for before the code, and the answer has none";
    return {};
  }
  parsed.others.insert(parsed.others.begin(), *std::move(parsed.bundle));
  return kernels_.take_new(std::move(parsed.others), turn);
}

void LlmProposer::end_with_fault(std::size_t chain, Turn turn) {
  keep_(turn);
  chain_bandit_.reward(chain, 0);
  chains_[chain].take_fault(std::move(turn));
}

const Attempt& LlmProposer::keep(const Attempt& attempt) {
  const Attempt& kept = attempts_.emplace_back(attempt);
  if (kept.became_best) best_ = &kept;
  return kept;
}

void LlmProposer::observe(const Attempt& attempt) {
  KW_CHECK(!pending_.empty(), "attempt {} was observed but never proposed", attempt.ordinal);
  Ready ready = std::move(pending_.front());
  pending_.pop_front();
  const Attempt* const before = best_;
  const Attempt& kept = keep(attempt);
  if (kept.verdict.status == VerdictStatus::unverified) {
    if (++ready.tries < k_most_tries) return ready_.push_front(std::move(ready));
    // The model may send it again: nothing is known of it.
    kernels_.forget(ready.candidate);
  }
  chain_bandit_.reward(ready.chain, gain_of(kept, before));
  chains_[ready.chain].end_sample(ready.turn, kept);
}

/// A tuned form of a chain's kernel is the chain's gain; the others are shown as exemplars, and as the best.
void LlmProposer::others_observed(const Attempt& attempt) {
  const Attempt& kept = keep(attempt);
  const auto chain = kept.provenance.chain;
  if (chain && *chain >= 0 && *chain < std::ssize(chains_)) chains_[static_cast<std::size_t>(*chain)].take_tuned(kept);
}

}  // namespace

std::unique_ptr<Proposer> make_llm_proposer(const ProposerContext& context, const LlmAccess& access) {
  KW_CHECK(context.problem != nullptr && access.service != nullptr, "prompts need a problem and a model");
  const auto& options = access.options;
  KW_CHECK(options.chains > 0 && options.samples > 0, "{} chains of {} samples", options.chains, options.samples);
  return std::make_unique<LlmProposer>(context, access);
}

}  // namespace kw
