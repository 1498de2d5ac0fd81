#pragma once
// The command line: parses it, runs one command, turns errors into text on stderr and an exit code.

namespace kw {

int run_app(int argc, const char* const* argv);

}  // namespace kw
