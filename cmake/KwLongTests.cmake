# kw_add_long_tests(name TIMEOUT seconds [SHARDED_BY_GTEST] COMMAND command...)
#
# A test that says more the longer it runs, in shares of which .ci/run takes one after every second commit. A share is two
# parts that run side by side: `name`_0 and so on, with the labels `long` and `share_0` and so on. `./dev test` leaves them
# out, `./dev test --long` runs them all and `./dev test --share N` one share. Together they are the whole test. In the
# command, @PART@ stands for the number of the part and @PARTS@ for how many there are; with SHARDED_BY_GTEST, GoogleTest
# takes both from the environment.
#
# Not built with a sanitizer: what these look for is wrong answers of kernels, at several times the cost.
set(k_shares 12)
set(k_parts 24)

function(kw_add_long_tests name)
  cmake_parse_arguments(arg "SHARDED_BY_GTEST" "TIMEOUT" "COMMAND" ${ARGN})
  math(EXPR last "${k_parts} - 1")
  foreach(part RANGE ${last})
    math(EXPR share "${part} % ${k_shares}")
    set(command ${arg_COMMAND})
    list(TRANSFORM command REPLACE "@PART@" ${part})
    list(TRANSFORM command REPLACE "@PARTS@" ${k_parts})
    add_test(NAME ${name}_${part} COMMAND ${command} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name}_${part} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "long;share_${share}")
    if(arg_SHARDED_BY_GTEST)
      set_tests_properties(${name}_${part} PROPERTIES
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${k_parts};GTEST_SHARD_INDEX=${part}")
    endif()
  endforeach()
endfunction()
