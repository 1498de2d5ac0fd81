// Linked into every program that is not sandboxed when it is built with a sanitizer; nothing else reads it.
// AddressSanitizer up to LLVM 16 takes a thread's memory of a library that was loaded later for a block of glibc 2.19
// where its address is 16 bytes into a page, follows what stands before it, and the search for leaks ends with
// "Tracer caught signal 11" (github.com/google/sanitizers, issue 1322). NVRTC and LLVM are such libraries.

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the sanitizers choose these names
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "intercept_tls_get_addr=0";
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
