# kw_add_layer(NAME folder DEPENDS folder... LIBRARIES target...)
#
# One call makes a folder of src/ a static library `kw_<folder>`: every *.cpp that is not a test belongs to it, every
# *_test.cpp goes into one test program `kw_<folder>_tests`, and every header is checked to compile alone
# (target all_verify_interface_header_sets). DEPENDS names folders of a lower rank; tools/check_layers.py holds the
# includes to the ranks.
function(kw_add_layer)
  cmake_parse_arguments(arg "" "NAME" "DEPENDS;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${arg_NAME})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${folder}/*.hpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  set(scope PUBLIC)
  if(sources)
    add_library(kw_${arg_NAME} STATIC ${sources})
  else()
    add_library(kw_${arg_NAME} INTERFACE)
    set(scope INTERFACE)
  endif()
  list(TRANSFORM arg_DEPENDS PREPEND kw_)
  target_include_directories(kw_${arg_NAME} ${scope} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(kw_${arg_NAME} ${scope} ${arg_DEPENDS} ${arg_LIBRARIES} kw_flags)
  if(sources AND arg_PRIVATE_LIBRARIES)
    target_link_libraries(kw_${arg_NAME} PRIVATE ${arg_PRIVATE_LIBRARIES})
  endif()
  if(headers)
    target_sources(kw_${arg_NAME} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${headers})
    set_target_properties(kw_${arg_NAME} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  endif()

  if(BUILD_TESTING AND tests)
    add_executable(kw_${arg_NAME}_tests ${tests})
    target_link_libraries(kw_${arg_NAME}_tests PRIVATE kw_${arg_NAME} ${arg_PRIVATE_LIBRARIES} GTest::gmock GTest::gtest_main)
    include(GoogleTest)
    gtest_discover_tests(kw_${arg_NAME}_tests TEST_PREFIX "${arg_NAME}." DISCOVERY_TIMEOUT 60
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTIES TIMEOUT 120)
  endif()
endfunction()
