// Linked into tests that open a driver in their own process when they are built with a sanitizer; nothing else reads
// it. What PoCL and its LLVM keep until the process ends is not ours to free.

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the sanitizers choose these names
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\n";
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
