#include "propose/llm/llm_proposer.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "propose/bandit.hpp"
#include "propose/llm/chain.hpp"
#include "propose/llm/chat_errors.hpp"
#include "propose/llm/device_filler.hpp"
#include "propose/llm/reasoning_summary.hpp"
#include "propose/llm/reply_parse.hpp"

namespace kw {
namespace {

/// A server that failed this often in a row, each time after the client's own retries, is gone.
constexpr int k_failures_in_a_row = 6;
/// A reply that has less room than this cannot hold reasoning and a kernel.
constexpr std::int64_t k_least_reply_tokens = 1024;
constexpr double k_coolest = 0.6;
constexpr double k_hottest = 1.0;
constexpr double k_accepted_gain = 0.3;  ///< of a right kernel that is not faster, for the bandit over chains

/// A request that is out.
struct Flight {
  std::size_t chain = 0;
  std::string purpose;
  ChatRequest request;
};

/// A candidate on its way to the verifier.
struct Ready {
  std::size_t chain = 0;
  Turn turn;
  Candidate candidate;
};

class LlmProposer final : public Proposer {
 public:
  LlmProposer(LlmOptions options, ChatService& service)
      : options_(std::move(options)),
        service_(service),
        rng_(options_.seed),
        chain_bandit_(static_cast<std::size_t>(options_.chains)),
        filler_(*options_.prompt.problem, options_.prompt.device, options_.seed, std::move(options_.search)) {
    for (int i = 0; i < options_.chains; ++i) chains_.emplace_back(i);
  }

  std::optional<Proposal> next() override;
  [[nodiscard]] Idle idle() const override;
  void observe(const Attempt& attempt) override;
  std::vector<Turn> take_turns() override { return std::exchange(ended_, {}); }

 private:
  void ask_due_chains();
  void ask(std::size_t index);
  [[nodiscard]] std::vector<ChatMessage> prompt_for(const Chain& chain);
  [[nodiscard]] std::vector<Exemplar> draw_exemplars(const Chain& chain);
  [[nodiscard]] std::optional<std::int64_t> room_for_reply() const;
  void take(ChatOutcome outcome);
  void take_failure(const Flight& flight, Turn turn, const Error& error);
  [[nodiscard]] ParsedReply parse(const ChatReply& reply, std::optional<Candidate>& candidate);
  void end_with_fault(std::size_t chain, Turn turn);
  [[nodiscard]] Proposal propose_ready();

