// Linked into the programs that run under the sandbox when they are built with a sanitizer; nothing else reads it.
// Their environment is scrubbed, so ASAN_OPTIONS would not reach them. Looking for leaks needs ptrace and a thread,
// both forbidden there, and a crash must end them by its signal, because that is what the host is tested to see.

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the sanitizers choose these names
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0";
}
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0";
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
