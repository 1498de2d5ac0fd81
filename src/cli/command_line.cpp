#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <sstream>

#include "base/text.hpp"
#include "cli/inputs.hpp"
#include "cli/version.hpp"
#include "hardware/device_file.hpp"
#include "language/language.hpp"
#include "propose/registry.hpp"
#include "report/escape.hpp"

namespace kw {
namespace {

constexpr const char* k_footer =
    "Exit codes: 0 success; 1 rejected, or no kernel found that passes; 2 bad command line or input;\n"
    "3 the machine lacks something, or no decision was possible; 4 a defect or a damaged archive; 130 interrupted.";

/// The problem itself, and how a command line may change it.
void add_problem(CLI::App& sub, ProblemInput& input) {
  sub.add_option("problem", input.problem,
                 "A problem file, a name such as attention/alibi, or a PyTorch module as FILE.py or FILE.py:Class")
      ->required();
  sub.add_option("--set", input.set, "Override an axis of the primary workload: --set Sq=4096");
  sub.add_option("--mod", input.mods,
                 "Take the score_mod or mask_mod from a Python file: --mod masks.py:sliding_window, a call: "
                 "--mod masks.py:'window(256)', or a function inside of another: --mod train.py:'run(8).mask'");
  sub.add_option("--tensor", input.tensors,
                 "Give a captured tensor its values: --tensor document_id=ids.npy, 'slopes=[0.5, 0.25]', or with the "
                 "names of its axes 'slopes[Hq]=slopes.npy'")
      ->allow_extra_args(false);
  sub.add_option("--mode", input.mode, "Of a module: train (default) or eval, where dropout is the identity");
  sub.add_option("--precision", input.precision,
                 "Of a module's products: strict (default), tf32_convolutions (PyTorch's default), or tf32 for all");
  sub.add_option("--fit", input.most_steps,
                 "Of a module: halve its largest axes until a plain evaluation takes at most this many operations, "
                 "as in --fit 1e9");
}

/// "Who writes kernels: search (the built-in search), ..."
std::string proposers_help() {
  std::vector<std::string> offered;
  for (const ProposerEntry* entry : proposers()) {
    if (!entry->needs_start) offered.push_back(fmt::format("{} ({})", entry->name, entry->summary));
  }
  return "Who writes kernels: " + join(offered);
}

void add_model(CLI::App& sub, ModelOptions& model) {
  const auto group = std::string("Language models (docs/models.md, docs/prompting.md)");
  const auto add = [&](const char* name, auto& value, const char* help) {
    return sub.add_option(name, value, help)->group(group);
  };
  add("--proposer", model.proposer, proposers_help().c_str())->capture_default_str();
  add("--provider", model.provider,
      "deepseek, nvidia, openai, openrouter, vllm, sglang, ollama, llamacpp, or custom with --base-url");
  add("--base-url", model.base_url, "URL of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1");
  add("--model", model.model, "The model's name, as the provider spells it");
  add("--key-file", model.key_file, "A file with the key, mode 0600; default: the provider's environment variable");
  add("--chains", model.chains, "Number of parallel conversations")->capture_default_str();
  add("--samples", model.samples, "Answers per turn of each conversation")->capture_default_str();
  add("--exemplars", model.exemplars, "Which earlier kernels are shown: none, random, top, bucket, island")
      ->capture_default_str();
  add("--prompt", model.prompt, "A file with your own task text, which goes first and unchanged");
  add("--prompts", model.prompts, "A folder with templates that replace the shipped ones");
  sub.add_flag("--plan", model.plan, "Ask for a plan before the code")->group(group);
  add("--constraint", model.constraints, "A requirement in words, for the prompt");
  add("--require", model.require,
      "A requirement that is checked: registers<=128, occupancy>=0.5, no_spills, tensor_cores, sanitized");
  add("--leave-out", model.leave_out,
      "Parts of prompts that are left out, to measure what they give: goal,notes,lessons");
  add("--judge", model.judge,
      "A second model of the same server, which is asked what limits each kernel before the first goes on");
  add("--effort", model.effort,
      "How long the model is to think: none, minimal, low, medium, high, xhigh, max; where it can be told");
  add("--max-tokens", model.max_tokens, "Most tokens of one answer and its reasoning; default: the provider's limit");
  add("--first-token-timeout", model.first_token_seconds,
      "Seconds a model may think before its first word; default 600");
  add("--idle-timeout", model.idle_seconds, "Seconds between two pieces of an answer; default 120");
  add("--prices", model.prices, "A price table that is looked at before the built-in one");
  sub.add_flag("--allow-key-over-http", model.allow_key_over_http, "Send the key unencrypted to another machine")
      ->group(group);
  add("--replay", model.replay, "Repeat a run from its recorded replies: an id, or last; asks no model");
}

void add_optimize(CLI::App& app, CommandOptions& command) {
  auto* sub = app.add_subcommand("optimize", "Search for the fastest verified kernel of a problem, within a budget");
  auto options = std::make_shared<OptimizeOptions>();
  add_problem(*sub, options->input);
  sub->add_option("--budget", options->budget,
                  "60s, 15m, 2h, 200c (candidates), 30ds (device seconds), 90000t (tokens), 2usd, or several: 10m,500c")
      ->capture_default_str();
  sub->add_option("--device", options->device, "A device as `kernelwright doctor` lists it; default: the first");
  sub->add_option("--target", options->target, "Source language: " + join(language_names()))->capture_default_str();
  sub->add_option("--style", options->style, "Kernel style to search; default: the fastest for the problem");
  sub->add_option("--seed", options->seed, "Seed of the search; same seed, same proposals (up to timing)")
      ->capture_default_str();
  sub->add_option("--out", options->out, "Folder of the archive and of the runs' files")->capture_default_str();
  sub->add_option("--require-sandbox", options->require_sandbox, "Refuse to run below this tier: none, a, b, c")
      ->capture_default_str();
  sub->add_flag("--resume", options->resume, "Continue the newest run of this problem, target and device");
  sub->add_flag("--json", options->json, "Print one final JSON object on stdout instead of text");
  add_model(*sub, options->model);
  sub->callback([options, &command] { command = *options; });
}

void add_suite(CLI::App& app, CommandOptions& command) {
  auto* sub =
      app.add_subcommand("suite", "Optimize many problems; ends with a table, a curve and a page over all of them");
  auto options = std::make_shared<SuiteOptions>();
  auto* resume =
      sub->add_option("--resume", options->resume,
                      "Continue the suite in this folder; its problems and settings are the ones it began with");
  const auto begins = [&](CLI::Option* option) { return option->excludes(resume); };
  begins(sub->add_option("path", options->paths, "PyTorch modules (*.py), problem files (*.toml), folders of them"));
  sub->add_option("--budget", options->budget, "Of all problems together, as for `optimize`: 2h");
  begins(sub->add_option("--budget-per-problem", options->budget_per_problem,
                         "Of each problem; 30s where --budget is left out too"));
  begins(
      sub->add_option("--device", options->devices,
                      "A device as `kernelwright doctor` lists it; several work beside each other; default: the first")
          ->delimiter(',')
          ->allow_extra_args(false));
  begins(sub->add_option("--target", options->target, "Source language: " + join(language_names())))
      ->capture_default_str();
  begins(sub->add_option("--style", options->style, "Kernel style to search; default: the fastest for each problem"));
  begins(sub->add_option(
             "--mode", options->mode,
             "Of modules: train or eval. In train mode dropout is taken as the identity, and the table says so"))
      ->check(CLI::IsMember({"train", "eval"}))
      ->capture_default_str();
  begins(sub->add_option("--precision", options->precision, "Of modules: as for `optimize`"))
      ->check(CLI::IsMember({"strict", "tf32_convolutions", "tf32"}))
      ->capture_default_str();
  begins(sub->add_option("--fit", options->most_steps, "Of modules: as for `optimize`, 1e9 for example"));
  begins(sub->add_option("--seed", options->seed, "Seed of each search"))->capture_default_str();
  begins(sub->add_option("--out", options->out,
                         "Folder of the archive, the runs' files and the page; a suite that is there is continued"))
      ->capture_default_str();
  sub->add_option("--baseline", options->baselines,
                  "A JSON file of times to compare with, such as PyTorch's (docs/suite.md)")
      ->allow_extra_args(false);
  sub->add_option(
      "--export", options->export_to,
      "Write a ModelNew file for KernelBench's own script per solved problem into this folder (target cuda)");
  sub->add_option("--require-sandbox", options->require_sandbox, "Refuse to run below this tier: none, a, b, c")
      ->capture_default_str();
  sub->add_flag("--json", options->json, "Print one final JSON object on stdout instead of text");
  sub->callback([options, &command] { command = *options; });
}

void add_verify(CLI::App& app, CommandOptions& command) {
  auto* sub = app.add_subcommand("verify", "Run one bundle through all gates and print the evidence");
  auto options = std::make_shared<VerifyOptions>();
  add_problem(*sub, options->input);
  sub->add_option("bundle", options->bundle, "The bundle file")->required();
  sub->add_option("--device", options->device, "A device as `kernelwright doctor` lists it; default: the first");
  sub->add_option("--tune", options->tune, "Assign a tunable instead of its default: --tune ROWS=4");
  sub->add_option("--require-sandbox", options->require_sandbox, "Refuse to run below this tier: none, a, b, c")
      ->capture_default_str();
  sub->add_flag("!--no-profile", options->profile,
                "Leave out what decides nothing: the profiler's and the simulator's counts");
  sub->add_flag("--json", options->json, "Print the attempt as one JSON object");
  sub->callback([options, &command] { command = *options; });
}

void add_emit(CLI::App& app, CommandOptions& command) {
  auto* sub = app.add_subcommand("emit", "Print a kernel as a bundle; needs no device");
  auto options = std::make_shared<EmitOptions>();
  options->input.runs_here = false;
  add_problem(*sub, options->input);
  sub->add_option("--target", options->target, "Source language: " + join(language_names()))->capture_default_str();
  sub->add_option("--style", options->style, "Kernel style; default: the fastest for the problem");
  sub->add_option(
         "--device", options->devices,
         fmt::format(
             "Devices to write for, present or absent: {}, or your own FILE.json; several, as in h200,a100, give one "
             "bundle with a row for each",
             join(shipped_devices())))
      ->delimiter(',')
      ->allow_extra_args(false);
  sub->add_option("--structure", options->structure, "Assign a structural choice of the style: --structure NAME=VALUE");
  sub->add_flag("--source-only", options->source_only, "Leave out the bundle header");
  sub->callback([options, &command] { command = *options; });
}

void add_build(CLI::App& app, CommandOptions& command) {
  auto* sub = app.add_subcommand("build", "Compile a bundle for a device, present or absent; print what it uses");
  auto options = std::make_shared<BuildOptions>();
  options->input.runs_here = false;
  add_problem(*sub, options->input);
  sub->add_option("bundle", options->bundle, "The bundle file")->required();
  sub->add_option("--device", options->device,
                  fmt::format("{}, your own FILE.json, or a device of this machine", join(shipped_devices())));
  sub->add_option("--tune", options->tune, "Assign a tunable instead of its default: --tune ROWS=4");
  sub->add_option("--binary", options->binary, "Write the primary workload's binary to this file");
  sub->add_flag("--json", options->json, "Print reports and launch plans as one JSON object");
  sub->callback([options, &command] { command = *options; });
}

void add_dispatch(CLI::App& app, CommandOptions& command) {
  auto* sub =
      app.add_subcommand("dispatch", "Show or change the table that chooses a bundle's tunables by device and shape");
  sub->require_subcommand(1);
  auto* show = sub->add_subcommand("show", "Show which row each workload takes, and with which tunables");
  auto shown = std::make_shared<DispatchShowOptions>();
  add_problem(*show, shown->input);
  show->add_option("bundle", shown->bundle, "The bundle file")->required();
  show->add_option(
      "--device", shown->device,
      fmt::format("{}, your own FILE.json, or a device of this machine; default: its first", join(shipped_devices())));
  show->add_flag("--json", shown->json, "Print one JSON object");
  show->callback([shown, &command] { command = *shown; });

  auto* add = sub->add_subcommand("add", "Add a row to the header; the source does not change");
  auto added = std::make_shared<DispatchAddOptions>();
  add->add_option("bundle", added->bundle, "The bundle file")->required();
  add->add_option("--device", added->device, "A device, architecture or generation: h200, sm_90, Hopper; default: any");
  add->add_option("--when", added->when, "A condition that must hold: --when 'Skv >= 4096'")->allow_extra_args(false);
  add->add_option("--tune", added->tune, "What the row assigns: --tune BLOCK_N=128")->allow_extra_args(false);
  add->add_option("--into", added->into, "Write to this file instead");
  add->callback([added, &command] { command = *added; });
}

void add_retune(CLI::App& app, CommandOptions& command) {
  auto* sub = app.add_subcommand(
      "retune", "Search the tunables of a bundle on a device; write the best as a row of its dispatch table");
  auto options = std::make_shared<RetuneOptions>();
  add_problem(*sub, options->input);
  sub->add_option("bundle", options->bundle, "The bundle file")->required();
  sub->add_option("--budget", options->budget, "As for `optimize`")->capture_default_str();
  sub->add_option("--device", options->device, "A device as `kernelwright doctor` lists it; default: the first");
  sub->add_option("--when", options->when, "A condition of the row, for shapes: --when 'Skv >= 4096'")
      ->allow_extra_args(false);
  sub->add_option("--into", options->into, "Write to this file instead");
  sub->add_option("--seed", options->seed, "Seed of the search")->capture_default_str();
  sub->add_option("--out", options->out, "Folder of the archive and of the runs' files")->capture_default_str();
  sub->add_option("--require-sandbox", options->require_sandbox, "Refuse to run below this tier: none, a, b, c")
      ->capture_default_str();
  sub->add_flag("--resume", options->resume, "Continue the newest such run of this problem, target and device");
  sub->add_flag("--json", options->json, "Print the run as one JSON object on stdout");
  sub->callback([options, &command] { command = *options; });
}

void add_sweep(CLI::App& app, CommandOptions& command) {
  auto* sub = app.add_subcommand(
      "sweep", "Time many candidates of a style's space, the style's guesses and then random ones; write a table");
  auto options = std::make_shared<SweepOptions>();
  add_problem(*sub, options->input);
  auto* count = sub->add_option("--count", options->count, "Rows that the table is to have")
                    ->check(CLI::PositiveNumber)
                    ->capture_default_str();
  sub->add_flag("--all", options->all, "The whole space")->excludes(count);
  sub->add_option("--values", options->values,
                  "Only these values of a tunable or structural choice: --values ROWS=2,4,6 --values PANELS=4")
      ->allow_extra_args(false);
  sub->add_option("--budget", options->budget, "Of this part of the table, as for `optimize`; default: none");
  sub->add_option("--device", options->device, "A device as `kernelwright doctor` lists it; default: the first");
  sub->add_option("--target", options->target, "Source language: " + join(language_names()))->capture_default_str();
  sub->add_option("--style", options->style, "Kernel style whose space it is; default: the fastest for the problem");
  sub->add_option("--seed", options->seed, "Seed of the random candidates")->capture_default_str();
  sub->add_option("--out", options->out, "The table, a CSV file (docs/formats.md); one that is there is continued")
      ->required();
  sub->add_option("--require-sandbox", options->require_sandbox, "Refuse to run below this tier: none, a, b, c")
      ->capture_default_str();
  sub->callback([options, &command] { command = *options; });
}

void add_predict(CLI::App& app, CommandOptions& command) {
  auto* sub = app.add_subcommand(
      "predict", "Foretell the time of a kernel on a device that need not be here, from the archive and from tables");
  auto options = std::make_shared<PredictOptions>();
  options->input.runs_here = false;
  add_problem(*sub, options->input);
  sub->get_option("problem")->required(false);
  sub->add_option("--device", options->device,
                  fmt::format("{}, your own FILE.json, or a device of this machine", join(shipped_devices())));
  sub->add_option("--target", options->target, "Source language: " + join(language_names()))->capture_default_str();
  sub->add_option("--style", options->style, "Kernel style; default: the fastest for the problem");
  sub->add_option("--table", options->tables, "A table of `kernelwright sweep` to learn from beside the archive")
      ->allow_extra_args(false);
  sub->add_option("--out", options->out, "Folder of the archive to learn from")->capture_default_str();
  sub->add_flag("--held-out", options->held_out,
                "Instead of a prediction, print how good predictions are on problems, shapes and devices that were "
                "held out, beside the roofline alone");
  sub->add_flag("--json", options->json, "Print one JSON object");
  sub->callback([options, &command] { command = *options; });
}

void add_explain(CLI::App& app, CommandOptions& command) {
  auto* sub = app.add_subcommand(
      "explain",
      "Show what is proved about a problem: skipped tiles, hoisted and dropped terms; or what is read "
      "of a PyTorch module, given as FILE.py or FILE.py:Class");
  auto options = std::make_shared<ExplainOptions>();
  options->input.runs_here = false;
  add_problem(*sub, options->input);
  sub->add_flag("--json", options->json, "Print one JSON object");
  sub->callback([options, &command] { command = *options; });
}

void add_small_commands(CLI::App& app, CommandOptions& command) {
  auto* doctor =
      app.add_subcommand("doctor", "Show this machine's devices, toolchains and sandbox, and what is missing");
  auto doctor_options = std::make_shared<DoctorOptions>();
  doctor->add_flag("--json", doctor_options->json, "Print one JSON object");
  doctor->callback([doctor_options, &command] { command = *doctor_options; });

  auto* problems = app.add_subcommand("problems", "List the problems that can be named");
  auto problems_options = std::make_shared<ProblemsOptions>();
  problems->add_flag("--json", problems_options->json, "Print one JSON object");
  problems->callback([problems_options, &command] { command = *problems_options; });

  auto* show = app.add_subcommand("show", "Print the report of a run from the archive");
  auto show_options = std::make_shared<ShowOptions>();
  show->add_option("run", show_options->run, "A run id, a unique prefix of one, or \"last\"")->capture_default_str();
  show->add_option("--out", show_options->out, "Folder of the archive")->capture_default_str();
  show->add_option("--format", show_options->format, "text, markdown, json or html")
      ->check(CLI::IsMember({"text", "markdown", "json", "html"}))
      ->capture_default_str();
  show->callback([show_options, &command] { command = *show_options; });
}

void add_archive(CLI::App& app, CommandOptions& command) {
  auto* sub = app.add_subcommand("archive", "Check an archive for damage, set damaged runs aside, or export runs");
  sub->require_subcommand(1);
  auto* check = sub->add_subcommand("check", "Read everything and list what is damaged; status 4 if anything is");
  auto checked = std::make_shared<ArchiveCheckOptions>();
  check->add_option("--out", checked->out, "Folder of the archive")->capture_default_str();
  check->add_flag("--json", checked->json, "Print one JSON object");
  check->callback([checked, &command] { command = *checked; });

  auto* repair = sub->add_subcommand("repair", "Keep a copy of the file; leave the whole runs alone in the archive");
  auto repaired = std::make_shared<ArchiveRepairOptions>();
  repair->add_option("--out", repaired->out, "Folder of the archive")->capture_default_str();
  repair->add_flag("--json", repaired->json, "Print one JSON object");
  repair->callback([repaired, &command] { command = *repaired; });

  auto* exported = sub->add_subcommand("export", "Write runs, attempts and turns as JSON lines");
  auto options = std::make_shared<ArchiveExportOptions>();
  exported->add_option("run", options->runs, "Run ids, unique prefixes, or \"last\"; default: every run");
  exported->add_option("--out", options->out, "Folder of the archive")->capture_default_str();
  exported->add_option("--to", options->to, "Write to this file instead of standard output");
  exported->callback([options, &command] { command = *options; });
}

/// CLI11 calls an unknown command a missing one; this names it.
std::optional<Error> unknown_command(const CLI::App& app, int argc, const char* const* argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  if (wanted.empty() || wanted.front() == '-') return std::nullopt;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const auto* sub : commands) {
    if (sub->get_name() == wanted) return std::nullopt;
  }
  return Error{errc::command_line, fmt::format("there is no command \"{}\"", wanted),
               "one of: " + join(commands, ", ", [](const CLI::App* sub) { return sub->get_name(); })};
}

}  // namespace

tl::expected<CommandOptions, CommandLineText> parse_command_line(int argc, const char* const* argv) {
  CLI::App app{"kernelwright writes, verifies and times device kernels in a closed loop"};
  app.set_version_flag("--version", std::string(k_version));
  app.require_subcommand(1);
  app.footer(k_footer);
  CommandOptions command;
  add_optimize(app, command);
  add_suite(app, command);
  add_verify(app, command);
  add_emit(app, command);
  add_build(app, command);
  add_dispatch(app, command);
  add_retune(app, command);
  add_sweep(app, command);
  add_predict(app, command);
  add_explain(app, command);
  add_small_commands(app, command);
  add_archive(app, command);
  if (const auto unknown = unknown_command(app, argc, argv)) {
    return tl::unexpected(CommandLineText{exit_code_of(*unknown), "", error_text(*unknown)});
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const bool answered = app.exit(error, out, err) == 0;
    return tl::unexpected(
        CommandLineText{answered ? ExitCode::success : ExitCode::usage, out.str(), escape_code(err.str())});
  }
  return command;
}

std::string error_text(const Error& error) {
  return escape_code("kernelwright: " + error.to_string() + "\n");
}

}  // namespace kw
