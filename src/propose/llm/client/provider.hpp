#pragma once
// Where a model is served and what its server expects: presets as data. All speak the same protocol, chat completions
// as OpenAI defined them, with small differences, which stand here and nowhere else.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

struct Provider {
  std::string name;           ///< of the preset: "deepseek"
  std::string base_url;       ///< without a slash at the end; requests go to base_url/chat/completions
  std::string key_variable;   ///< environment variable of the key
  bool key_required = false;  ///< asking without a key is pointless
  bool local = false;         ///< the user's own server: tokens cost nothing
  std::string max_tokens_field = "max_tokens";  ///< what the server calls ChatRequest::max_tokens
  bool takes_effort = false;                    ///< the server is known to take reasoning_effort
  std::string effort;                           ///< sent as reasoning_effort; empty: left out
};

/// What a model does not take, whoever serves it.
struct ModelTraits {
  bool takes_system_role = true;  ///< if not: the system text goes in front of the first user message
  bool takes_temperature = true;  ///< if not: it is left out
  bool takes_effort = true;       ///< where its server does
  std::string max_tokens_field = "max_tokens";
};

/// The presets' names: deepseek, nvidia, openai, openrouter, vllm, sglang, ollama, llamacpp, and custom, which has no
/// URL of its own.
[[nodiscard]] std::vector<std::string> provider_presets();

/// A preset with its URL, or with `base_url` where that is not empty. errc::chat_provider: no such preset (the message
/// lists them); custom without a URL; a URL that is not http(s)://host[:port][/path] or that holds a password.
[[nodiscard]] Result<Provider> make_provider(std::string_view preset, std::string_view base_url);

/// How long the model is to think: "none", "minimal", "low", "medium", "high", "xhigh" or "max", of which each model
/// takes some. errc::chat_provider: another word; a server or a model that is not known to take it, because it would be
/// ignored silently or refused at the first request.
[[nodiscard]] Result<void> set_effort(Provider& provider, std::string_view model, std::string_view effort);

/// By the model's name.
[[nodiscard]] ModelTraits traits_of(const Provider& provider, std::string_view model);

/// Whether the URL is plain http to another machine, where a key could be read on the way.
[[nodiscard]] bool is_open_to_listeners(const Provider& provider);
/// Whether the URL's host is this machine: localhost, 127.0.0.0/8 or ::1.
[[nodiscard]] bool is_loopback(const Provider& provider);

}  // namespace kw
