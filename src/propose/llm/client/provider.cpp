#include "propose/llm/client/provider.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "propose/llm/client/chat_errors.hpp"
#include "propose/llm/client/name_pattern.hpp"

namespace kw {
namespace {

struct Preset {
  std::string_view name;
  std::string_view base_url;
  std::string_view key_variable;
  bool key_required;
  bool local;
  std::string_view max_tokens_field = "max_tokens";
  bool takes_effort = false;
};

// Effort: as the servers' own pages said in November 2026; of custom it is assumed, since the user knows the server.
// The ports of local servers are the ones they choose themselves.
constexpr std::array<Preset, 9> k_presets = {{
    {"deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY", true, false},
    {"nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", true, false},
    {"openai", "https://api.openai.com/v1", "OPENAI_API_KEY", true, false, "max_completion_tokens", true},
    {"openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", true, false, "max_tokens", true},
    {"vllm", "http://127.0.0.1:8000/v1", "VLLM_API_KEY", false, true, "max_tokens", true},
    {"sglang", "http://127.0.0.1:30000/v1", "SGLANG_API_KEY", false, true},
    {"ollama", "http://127.0.0.1:11434/v1", "OLLAMA_API_KEY", false, true, "max_tokens", true},
    {"llamacpp", "http://127.0.0.1:8080/v1", "LLAMA_API_KEY", false, true},
    {"custom", "", "KERNELWRIGHT_API_KEY", false, false, "max_tokens", true},
}};

struct ModelRule {
  std::string_view provider;  ///< pattern
  std::string_view model;     ///< pattern
  bool takes_system_role = true;
  bool takes_temperature = true;
  bool takes_effort = true;
};

// What models refuse or ignore. All rules that match apply.
constexpr std::array<ModelRule, 13> k_model_rules = {{
    // OpenAI's reasoning models answer 400 to a temperature; the first of them to a system message as well.
    {"*", "o1*", true, false},
    {"*", "o3*", true, false},
    {"*", "o4-*", true, false},
    {"*", "gpt-5*", true, false},
    {"*", "openai/o1*", true, false},
    {"*", "openai/o3*", true, false},
    {"*", "openai/o4-*", true, false},
    {"*", "openai/gpt-5*", true, false},
    {"*", "*o1-mini*", false, false, false},
    {"*", "*o1-preview*", false, false, false},
    // DeepSeek's service ignores the temperature of its reasoner.
    {"deepseek", "deepseek-reasoner*", true, false},
    // R1 was trained without system prompts, and its authors advise against them.
    {"*", "*deepseek-r1*", false, true},
    // The chat template of Gemma 1 and 2 raises an error.
    {"*", "*gemma-2*", false, true},
}};

Error url_error(std::string_view url, std::string_view what) {
  return Error{errc::chat_provider, fmt::format("the base URL '{}' {}", url, what),
               "write it as http(s)://HOST[:PORT][/PATH], most often with /v1 at the end"};
}

struct UrlParts {
  std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> handle{curl_url(), &curl_url_cleanup};
  [[nodiscard]] bool parse(const std::string& url) const {
    return handle && curl_url_set(handle.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK;
  }
  [[nodiscard]] std::optional<std::string> part(CURLUPart which) const {
    char* text = nullptr;
    if (curl_url_get(handle.get(), which, &text, 0) != CURLUE_OK) return std::nullopt;
    const std::unique_ptr<char, decltype(&curl_free)> owner(text, &curl_free);
    return std::string(text);
  }
};

/// The URL as it is used: no slash at the end, and no path of the endpoint, which users copy from examples.
Result<std::string> normal_base_url(std::string_view written) {
  constexpr std::size_t k_max_bytes = 2000;
  if (written.size() > k_max_bytes) return fail(url_error(written.substr(0, 40), "is too long"));
  if (!std::all_of(written.begin(), written.end(), [](char c) { return c > ' ' && c <= '~'; })) {
    return fail(errc::chat_provider, "the base URL holds spaces or characters outside ASCII");
  }
  const UrlParts parts;
  if (!parts.parse(std::string(written))) return fail(url_error(written, "is not a URL"));
  if (parts.part(CURLUPART_USER) || parts.part(CURLUPART_PASSWORD)) {
    return fail(Error{errc::chat_provider, "the base URL holds a user name or password",
                      "keys belong into the environment or into --key-file"});
  }
  const auto scheme = parts.part(CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return fail(url_error(written, "is neither http nor https"));
  if (parts.part(CURLUPART_QUERY) || parts.part(CURLUPART_FRAGMENT)) {
    return fail(url_error(written, "holds a query or a fragment"));
  }
  constexpr std::string_view k_endpoint = "/chat/completions";
  const auto cut_slashes = [&] {
    while (written.ends_with('/')) written.remove_suffix(1);
  };
  cut_slashes();
  if (written.ends_with(k_endpoint)) written.remove_suffix(k_endpoint.size());
  cut_slashes();
  return *scheme + std::string(written.substr(scheme->size()));  // in small letters
}

std::string host_of(const Provider& provider) {
  const UrlParts parts;
  if (!parts.parse(provider.base_url)) return {};
  return parts.part(CURLUPART_HOST).value_or("");
}

}  // namespace

std::vector<std::string> provider_presets() {
  std::vector<std::string> names;
  for (const auto& preset : k_presets) names.emplace_back(preset.name);
  return names;
}

Result<Provider> make_provider(std::string_view preset, std::string_view base_url) {
  const auto* const found =
      std::find_if(k_presets.begin(), k_presets.end(), [&](const Preset& known) { return known.name == preset; });
  if (found == k_presets.end()) {
    const auto names = provider_presets();
    const auto near = closest_name(preset, names);
    return fail(Error{errc::chat_provider,
                      fmt::format("no provider is named '{}'; there are {}", preset.substr(0, 64), join(names)),
                      near ? fmt::format("--provider {}", *near) : "--base-url URL for any other server"});
  }
  if (base_url.empty() && found->base_url.empty()) {
    return fail(Error{errc::chat_provider, fmt::format("provider '{}' has no URL of its own", found->name),
                      "--base-url URL, such as http://127.0.0.1:8000/v1"});
  }
  Provider provider;
  provider.name = found->name;
  provider.key_variable = found->key_variable;
  provider.key_required = found->key_required;
  provider.local = found->local;
  provider.max_tokens_field = found->max_tokens_field;
  provider.takes_effort = found->takes_effort;
  KW_TRY(provider.base_url, normal_base_url(base_url.empty() ? found->base_url : base_url));
  return provider;
}

Result<void> set_effort(Provider& provider, std::string_view model, std::string_view effort) {
  static const std::vector<std::string> k_efforts = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};
  if (std::find(k_efforts.begin(), k_efforts.end(), effort) == k_efforts.end()) {
    return fail(Error{errc::chat_provider, fmt::format("there is no effort '{}'", effort.substr(0, 64)),
                      "one of " + join(k_efforts)});
  }
  if (!provider.takes_effort) {
    return fail(Error{errc::chat_provider, fmt::format("provider '{}' is not known to take an effort", provider.name),
                      "leave out --effort; or name the server by --base-url alone, then it is sent"});
  }
  if (!traits_of(provider, model).takes_effort) {
    return fail(Error{errc::chat_provider, fmt::format("model '{}' takes no effort", model.substr(0, 64)),
                      "leave out --effort"});
  }
  provider.effort = effort;
  return {};
}

ModelTraits traits_of(const Provider& provider, std::string_view model) {
  ModelTraits traits;
  traits.max_tokens_field = provider.max_tokens_field;
  for (const auto& rule : k_model_rules) {
    if (!matches_name_pattern(rule.provider, provider.name) || !matches_name_pattern(rule.model, model)) continue;
    traits.takes_system_role = traits.takes_system_role && rule.takes_system_role;
    traits.takes_temperature = traits.takes_temperature && rule.takes_temperature;
    traits.takes_effort = traits.takes_effort && rule.takes_effort;
  }
  return traits;
}

bool is_loopback(const Provider& provider) {
  const std::string host = host_of(provider);
  if (host == "localhost" || host == "[::1]") return true;
  // Only a whole dotted address counts: 127.evil.example is a name.
  const bool numeric = std::all_of(host.begin(), host.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return numeric && host.starts_with("127.") && std::count(host.begin(), host.end(), '.') == 3;
}

bool is_open_to_listeners(const Provider& provider) {
  return !provider.base_url.starts_with("https://") && !is_loopback(provider);
}

}  // namespace kw
