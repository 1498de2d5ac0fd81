#include "loop/llm_driver.hpp"

#include <algorithm>
#include <utility>

#include "propose/llm/client/request_body.hpp"

namespace kw {

ModelUse describe_model(const ModelSetup& setup) {
  ModelUse use;
  use.provider = setup.provider.name;
  use.base_url = setup.provider.base_url;
  use.model = setup.model;
  use.chains = setup.chains;
  use.samples = setup.samples;
  use.exemplars = std::string(to_string(setup.exemplars));
  use.constraints = setup.constraints;
  if (!setup.judge.empty()) use.judge = setup.judge;
  if (!setup.effort.empty()) use.effort = setup.effort;
  const bool priced = reply_dollars(setup, setup.model, {}) && (!use.judge || reply_dollars(setup, *use.judge, {}));
  if (priced) use.prices = setup.price_source;
  if (priced) use.dollars = 0;
  if (setup.client != nullptr) use.requests = use.request_tokens = use.answered_tokens = 0;
  return use;
}

std::optional<double> reply_dollars(const ModelSetup& setup, const std::string& model, const TokenUsage& usage) {
  return dollars(setup.prices, setup.provider, model, usage);
}

double open_dollars(const ModelSetup& setup, const OpenRequests& open) {
  TokenUsage usage;
  usage.prompt = open.tokens;
  const double own = reply_dollars(setup, setup.model, usage).value_or(0);
  return setup.judge.empty() ? own : std::max(own, reply_dollars(setup, setup.judge, usage).value_or(0));
}

void count_turn(ModelUse& use, const Turn& turn, std::optional<double> dollars) {
  ++use.turns;
  if (is_failed_try(turn)) ++use.faulty_turns;
  use.prompt_tokens += turn.reply.usage.prompt;
  use.completion_tokens += turn.reply.usage.completion;
  if (use.dollars && dollars) *use.dollars += *dollars;
  if (use.answered_tokens) *use.answered_tokens += estimated_tokens(prompt_bytes(turn.request));
}

const LlmAccess& LlmDriver::open(std::vector<Turn> recorded, bool resumed, const ModelUse& use) {
  open_before_ = open_requests(use);
  const int capacity = setup_.chains * setup_.samples;
  if (setup_.client != nullptr) {
    pool_ = std::make_unique<ChatPool>(*setup_.client, capacity, deadline_);
    held_ = std::make_unique<HeldRequests>(*pool_);
  }
  archived_ = resumed ? recorded.size() : 0;
  replies_ = std::make_unique<RecordedReplies>(std::move(recorded), held_.get(), capacity);
  access_.service = replies_.get();
  access_.keep = [this](Turn turn) { ended_.push_back(std::move(turn)); };
  LlmOptions& options = access_.options;
  options.model = setup_.model;
  options.judge = setup_.judge;
  options.chains = setup_.chains;
  options.samples = setup_.samples;
  options.exemplars = setup_.exemplars;
  options.max_tokens = setup_.max_tokens;
  options.constraints = setup_.constraints;
  options.plan = setup_.plan;
  options.user_prompt = setup_.user_prompt;
  options.parts = setup_.parts;
  options.templates = &setup_.templates;
  return access_;
}

Result<std::vector<Turn>> LlmDriver::keep_turns(Archive& archive, RunRecord& run, Budget& budget) {
  std::vector<Turn> kept;
  for (auto& turn : std::exchange(ended_, {})) {
    if (archived_ > 0) {
      --archived_;
      continue;
    }
    const auto& usage = turn.reply.usage;
    const auto price = reply_dollars(setup_, turn.request.model, usage);
    turn.dollars = price.value_or(0);
    budget.add_tokens(usage.prompt + usage.completion, turn.dollars);
    // A reply without a kernel was a try as well: a run of so many candidates must end with a model that only talks.
    if (is_failed_try(turn)) budget.count_candidate();
    turn.finished_seconds = budget.used().wall_seconds;
    count_turn(*run.model_use, turn, price);
    KW_TRY_VOID(archive.append_turn(run.id, turn));
    kept.push_back(std::move(turn));
  }
  KW_TRY_VOID(send_requests(archive, run));
  return kept;
}

Result<void> LlmDriver::send_requests(Archive& archive, RunRecord& run) {
  if (held_ == nullptr || held_->held().empty()) return {};
  ModelUse& use = *run.model_use;
  for (const auto& [turn, request] : held_->held()) {
    use.requests = use.requests.value_or(0) + 1;
    use.request_tokens = use.request_tokens.value_or(0) + estimated_tokens(prompt_bytes(request));
  }
  KW_TRY_VOID(archive.update_run(run));
  held_->release();
  return {};
}

void LlmDriver::close(const ModelUse& use, Budget& budget) {
  pool_.reset();
  OpenRequests open = open_requests(use);
  open.count -= open_before_.count;
  open.tokens -= open_before_.tokens;
  budget.add_tokens(open.tokens, open_dollars(setup_, open));
}

}  // namespace kw
