// kernelwright emit: a kernel as text, with no device.

#include <cstdio>

#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/inputs.hpp"
#include "codegen/codegen.hpp"

namespace kw {

Result<ExitCode> run_emit(const EmitOptions& options) {
  KW_TRY(const auto problem, read_problem(options.input));
  KW_TRY(const auto structure, read_assignments(options.structure, "--structure"));
  KW_TRY(const auto device, facts_for(options.device, options.target));
  const std::string style = options.style.empty() ? fastest_style(problem, options.target, device) : options.style;
  KW_TRY(const auto bundle, emit_bundle(problem, options.target, style, device, structure));
  std::fputs((options.source_only ? bundle.source : bundle.to_text()).c_str(), stdout);
  return ExitCode::success;
}

}  // namespace kw
