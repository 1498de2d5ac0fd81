#include "device/cuda/cubin.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "device/cuda/ptxas_log.hpp"

namespace kw::cuda {
namespace {

TEST(Cubin, refuses_what_is_no_elf_file) {
  for (const std::string text : {"", "\x7f",
                                 "\x7f"
                                 "ELF",
                                 "not a cubin at all, but long enough to hold a header of ELF.."}) {
    const auto kernels = read_cubin(text);
    ASSERT_FALSE(kernels);
    EXPECT_EQ(kernels.error().code, errc::cubin);
    EXPECT_EQ(kernels.error().message, "the compiler's output is not a 64-bit ELF file");
  }
}

TEST(Cubin, refuses_sections_outside_the_file) {
  std::string header(64, '\0');
  header.replace(0, 5,
                 "\x7f"
                 "ELF\x02");
  header[0x3c] = 3;                       // sections
  header[0x28] = static_cast<char>(200);  // where they start
  const auto kernels = read_cubin(header);
  ASSERT_FALSE(kernels);
  EXPECT_EQ(kernels.error().message, "section 0 of 3 lies outside the cubin");
}

/// An ELF file with the attributes of a kernel k: format 4, `attribute`, three numbers.
std::string cubin_with(std::uint8_t attribute, const std::array<std::uint32_t, 3>& numbers) {
  const std::string names = std::string("\0.nv.info.k\0", 12);
  std::string info = {4, static_cast<char>(attribute), sizeof numbers, 0};
  info.append(reinterpret_cast<const char*>(numbers.data()), sizeof numbers);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof header;
  header.e_shnum = 2;
  std::array<Elf64_Shdr, 2> sections{};
  sections[0].sh_offset = sizeof header + sizeof sections;
  sections[0].sh_size = names.size();
  sections[1].sh_name = 1;
  sections[1].sh_offset = sections[0].sh_offset + names.size();
  sections[1].sh_size = info.size();
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file.append(reinterpret_cast<const char*>(sections.data()), sizeof sections);
  return file + names + info;
}

TEST(Cubin, a_bound_on_threads_is_the_product_of_its_extents_whatever_they_are) {
  constexpr std::uint8_t k_max_threads = 0x05;
  const auto bound = [](const std::array<std::uint32_t, 3>& extents) {
    const auto kernels = read_cubin(cubin_with(k_max_threads, extents));
    EXPECT_TRUE(kernels && kernels->size() == 1 && kernels->front().name == "k");
    return kernels ? kernels->front().max_threads : -1;
  };
  EXPECT_EQ(bound({256, 2, 1}), 512);
  EXPECT_EQ(bound({0xffffffffU, 0xffffffffU, 0xffffffffU}), std::numeric_limits<std::int64_t>::max());
}

constexpr std::string_view k_log =
    "kernel.cu(3): warning: look\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
    "ptxas info    : Function properties for first\n"
    "ptxas         .     0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
    "ptxas info    : Used 24 registers, used 1 barriers, 512 bytes smem\n"
    "ptxas info    : Function properties for helper\n"
    "ptxas         .     24 bytes stack frame, 20 bytes spill stores, 20 bytes spill loads\n"
    "ptxas info    : Compiling entry function 'second' for 'sm_90a'\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 8 registers, used 0 barriers\n";

TEST(PtxasLog, figures_of_a_kernel_include_the_functions_it_calls) {
  const PtxasReport first = ptxas_report(k_log, "first");
  EXPECT_TRUE(first.found);
  EXPECT_EQ(first.spill_bytes, 60);
  EXPECT_EQ(first.static_shared_bytes, 512);
  const PtxasReport second = ptxas_report(k_log, "second");
  EXPECT_TRUE(second.found);
  EXPECT_EQ(second.spill_bytes, 0);
  EXPECT_EQ(second.static_shared_bytes, 0);
  EXPECT_FALSE(ptxas_report(k_log, "third").found);
}

TEST(PtxasLog, reports_are_left_out_for_people) {
  EXPECT_EQ(without_ptxas_reports(k_log), "kernel.cu(3): warning: look\n");
  EXPECT_EQ(without_ptxas_reports("\n"), "");
}

TEST(PtxasLog, what_costs_speed_is_kept) {
  const std::string loss =
      "ptxas info    : (C7515) Potential Performance Loss: wgmma.mma_async instructions are serialized due to others\n";
  EXPECT_EQ(without_ptxas_reports(std::string(k_log) + loss), "kernel.cu(3): warning: look\n" + loss);
}

}  // namespace
}  // namespace kw::cuda
