#include "language/kernel_words.hpp"

#include <gtest/gtest.h>

#include "language/language.hpp"

namespace kw {
namespace {

TEST(KernelWords, are_those_of_every_language) {
  for (const Language* language : languages()) {
    for (const char* word : {"switch", "int", "for", "void"}) EXPECT_TRUE(is_no_kernel_name(word, *language)) << word;
    for (const char* name : {"attention", "a_step", "swit", "in", "", "forward"})
      EXPECT_FALSE(is_no_kernel_name(name, *language)) << name;
  }
}

TEST(KernelWords, are_functions_and_vectors_of_opencl_alone) {
  for (const char* word : {"step", "min", "float4", "exp", "main", "INFINITY"}) {
    EXPECT_TRUE(is_no_kernel_name(word, *find_language("opencl"))) << word;
    EXPECT_FALSE(is_no_kernel_name(word, *find_language("cuda"))) << word;
  }
  for (const char* word : {"new", "template"}) {
    EXPECT_FALSE(is_no_kernel_name(word, *find_language("opencl"))) << word;
    EXPECT_TRUE(is_no_kernel_name(word, *find_language("hip"))) << word;
  }
}

}  // namespace
}  // namespace kw
