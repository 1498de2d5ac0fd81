#include "loop/llm_driver.hpp"

#include <utility>

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
  const bool priced = dollars(setup.prices, setup.provider, setup.model, {}).has_value();
  if (priced) use.prices = setup.price_source;
  if (priced) use.dollars = 0;
  return use;
}

void count_turn(ModelUse& use, const Turn& turn, std::optional<double> dollars) {
  ++use.turns;
  if (turn.fault != ReplyFault::none) ++use.faulty_turns;
  use.prompt_tokens += turn.reply.usage.prompt;
  use.completion_tokens += turn.reply.usage.completion;
  if (use.dollars && dollars) *use.dollars += *dollars;
}

const LlmAccess& LlmDriver::open(std::vector<Turn> recorded, bool resumed) {
  const int capacity = setup_.chains * setup_.samples;
  if (setup_.client != nullptr) pool_ = std::make_unique<ChatPool>(*setup_.client, capacity, deadline_);
  archived_ = resumed ? recorded.size() : 0;
  replies_ = std::make_unique<RecordedReplies>(std::move(recorded), pool_.get(), capacity);
  access_.service = replies_.get();
  access_.keep = [this](Turn turn) { ended_.push_back(std::move(turn)); };
  LlmOptions& options = access_.options;
  options.model = setup_.model;
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
    const auto price = dollars(setup_.prices, setup_.provider, setup_.model, usage);
    turn.dollars = price.value_or(0);
    budget.add_tokens(usage.prompt + usage.completion, turn.dollars);
    // A reply without a kernel was a try as well: a run of so many candidates must end with a model that only talks.
    if (turn.fault != ReplyFault::none) budget.count_candidate();
    turn.finished_seconds = budget.used().wall_seconds;
    count_turn(*run.model_use, turn, price);
    KW_TRY_VOID(archive.append_turn(run.id, turn));
    kept.push_back(std::move(turn));
  }
  return kept;
}

}  // namespace kw
