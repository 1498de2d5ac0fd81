# Reading headers is most of what compiling this code costs, so they are read seldom: the standard library, {fmt},
# tl::expected and GoogleMock are precompiled once for everybody, and the sources of a layer are compiled some at a time
# in one unit. That takes about a quarter of the processor time of compiling each file alone. What it hides, an include
# that is missing or a file that only compiles beside another, the preset `tidy` finds: it compiles each file alone.
#
# Sources of one unit share their unnamed namespace, so its names have to differ within a layer. Tests are compiled one
# by one: their helpers are all called `run` and `problem`, and should be.

# kw_precompiled_headers(name header... LIBRARIES target...)
#
# Makes the object library `name`, whose precompiled headers other targets use. Its users must be compiled with the same
# options, which kw_flags sees to.
function(kw_precompiled_headers name)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Compiled for its precompiled headers.\n")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
endfunction()

# Test bodies are run once: optimising them costs more than it saves. Nor is their coverage
# a fuzzer's business. A library that is linked last, because its options must come after those of kw_flags.
add_library(kw_test_flags INTERFACE)
if(KW_SANITIZE)
  target_compile_options(kw_test_flags INTERFACE -O0 $<$<BOOL:${KW_FUZZ}>:-fno-sanitize=fuzzer-no-link>)
else()
  target_compile_options(kw_test_flags INTERFACE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # At -O1, g++ 12 takes the short buffer of a moved std::string for what is copied (GCC PR105329 and PR105651). Sanitizers
  # watch the same tests for the real fault.
  target_compile_options(kw_test_flags INTERFACE
    -Wno-array-bounds -Wno-restrict -Wno-stringop-overread -Wno-stringop-overflow)
endif()

if(KW_UNITE)
  set(headers <fmt/format.h> <fmt/ranges.h> <tl/expected.hpp> <algorithm> <array> <chrono> <cmath> <cstddef> <cstdint>
    <filesystem> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <utility> <variant> <vector>)
  kw_precompiled_headers(kw_precompiled ${headers} LIBRARIES fmt::fmt tl::expected kw_flags)
  if(BUILD_TESTING)
    kw_precompiled_headers(kw_precompiled_tests <gmock/gmock.h> <gtest/gtest.h> ${headers}
      LIBRARIES fmt::fmt tl::expected GTest::gmock kw_flags kw_test_flags)
  endif()
endif()

# kw_unite(target): its sources in units of about this many files.
function(kw_unite target)
  if(KW_UNITE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 14)
    target_precompile_headers(${target} REUSE_FROM kw_precompiled)
  endif()
endfunction()

# kw_sanitizer_options(target): the options that every program which is not sandboxed has under a sanitizer.
function(kw_sanitizer_options target)
  if(KW_SANITIZE)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/sanitizer_options.cpp)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/cmake/sanitizer_options.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# kw_test_program(target): what every program of tests links and how it is compiled.
function(kw_test_program target)
  target_link_libraries(${target} PRIVATE GTest::gmock GTest::gtest_main kw_test_flags)
  kw_sanitizer_options(${target})
  if(KW_UNITE)
    target_precompile_headers(${target} REUSE_FROM kw_precompiled_tests)
  endif()
endfunction()
