#include "language/language.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "hardware/device_file.hpp"
#include "language/kernel_headers.hpp"
#include "language/kernel_texts.hpp"

namespace kw {
namespace {

using testing::ElementsAre;

TEST(language, every_row_answers_what_every_language_has) {
  for (const Language* row : languages()) {
    SCOPED_TRACE(row->name);
    for (const std::string_view text : {row->name, row->title, row->extension, row->fence, row->prompt, row->runtime})
      EXPECT_FALSE(text.empty());
    EXPECT_FALSE(row->words.empty());
    EXPECT_EQ(row->gpu_compiler.empty(), row->gpu_compiler_purpose.empty());
  }
}

TEST(language, rows_differ_in_what_tells_them_apart) {
  std::set<std::string_view> names;
  std::set<std::string_view> extensions;
  for (const Language* row : languages()) {
    names.insert(row->name);
    extensions.insert(row->extension);
  }
  EXPECT_EQ(names.size(), languages().size());
  EXPECT_EQ(extensions.size(), languages().size());
}

TEST(language, what_a_row_names_is_there) {
  for (const Language* row : languages()) {
    SCOPED_TRACE(row->name);
    if (!row->extends.empty()) {
      EXPECT_NE(find_language(row->extends), nullptr) << row->extends;
    }
    if (!row->default_device.empty()) {
      const auto facts = find_device_facts(row->default_device);
      ASSERT_TRUE(facts) << facts.error().to_string();
      EXPECT_TRUE(runs(*facts, *row));
    }
    if (!row->simulator) continue;
    for (const SimulatedDevice& device : row->simulator->devices) {
      const auto facts = find_device_facts(device.gpu);
      ASSERT_TRUE(facts) << facts.error().to_string();
      EXPECT_TRUE(runs(*facts, *row)) << device.id;
      if (!device.arch.empty()) {
        EXPECT_TRUE(facts->gpu->arch.starts_with(device.arch)) << device.id;
      }
    }
  }
}

TEST(language, a_calibration_file_has_both_kernels) {
  for (const Language* row : languages()) {
    if (row->calibration.empty()) continue;
    EXPECT_FALSE(kernel_text(row->calibration, "multiply_add").empty()) << row->name;
    EXPECT_FALSE(kernel_text(row->calibration, "bandwidth").empty()) << row->name;
  }
}

TEST(language, lists_its_names_with_the_default_first) {
  EXPECT_THAT(language_names(), ElementsAre("opencl", "cuda", "hip"));
  EXPECT_EQ(default_language().name, "opencl");
  EXPECT_EQ(find_language("fortran"), nullptr);
  EXPECT_EQ(find_language(""), nullptr);
}

TEST(language, a_device_id_means_the_language_of_its_runtime) {
  EXPECT_EQ(language_of_device_id("opencl:0"), find_language("opencl"));
  EXPECT_EQ(language_of_device_id("cuda:1"), find_language("cuda"));
  EXPECT_EQ(language_of_device_id("cuda"), find_language("cuda"));
  EXPECT_EQ(language_of_device_id("sim:sm_90"), nullptr);
  EXPECT_EQ(language_of_device_id("null"), nullptr);
  EXPECT_EQ(language_of_device_id(""), nullptr);
}

TEST(language, a_gpu_has_the_simulator_whose_architecture_comes_nearest) {
  const Language& cuda = *find_language("cuda");
  EXPECT_EQ(simulated_device_for(cuda, "sm_80"), "sim:sm_80");
  EXPECT_EQ(simulated_device_for(cuda, "sm_89"), "sim:sm_80");
  EXPECT_EQ(simulated_device_for(cuda, "sm_90a"), "sim:sm_90");
  EXPECT_EQ(simulated_device_for(cuda, "sm_100a"), "sim:sm_120");
  EXPECT_EQ(simulated_device_for(cuda, "sm_75"), "sim:sm_90");
  EXPECT_EQ(simulated_device_for(*find_language("hip"), "gfx1100"), "sim:gfx1100");
  EXPECT_EQ(simulated_device_for(*find_language("hip"), "gfx942"), "sim:gfx942");
}

TEST(language, kernels_include_the_headers_of_their_language_and_those_of_numbers) {
  EXPECT_TRUE(is_kernel_header("cuda", "cuda_fp16.h"));
  EXPECT_TRUE(is_kernel_header("cuda", "stdint.h"));
  EXPECT_FALSE(is_kernel_header("hip", "cuda_fp16.h"));
  EXPECT_FALSE(is_kernel_header("opencl", "stdint.h"));
  EXPECT_FALSE(is_kernel_header("fortran", "stdint.h"));
}

}  // namespace
}  // namespace kw
