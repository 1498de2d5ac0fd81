#include "cli/model_options.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/text.hpp"
#include "cli/inputs.hpp"
#include "loop/verifier_setup.hpp"
#include "propose/llm/client/curl_chat_client.hpp"
#include "propose/registry.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_text_bytes = std::int64_t{256} << 10;
constexpr int k_most_requests = 64;

tl::unexpected<Error> usage(std::string message, std::string hint) {
  return fail(Error{errc::command_line, std::move(message), std::move(hint)});
}

/// One that optimize can use.
Result<const ProposerEntry*> read_proposer(const std::string& name) {
  const auto entry = find_proposer(name);
  if (entry && !(*entry)->needs_start) return *entry;
  return usage(fmt::format("there is no proposer \"{}\"", name), one_of(proposer_names()));
}

Result<void> check_options(const ModelOptions& options, const ProposerEntry& proposer) {
  const bool asks_for_model = !options.model.empty() || !options.provider.empty() || !options.base_url.empty();
  if (!proposer.asks_model && options.replay.empty() && asks_for_model) {
    return usage(fmt::format("a model is named, but the proposer is {}, which asks none", proposer.name),
                 "add --proposer " + one_of(proposer_names(true)));
  }
  if (options.chains < 1 || options.samples < 1 || options.chains * options.samples > k_most_requests) {
    return usage(fmt::format("{} chains of {} samples", options.chains, options.samples),
                 fmt::format("each at least 1, together at most {}", k_most_requests));
  }
  return {};
}

Result<Provider> read_provider(const ModelOptions& options) {
  if (options.model.empty()) {
    return usage("a model must be named", "add --model NAME, as the provider spells it (docs/models.md)");
  }
  if (options.provider.empty() && options.base_url.empty()) {
    return usage("where is the model? neither a provider nor a URL is given",
                 fmt::format("add --provider NAME ({}), or --base-url URL", join(provider_presets())));
  }
  return make_provider(options.provider.empty() ? "custom" : options.provider, options.base_url);
}

Result<void> read_prices(const ModelOptions& options, const FileSystem& files, ModelSetup& model) {
  model.prices = built_in_prices();
  model.price_source = "built in";
  if (!options.prices.empty()) {
    KW_TRY(const auto text, files.read(options.prices, k_max_text_bytes));
    KW_TRY(auto own, parse_prices(text, options.prices.string()));
    model.prices = joined(std::move(own), model.prices);
    model.price_source = options.prices.filename().string();
  }
  if (const Price* price = find_price(model.prices, model.provider, model.model)) {
    model.price_source += ", as of " + price->as_of;
  }
  return {};
}

Result<void> read_prompts(const ModelOptions& options, RealFileSystem& files, ModelSetup& model) {
  std::optional<std::filesystem::path> folder;
  if (!options.prompts.empty()) folder = options.prompts;
  KW_TRY(model.templates, load_prompt_templates(files, folder));
  if (!options.prompt.empty()) {
    KW_TRY(model.user_prompt, files.read(options.prompt, k_max_text_bytes));
  }
  model.constraints = options.constraints;
  model.plan = options.plan;
  KW_TRY(model.parts, parse_prompt_parts(options.leave_out));
  return {};
}

Result<void> check_budget(const RunSetup& setup) {
  const ModelSetup& model = *setup.model;
  for (const std::string& name : {model.model, model.judge}) {
    if (!setup.limits.dollars || name.empty() || reply_dollars(model, name, {})) continue;
    return usage(fmt::format("a budget in dollars, but no price of {} at {} is known", name, model.provider.name),
                 "give one with --prices FILE (docs/models.md has the format), or limit tokens: 200000t");
  }
  return {};
}

Result<std::unique_ptr<ChatClient>> open_client(const ModelOptions& options, const Provider& provider,
                                                const Clock& clock) {
  std::optional<std::filesystem::path> key_file;
  if (!options.key_file.empty()) key_file = options.key_file;
  std::optional<std::string_view> from_environment;
  if (const char* value = std::getenv(provider.key_variable.c_str())) from_environment = value;
  ClientOptions client;
  client.provider = provider;
  KW_TRY(client.key, find_api_key(provider, key_file, from_environment));
  client.seed = secret_seed();
  client.allow_key_over_http = options.allow_key_over_http;
  if (options.first_token_seconds > 0) client.timeouts.first_token = from_seconds(options.first_token_seconds);
  if (options.idle_seconds > 0) client.timeouts.idle = from_seconds(options.idle_seconds);
  return make_curl_chat_client(std::move(client), clock);
}

/// A replay has the setup of the run it repeats.
Result<void> read_replay(const ModelOptions& options, const Archive& archive, RunSetup& setup) {
  KW_TRY(const auto run, archive.run(options.replay));
  if (!run.model_use) {
    return usage(fmt::format("no model took part in run {}", run.id),
                 "replay a run that was made with --proposer " + one_of(proposer_names(true)));
  }
  setup.replay = run.id;
  setup.proposer = run.proposer;
  ModelSetup& model = setup.model.emplace();
  model.provider.name = run.model_use->provider;
  model.provider.base_url = run.model_use->base_url;
  model.provider.local = true;  // what was paid once costs nothing now
  model.model = run.model_use->model;
  model.judge = run.model_use->judge.value_or("");
  model.effort = run.model_use->effort.value_or("");
  model.chains = static_cast<int>(std::clamp<std::int64_t>(run.model_use->chains, 1, k_most_requests));
  model.samples = static_cast<int>(std::clamp<std::int64_t>(run.model_use->samples, 1, k_most_requests));
  KW_TRY(model.exemplars, parse_exemplar_choice(run.model_use->exemplars));
  return {};
}

}  // namespace

Result<OpenedModel> open_model(const ModelOptions& options, const Clock& clock, const Archive& archive,
                               RunSetup& setup) {
  KW_TRY(const ProposerEntry* proposer, read_proposer(options.proposer));
  KW_TRY_VOID(check_options(options, *proposer));
  KW_TRY(setup.requirements, parse_requirements(join(options.require, ",")));
  setup.proposer = options.proposer;
  OpenedModel opened;
  if (!proposer->asks_model && options.replay.empty()) return opened;
  RealFileSystem files;
  if (!options.replay.empty()) {
    KW_TRY_VOID(read_replay(options, archive, setup));
    KW_TRY_VOID(read_prompts(options, files, *setup.model));
    return opened;
  }
  ModelSetup& model = setup.model.emplace();
  KW_TRY(model.provider, read_provider(options));
  model.model = options.model;
  model.judge = options.judge;
  model.effort = options.effort;
  if (!options.effort.empty()) KW_TRY_VOID(set_effort(model.provider, options.model, options.effort));
  model.chains = options.chains;
  model.samples = options.samples;
  if (options.max_tokens > 0) model.max_tokens = options.max_tokens;
  KW_TRY(model.exemplars, parse_exemplar_choice(options.exemplars));
  KW_TRY_VOID(read_prompts(options, files, model));
  KW_TRY_VOID(read_prices(options, files, model));
  KW_TRY_VOID(check_budget(setup));
  KW_TRY(opened.client, open_client(options, model.provider, clock));
  model.client = opened.client.get();
  return opened;
}

}  // namespace kw
