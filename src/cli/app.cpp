#include "cli/app.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/version.hpp"

namespace kw {
namespace {

constexpr const char* k_footer =
    "Exit codes: 0 success; 1 rejected, or no kernel found that passes; 2 bad command line or input;\n"
    "3 the machine lacks something, or no decision was possible; 4 a defect or a damaged archive; 130 interrupted.";

using Command = std::function<Result<ExitCode>()>;

/// The problem itself, and how a command line may change it.
void add_problem(CLI::App& sub, ProblemInput& input) {
  sub.add_option("problem", input.problem, "A problem file, or a name such as attention/alibi")->required();
  sub.add_option("--set", input.set, "Override an axis of the primary workload: --set Sq=4096");
  sub.add_option("--mod", input.mods,
                 "Take the score_mod or mask_mod from a Python file: --mod masks.py:sliding_window, or a call: "
                 "--mod masks.py:'window(256)'");
}

void add_model(CLI::App& sub, ModelOptions& model) {
  const auto group = std::string("Language models (docs/models.md, docs/prompting.md)");
  const auto add = [&](const char* name, auto& value, const char* help) {
    return sub.add_option(name, value, help)->group(group);
  };
  add("--proposer", model.proposer, "Who writes kernels: search, llm, or hybrid (both)")->capture_default_str();
  add("--provider", model.provider,
      "deepseek, nvidia, openai, openrouter, vllm, sglang, ollama, llamacpp, or custom with --base-url");
  add("--base-url", model.base_url, "Of an OpenAI-compatible server: http://127.0.0.1:8000/v1");
  add("--model", model.model, "The model's name, as the provider spells it");
  add("--key-file", model.key_file, "A file with the key, mode 0600; default: the provider's environment variable");
  add("--chains", model.chains, "Conversations at once")->capture_default_str();
  add("--samples", model.samples, "Answers per turn of each conversation")->capture_default_str();
  add("--exemplars", model.exemplars, "Which earlier kernels are shown: none, random, top, bucket, island")
      ->capture_default_str();
  add("--prompt", model.prompt, "A file with your own task text; it goes first, word for word");
  add("--prompts", model.prompts, "A folder with templates in place of the shipped ones");
  sub.add_flag("--plan", model.plan, "Ask for a plan before the code")->group(group);
  add("--constraint", model.constraints, "A demand in words, for the prompt");
  add("--require", model.require, "A demand that is checked: registers<=128, occupancy>=0.5, no_spills, tensor_cores");
  add("--max-tokens", model.max_tokens, "Of one answer with its reasoning; default: the provider's limit");
  add("--first-token-timeout", model.first_token_seconds,
      "Seconds a model may think before its first word; default 600");
  add("--idle-timeout", model.idle_seconds, "Seconds between two pieces of an answer; default 120");
  add("--prices", model.prices, "A price table in front of the built-in one");
  sub.add_flag("--allow-key-over-http", model.allow_key_over_http, "Send the key unencrypted to another machine")
      ->group(group);
  add("--replay", model.replay, "Repeat a run from its recorded replies: an id, or last; asks no model");
}

void add_optimize(CLI::App& app, Command& command) {
  auto* sub = app.add_subcommand("optimize", "Search for the fastest verified kernel of a problem, within a budget");
  auto options = std::make_shared<OptimizeOptions>();
  add_problem(*sub, options->input);
  sub->add_option("--budget", options->budget,
                  "60s, 15m, 2h, 200c (candidates), 30ds (device seconds), 90000t (tokens), 2usd, or several: 10m,500c")
      ->capture_default_str();
  sub->add_option("--device", options->device, "A device as `kernelwright doctor` lists it; default: the first");
  sub->add_option("--target", options->target, "Source language: opencl, cuda, hip")->capture_default_str();
  sub->add_option("--style", options->style, "Kernel style to search; default: the fastest there is for the problem");
  sub->add_option("--seed", options->seed, "Seed of the search; same seed, same proposals (up to timing)")
      ->capture_default_str();
  sub->add_option("--out", options->out, "Folder of the archive and of the runs' files")->capture_default_str();
  sub->add_option("--require-sandbox", options->require_sandbox, "Refuse to run below this tier: none, a, b, c")
      ->capture_default_str();
  sub->add_flag("--resume", options->resume, "Go on with the newest run of this problem, target and device");
  sub->add_flag("--json", options->json, "Print one final JSON object on stdout instead of text");
  add_model(*sub, options->model);
  sub->callback([options, &command] { command = [options] { return run_optimize(*options); }; });
}

void add_verify(CLI::App& app, Command& command) {
  auto* sub = app.add_subcommand("verify", "Run one bundle through all gates and print the evidence");
  auto options = std::make_shared<VerifyOptions>();
  add_problem(*sub, options->input);
  sub->add_option("bundle", options->bundle, "The bundle file")->required();
  sub->add_option("--device", options->device, "A device as `kernelwright doctor` lists it; default: the first");
  sub->add_option("--tune", options->tune, "Assign a tunable instead of its default: --tune ROWS=4");
  sub->add_option("--require-sandbox", options->require_sandbox, "Refuse to run below this tier: none, a, b, c")
      ->capture_default_str();
  sub->add_flag("--json", options->json, "Print the attempt as one JSON object");
  sub->callback([options, &command] { command = [options] { return run_verify(*options); }; });
}

void add_emit(CLI::App& app, Command& command) {
  auto* sub = app.add_subcommand("emit", "Print a kernel as a bundle; needs no device");
  auto options = std::make_shared<EmitOptions>();
  add_problem(*sub, options->input);
  sub->add_option("--target", options->target, "Source language: opencl, cuda, hip")->capture_default_str();
  sub->add_option("--style", options->style, "Kernel style; default: the fastest there is for the problem");
  sub->add_option(
         "--device", options->devices,
         "What to write for, present or not: a100, l40s, h100, h200, rtx4090, rtx5090, b200, mi300x, rx7900xtx, "
         "or your own FILE.json; several, as in h200,a100, give one bundle with a row for each")
      ->delimiter(',')
      ->allow_extra_args(false);
  sub->add_option("--structure", options->structure, "Assign a structural choice of the style: --structure NAME=VALUE");
  sub->add_flag("--source-only", options->source_only, "Leave out the bundle header");
  sub->callback([options, &command] { command = [options] { return run_emit(*options); }; });
}

void add_build(CLI::App& app, Command& command) {
  auto* sub = app.add_subcommand("build", "Compile a bundle for a device that need not be here; print what it takes");
  auto options = std::make_shared<BuildOptions>();
  add_problem(*sub, options->input);
  sub->add_option("bundle", options->bundle, "The bundle file")->required();
  sub->add_option("--device", options->device,
                  "a100, l40s, h100, h200, rtx4090, rtx5090, b200, mi300x, rx7900xtx, your own FILE.json, or a device "
                  "of this machine");
  sub->add_option("--tune", options->tune, "Assign a tunable instead of its default: --tune ROWS=4");
  sub->add_option("--binary", options->binary, "Write what the compiler made for the primary workload to this file");
  sub->add_flag("--json", options->json, "Print reports and launch plans as one JSON object");
  sub->callback([options, &command] { command = [options] { return run_build(*options); }; });
}

void add_dispatch(CLI::App& app, Command& command) {
  auto* sub = app.add_subcommand("dispatch", "The table of a bundle that chooses tunables by device and shape");
  sub->require_subcommand(1);
  auto* show = sub->add_subcommand("show", "Say which row each workload takes, and with which tunables");
  auto shown = std::make_shared<DispatchShowOptions>();
  add_problem(*show, shown->input);
  show->add_option("bundle", shown->bundle, "The bundle file")->required();
  show->add_option("--device", shown->device,
                   "a100, l40s, h100, h200, rtx4090, rtx5090, b200, mi300x, rx7900xtx, your own FILE.json, or a device "
                   "of this machine; default: its first");
  show->add_flag("--json", shown->json, "Print one JSON object");
  show->callback([shown, &command] { command = [shown] { return run_dispatch_show(*shown); }; });

  auto* add = sub->add_subcommand("add", "Write a row into the header; the source stays as it is");
  auto added = std::make_shared<DispatchAddOptions>();
  add->add_option("bundle", added->bundle, "The bundle file")->required();
  add->add_option("--device", added->device, "A device, architecture or generation: h200, sm_90, Hopper; default: any");
  add->add_option("--when", added->when, "A condition that must hold: --when 'Skv >= 4096'")->allow_extra_args(false);
  add->add_option("--tune", added->tune, "What the row assigns: --tune KEYS=128")->allow_extra_args(false);
  add->add_option("--into", added->into, "Write to this file instead");
  add->callback([added, &command] { command = [added] { return run_dispatch_add(*added); }; });
}

void add_retune(CLI::App& app, Command& command) {
  auto* sub = app.add_subcommand(
      "retune", "Search the tunables of a bundle on a device; write the best as a row of its dispatch table");
  auto options = std::make_shared<RetuneOptions>();
  add_problem(*sub, options->input);
  sub->add_option("bundle", options->bundle, "The bundle file")->required();
  sub->add_option("--budget", options->budget, "As of `optimize`")->capture_default_str();
  sub->add_option("--device", options->device, "A device as `kernelwright doctor` lists it; default: the first");
  sub->add_option("--when", options->when, "A condition of the row, for shapes: --when 'Skv >= 4096'")
      ->allow_extra_args(false);
  sub->add_option("--into", options->into, "Write to this file instead");
  sub->add_option("--seed", options->seed, "Seed of the search")->capture_default_str();
  sub->add_option("--out", options->out, "Folder of the archive and of the runs' files")->capture_default_str();
  sub->add_option("--require-sandbox", options->require_sandbox, "Refuse to run below this tier: none, a, b, c")
      ->capture_default_str();
  sub->add_flag("--resume", options->resume, "Go on with the newest such run of this problem, target and device");
  sub->add_flag("--json", options->json, "Print the run as one JSON object on stdout");
  sub->callback([options, &command] { command = [options] { return run_retune(*options); }; });
}

void add_explain(CLI::App& app, Command& command) {
  auto* sub =
      app.add_subcommand("explain", "Say what is proved about a problem: skipped tiles, hoisted and lost terms");
  auto options = std::make_shared<ExplainOptions>();
  add_problem(*sub, options->input);
  sub->add_flag("--json", options->json, "Print one JSON object");
  sub->callback([options, &command] { command = [options] { return run_explain(*options); }; });
}

void add_small_commands(CLI::App& app, Command& command) {
  auto* doctor = app.add_subcommand("doctor", "Devices, toolchains and sandbox of this machine, and what is missing");
  auto doctor_options = std::make_shared<DoctorOptions>();
  doctor->add_flag("--json", doctor_options->json, "Print one JSON object");
  doctor->callback([doctor_options, &command] { command = [doctor_options] { return run_doctor(*doctor_options); }; });

  auto* problems = app.add_subcommand("problems", "List the problems that can be named");
  auto problems_options = std::make_shared<ProblemsOptions>();
  problems->add_flag("--json", problems_options->json, "Print one JSON object");
  problems->callback(
      [problems_options, &command] { command = [problems_options] { return run_problems(*problems_options); }; });

  auto* show = app.add_subcommand("show", "Print the report of a run from the archive");
  auto show_options = std::make_shared<ShowOptions>();
  show->add_option("run", show_options->run, "A run id, a unique prefix of one, or \"last\"")->capture_default_str();
  show->add_option("--out", show_options->out, "Folder of the archive")->capture_default_str();
  show->add_option("--format", show_options->format, "text, markdown, json or html")
      ->check(CLI::IsMember({"text", "markdown", "json", "html"}))
      ->capture_default_str();
  show->callback([show_options, &command] { command = [show_options] { return run_show(*show_options); }; });
}

/// CLI11 calls an unknown command a missing one; this names it.
std::optional<Error> unknown_command(const CLI::App& app, int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  if (wanted.empty() || wanted.front() == '-') return std::nullopt;
  std::string known;
  for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name() == wanted) return std::nullopt;
    known += (known.empty() ? "" : ", ") + sub->get_name();
  }
  return Error{errc::command_line, fmt::format("there is no command \"{}\"", wanted), "one of: " + known};
}

int report_error(const Error& error) {
  std::fputs(("kernelwright: " + error.to_string() + "\n").c_str(), stderr);
  return static_cast<int>(exit_code_of(error));
}

}  // namespace

int run_app(int argc, char** argv) {
  CLI::App app{"kernelwright writes, verifies and times device kernels in a closed loop"};
  app.set_version_flag("--version", std::string(k_version));
  app.require_subcommand(1);
  app.footer(k_footer);
  Command command;
  add_optimize(app, command);
  add_verify(app, command);
  add_emit(app, command);
  add_build(app, command);
  add_dispatch(app, command);
  add_retune(app, command);
  add_explain(app, command);
  add_small_commands(app, command);
  if (const auto unknown = unknown_command(app, argc, argv)) return report_error(*unknown);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  }
  const auto result = command();
  std::fflush(stdout);
  if (result) return static_cast<int>(*result);
  return report_error(result.error());
}

}  // namespace kw
