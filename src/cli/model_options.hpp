#pragma once
// What the command line says about the model that writes kernels, and how it becomes a client and a setup.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "loop/run.hpp"

namespace kw {

struct ModelOptions {
  std::string proposer = "search";  ///< name in the list of proposers (propose/registry.hpp)
  std::string provider;             ///< a preset; empty: custom with --base-url, else it must be named
  std::string base_url;
  std::string model;
  std::filesystem::path key_file;
  std::filesystem::path prices;
  int chains = 1;
  int samples = 1;
  std::string exemplars = "bucket";
  std::string judge;               ///< a second model, which is asked what limits each kernel; empty: none
  std::string effort;              ///< how long the model is to think; empty: the provider's default
  std::string leave_out;           ///< parts of prompts
  std::int64_t max_tokens = 0;     ///< of one reply; 0: the provider's own limit
  double first_token_seconds = 0;  ///< 0: the client's default; likewise below
  double idle_seconds = 0;
  bool allow_key_over_http = false;
  std::filesystem::path prompt;   ///< a text that goes before ours
  std::filesystem::path prompts;  ///< a folder of templates
  bool plan = false;
  std::vector<std::string> constraints;
  std::vector<std::string> require;
  std::string replay;
};

/// The client must outlive the run.
struct OpenedModel {
  std::unique_ptr<ChatClient> client;  ///< null in a replay
};

/// Fills proposer, model, requirements and replay of `setup`, whose limits are set already. Errors: cli.usage for
/// options that do not go together, and those of provider, key, prices, prompts and exemplars.
[[nodiscard]] Result<OpenedModel> open_model(const ModelOptions& options, const Clock& clock, const Archive& archive,
                                             RunSetup& setup);

}  // namespace kw
