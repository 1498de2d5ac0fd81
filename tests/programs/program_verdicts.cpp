#include "tests/programs/program_verdicts.hpp"

#include "codegen/codegen.hpp"
#include "loop/threads.hpp"
#include "loop/verifier_setup.hpp"
#include "problem/operator.hpp"
#include "verify/processes/process_backend.hpp"

namespace kw {

std::string module_of(const std::string& result, const std::string& init, const std::string& inputs) {
  return "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nB, C, H, W = 4, 6, 12, 20\n"
         "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n" +
         (init.empty() ? std::string("        pass\n") : "        " + init + "\n") +
         "    def forward(self, x, *more):\n        return " + result + "\ndef get_inputs():\n    return [" + inputs +
         "]\ndef get_init_inputs():\n    return []\n";
}

Problem problem_of_module(const std::string& text, const std::string& file, const std::string& mode, double steps,
                          const std::string& precision) {
  const auto toml =
      find_operator("program")->format.from_module({text, file, "", mode, {}, {k_any_steps, steps}, precision});
  KW_CHECK(toml.has_value(), "{}", toml.error().to_string());
  auto problem = parse_problem(*toml, file);
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

Bundle with_defaults(Bundle bundle, const IntBindings& tunables) {
  for (auto& tunable : bundle.tunables) {
    const auto found = tunables.find(tunable.name);
    if (found != tunables.end()) tunable.default_value = found->second;
  }
  return bundle;
}

ProgramVerdicts::ProgramVerdicts(const std::string& device, const std::string& target) : target_(target) {
  BackendOptions options;
  options.device_id = device;
  options.target = target;
  auto opened = open_process_backend(options);
  KW_CHECK(opened.has_value(), "{}", opened.error().to_string());
  backend_ = *std::move(opened);
}

Result<std::unique_ptr<LocalVerifier>> ProgramVerdicts::verifier_of(const Problem& problem) const {
  auto options = verifier_options(problem, target_, backend_->device(), parallel_for(usable_processors()), {});
  KW_CHECK(options.has_value(), "{}", options.error().to_string());
  options->secret_seed = 20261123;
  return LocalVerifier::open(problem, *backend_, clock_, *std::move(options));
}

std::optional<Error> ProgramVerdicts::refusal_of(const Problem& problem) const {
  const auto verifier = verifier_of(problem);
  return verifier ? std::nullopt : std::optional(verifier.error());
}

Verdict ProgramVerdicts::verdict_of(const Problem& problem, Bundle bundle) const {
  bundle.problem = problem.name;
  const auto verifier = verifier_of(problem);
  KW_CHECK(verifier.has_value(), "{}", verifier.error().to_string());
  return (*verifier)->verify(make_candidate(std::move(bundle)).value()).verdict;
}

Bundle ProgramVerdicts::emitted(const Problem& problem, const std::string& style, const std::string& arch,
                                const IntBindings& structure, std::int64_t units, std::int64_t l1_cache_bytes) const {
  DeviceFacts device = backend_->device();
  if (units > 0) {
    device.l2_cache_bytes = device.l2_cache_bytes / device.compute_units * units;
    device.compute_units = units;
  }
  if (l1_cache_bytes > 0) device.l1_cache_bytes = l1_cache_bytes;
  if (!arch.empty()) device.gpu.value().arch = arch;
  return emit_bundle(problem, target_, style, device, structure).value();
}

}  // namespace kw