  LlmOptions options_;
  ChatService& service_;
  Rng rng_;
  std::deque<Chain> chains_;
  Bandit chain_bandit_;
  DeviceFiller filler_;
  std::deque<Attempt> attempts_;  ///< all observed; chains point into it
  std::map<std::int64_t, Flight> flights_;
  std::int64_t next_turn_ = 0;
  std::deque<Ready> ready_;
  std::deque<std::optional<Ready>> pending_;  ///< proposed, not observed; nothing: the filler's
  std::vector<Turn> ended_;
  std::set<Hash> seen_;
  std::int64_t used_tokens_ = 0;
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
  if (!ready_.empty()) return propose_ready();
  if (took_reply_) return std::nullopt;
  auto proposal = filler_.next();
  if (proposal) {
    seen_.insert(proposal->candidate.id());
    pending_.emplace_back(std::nullopt);
  }
  return proposal;
}

Proposal LlmProposer::propose_ready() {
  Ready ready = std::move(ready_.front());
  ready_.pop_front();
  Proposal proposal{ready.candidate, "llm", fmt::format("chain {}, {}", ready.turn.chain, ready.turn.purpose),
                    ready.turn.ordinal, ready.turn.chain};
  pending_.emplace_back(std::move(ready));
  return proposal;
}

Idle LlmProposer::idle() const {
  if (took_reply_) return {Idle::Why::again, {}};
  if (!flights_.empty()) return {Idle::Why::waiting, {}};
  if (closed_) return {Idle::Why::failed, *closed_};
  return {};
}

void LlmProposer::ask_due_chains() {
  while (!closed_ && std::ssize(flights_) < service_.capacity()) {
    std::vector<bool> due;
    for (const auto& chain : chains_) due.push_back(chain.need() != ChainNeed::nothing);
    if (std::find(due.begin(), due.end(), true) == due.end()) return;
    ask(chain_bandit_.choose(due));
  }
}

std::optional<std::int64_t> LlmProposer::room_for_reply() const {
  if (!options_.token_limit) return options_.max_tokens;
  const std::int64_t left = std::max(k_least_reply_tokens, *options_.token_limit - used_tokens_);
  return std::min(left, options_.max_tokens.value_or(left));
}

/// One round of a chain. Its samples differ in temperature, as chains do: alike requests get alike answers.
void LlmProposer::ask(std::size_t index) {
  Chain& chain = chains_[index];
  Flight flight{index, chain.purpose(), {}};
  flight.request.model = options_.model;
  flight.request.messages = prompt_for(chain);
  flight.request.max_tokens = room_for_reply();
  std::string step;
  if (const auto* last = chain.last(); last != nullptr && last->attempt != nullptr) {
    step = suggested_step(options_.prompt, *last->attempt, chain.best());
  }
  chain.begin_round(options_.samples, std::move(step));
  const int all = options_.chains * options_.samples;
  for (int sample = 0; sample < options_.samples; ++sample) {
    const int place = static_cast<int>(index) * options_.samples + sample;
    flight.request.temperature = all == 1 ? k_coolest : k_coolest + (k_hottest - k_coolest) * place / (all - 1);
    const std::int64_t turn = next_turn_++;
    service_.submit(turn, flight.request);
    flights_.emplace(turn, flight);
  }
}

std::vector<ChatMessage> LlmProposer::prompt_for(const Chain& chain) {
  options_.prompt.tried = chain.tried();
  switch (chain.need()) {
    case ChainNeed::mending:
      return fault_prompt(options_.prompt, chain.last()->turn, chain.best());
    case ChainNeed::feedback:
      return feedback_prompt(options_.prompt, *chain.last()->attempt, chain.best(), draw_exemplars(chain));
    case ChainNeed::first:
    case ChainNeed::nothing:
      break;
  }
  const int variation = static_cast<int>(chain.id()) + chain.restarts() * options_.chains;
  return first_prompt(options_.prompt, draw_exemplars(chain), variation);
}

std::vector<Exemplar> LlmProposer::draw_exemplars(const Chain& chain) {
  std::vector<const Attempt*> verified;
  for (const auto& attempt : options_.past) verified.push_back(&attempt);
  for (const auto& attempt : attempts_) {
    if (attempt.verdict.accepted()) verified.push_back(&attempt);
  }
  return choose_exemplars(options_.exemplars, verified, options_.prompt.plain.median_ns, options_.exemplar_count,
                          chain.id(), rng_);
}

/// A reply, or the failure of a request, becomes a turn.
void LlmProposer::take(ChatOutcome outcome) {
  const auto found = flights_.find(outcome.turn);
  KW_CHECK(found != flights_.end(), "turn {} was never asked for", outcome.turn);
  const Flight flight = std::move(found->second);
  flights_.erase(found);
  Turn turn;
  turn.ordinal = outcome.turn;
  turn.chain = chains_[flight.chain].id();
  turn.before_attempt = std::ssize(attempts_);
  turn.purpose = flight.purpose;
  turn.request = flight.request;
  if (!outcome.reply) return take_failure(flight, std::move(turn), outcome.reply.error());
  failures_ = 0;
  turn.reply = *std::move(outcome.reply);
  turn.summary = reasoning_summary(turn.reply);
  used_tokens_ += turn.reply.usage.prompt + turn.reply.usage.completion;
  std::optional<Candidate> candidate;
  const ParsedReply parsed = parse(turn.reply, candidate);
  turn.fault = parsed.fault;
  turn.fault_message = parsed.message;
  if (!candidate) return end_with_fault(flight.chain, std::move(turn));
  ended_.push_back(turn);
  chains_[flight.chain].take_candidate();
  ready_.push_back({flight.chain, std::move(turn), *std::move(candidate)});
}

void LlmProposer::take_failure(const Flight& flight, Turn turn, const Error& error) {
  // The run is ending: nobody's turn.
  if (error.code == errc::chat_stopped) return chains_[flight.chain].drop_sample();
  ++failures_;
  if (is_final_chat_error(error) || failures_ >= k_failures_in_a_row) closed_ = error;
  turn.fault = ReplyFault::no_reply;
  turn.fault_message = error.message;
  end_with_fault(flight.chain, std::move(turn));
}

/// `candidate` is set exactly when there is no fault.
ParsedReply LlmProposer::parse(const ChatReply& reply, std::optional<Candidate>& candidate) {
  ParsedReply parsed = parse_reply(reply, options_.prompt.target);
  if (!parsed.bundle) return parsed;
  auto made = make_candidate(*parsed.bundle);
  if (!made) {
    parsed.fault = ReplyFault::bundle_invalid;
    parsed.message = made.error().message;
  } else if (!seen_.insert(made->id()).second) {
    parsed.fault = ReplyFault::repeated;
    parsed.message = "this kernel was verified in this run already";
  } else {
    candidate = *std::move(made);
  }
  return parsed;
}

void LlmProposer::end_with_fault(std::size_t chain, Turn turn) {
  ended_.push_back(turn);
  chain_bandit_.reward(chain, 0);
  chains_[chain].take_fault(std::move(turn));
}

void LlmProposer::observe(const Attempt& attempt) {
  KW_CHECK(!pending_.empty(), "attempt {} was observed but never proposed", attempt.ordinal);
  const std::optional<Ready> ready = std::move(pending_.front());
  pending_.pop_front();
  const Attempt& kept = attempts_.emplace_back(attempt);
  if (!ready) {
    filler_.observe(kept);
    if (kept.chain) chains_[static_cast<std::size_t>(*kept.chain)].offer(kept);
    return;
  }
  Chain& chain = chains_[ready->chain];
  double gain = 0;
  if (kept.verdict.accepted()) {
    const auto* before = chain.best();
    const bool timed = before != nullptr && before->measurement && kept.measurement;
    const double speedup = timed ? before->measurement->median_ns / kept.measurement->median_ns : 1.0;
    gain = before == nullptr ? 1 : k_accepted_gain + (1 - k_accepted_gain) * gain_of_speedup(speedup);
    filler_.add(kept);
  }
  filler_.note_best(kept);
  chain_bandit_.reward(ready->chain, gain);
  chain.end_sample(ready->turn, kept);
}

}  // namespace

std::unique_ptr<Proposer> make_llm_proposer(LlmOptions options, ChatService& service) {
  KW_CHECK(options.prompt.problem != nullptr, "prompts need a problem");
  KW_CHECK(options.chains > 0 && options.samples > 0, "{} chains of {} samples", options.chains, options.samples);
  return std::make_unique<LlmProposer>(std::move(options), service);
}

}  // namespace kw
