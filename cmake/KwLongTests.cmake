# kw_add_long_tests(name TIMEOUT seconds [SHARDED_BY_GTEST] COMMAND command...)
#
# A test that says more the longer it runs, in k_shares parts of which every run of .ci/run takes one: `name`_0 and so
# on, with the labels `long` and `share_0` and so on. `./dev test` leaves them out, `./dev test --long` runs them all and
# `./dev test --share N` one share. Together they are the whole test. In the command, @SHARE@ stands for the number of
# the part and @SHARES@ for how many there are; with SHARDED_BY_GTEST, GoogleTest takes both from the environment.
#
# Not built with a sanitizer: what these look for is wrong answers of kernels, at several times the cost.
set(k_shares 6)

function(kw_add_long_tests name)
  cmake_parse_arguments(arg "SHARDED_BY_GTEST" "TIMEOUT" "COMMAND" ${ARGN})
  math(EXPR last "${k_shares} - 1")
  foreach(share RANGE ${last})
    set(command ${arg_COMMAND})
    list(TRANSFORM command REPLACE "@SHARE@" ${share})
    list(TRANSFORM command REPLACE "@SHARES@" ${k_shares})
    add_test(NAME ${name}_${share} COMMAND ${command} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name}_${share} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "long;share_${share}")
    if(arg_SHARDED_BY_GTEST)
      set_tests_properties(${name}_${share} PROPERTIES
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${k_shares};GTEST_SHARD_INDEX=${share}")
    endif()
  endforeach()
endfunction()
