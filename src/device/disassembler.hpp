#pragma once
// Capstone's handle for x86-64 code, and one instruction that is used again and again. Include it in sources alone.

#include <capstone/capstone.h>

namespace kw {

struct Disassembler {
  csh handle = 0;
  cs_insn* instruction = nullptr;  ///< null when Capstone could not be set up
  bool ready = false;

  Disassembler() {
    ready = cs_open(CS_ARCH_X86, CS_MODE_64, &handle) == CS_ERR_OK;
    if (ready) cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    if (ready) instruction = cs_malloc(handle);
  }
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;
  ~Disassembler() {
    if (instruction != nullptr) cs_free(instruction, 1);
    if (ready) cs_close(&handle);
  }
};

}  // namespace kw
