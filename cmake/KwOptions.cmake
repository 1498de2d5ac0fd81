# Build options and the flags every target gets. The presets are the documented way to set them.

option(KW_WERROR "Treat warnings as errors" OFF)
option(KW_FUZZ "Build the fuzz targets (clang only)" OFF)
option(KW_BENCH "Build the benchmarks (Google Benchmark)" OFF)
option(KW_UNITE "Compile each folder in few large units, with precompiled standard headers (cmake/KwUnite.cmake)" ON)
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
  # KW_SANITIZED, and which: KW_SANITIZE_ADDRESS, KW_SANITIZE_UNDEFINED, KW_SANITIZE_THREAD. Compilers tell it in different ways.
  string(REGEX REPLACE "([a-z]+)" "KW_SANITIZE_\\1" sanitizers "${KW_SANITIZE}")
  string(REPLACE "," ";" sanitizers "${sanitizers}")
  list(TRANSFORM sanitizers TOUPPER)
  target_compile_definitions(kw_flags INTERFACE KW_SANITIZED ${sanitizers})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumentation hides initialisation from g++ 12: it warns inside <regex> and <functional>. The other presets warn.
    target_compile_options(kw_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(KW_FUZZ)
  target_compile_options(kw_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

include(CheckLinkerFlag)
check_linker_flag(CXX -static KW_LINKS_STATICALLY)
