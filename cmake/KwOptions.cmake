# Build options and the flags every target gets. The presets are the documented way to set them.

option(KW_WERROR "Treat warnings as errors" OFF)
option(KW_FUZZ "Build the fuzz targets (clang only)" OFF)
option(KW_BENCH "Build the benchmarks (Google Benchmark)" OFF)
set(KW_SANITIZE "" CACHE STRING "Comma-separated sanitizers, such as address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

add_library(kw_flags INTERFACE)
target_compile_options(kw_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(KW_WERROR)
  target_compile_options(kw_flags INTERFACE -Werror)
endif()
if(KW_SANITIZE)
  target_compile_options(kw_flags INTERFACE -fsanitize=${KW_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(kw_flags INTERFACE -fsanitize=${KW_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumentation hides initialisation from g++ 12: it warns inside <regex> and <functional>. The other presets warn.
    target_compile_options(kw_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(KW_FUZZ)
  target_compile_options(kw_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
