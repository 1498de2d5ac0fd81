// Compiled without instrumentation and linked to every simulated candidate: where the instrumented code's calls arrive,
// and the way from there to the worker's table. The names are those of the compiler's instrumentation for data races;
// no library of it is linked.
#include "abi.hpp"

namespace {
const kw_sim::Runtime* runtime;
const char* stacks;
unsigned long stack_bytes;
}  // namespace

/// Dynamic shared memory; the object that defines it also gives it the names that the candidate declares.
extern "C" __thread char kw_sim_dynamic[];

extern "C" {

/// The calling host thread's dynamic shared memory.
__attribute__((visibility("default"))) void* kw_sim_shared() { return kw_sim_dynamic; }

__attribute__((visibility("default"))) void kw_sim_bind(const kw_sim::Runtime* given) {
  runtime = given;
  stacks = given->stacks;
  stack_bytes = given->stack_bytes;
}

static inline void seen(const void* address, unsigned long bytes, unsigned kind, const void* from) {
  if (static_cast<unsigned long>(static_cast<const char*>(address) - stacks) < stack_bytes) return;
  runtime->access(address, bytes, kind, reinterpret_cast<kw_sim::Place>(from) - 1);
}
#define KW_FROM __builtin_return_address(0)
#define KW_ACCESS(NAME, BYTES, KIND) \
  void __tsan_##NAME##BYTES(void* p) { seen(p, BYTES, KIND, KW_FROM); }
#define KW_ACCESSES(BYTES)                                                                       \
  KW_ACCESS(read, BYTES, 0)                                                                      \
  KW_ACCESS(write, BYTES, kw_sim::k_write)                                                       \
  KW_ACCESS(unaligned_read, BYTES, 0)                                                            \
  KW_ACCESS(unaligned_write, BYTES, kw_sim::k_write)                                             \
  KW_ACCESS(volatile_read, BYTES, kw_sim::k_volatile)                                            \
  KW_ACCESS(volatile_write, BYTES, kw_sim::k_write | kw_sim::k_volatile)                         \
  KW_ACCESS(unaligned_volatile_read, BYTES, kw_sim::k_volatile)                                  \
  KW_ACCESS(unaligned_volatile_write, BYTES, kw_sim::k_write | kw_sim::k_volatile)
KW_ACCESSES(1)
KW_ACCESSES(2)
KW_ACCESSES(4)
KW_ACCESSES(8)
KW_ACCESSES(16)
void __tsan_read_range(void* p, unsigned long bytes) { seen(p, bytes, 0, KW_FROM); }
void __tsan_write_range(void* p, unsigned long bytes) { seen(p, bytes, kw_sim::k_write, KW_FROM); }
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

/// Where branches are counted: a basic block begins. While the object is loaded there is no table yet.
void __sanitizer_cov_trace_pc() {
  if (runtime != nullptr) runtime->entered(reinterpret_cast<kw_sim::Place>(KW_FROM) - 1);
}

/// What takes addresses and is called by name, by the compiler or by a candidate that declares it itself: these are
/// seen, where the machine's own would not be. They may not be compiled to calls of themselves (see compile.cpp).
void* memmove(void* to, const void* from, unsigned long bytes) {
  seen(from, bytes, 0, KW_FROM);
  seen(to, bytes, kw_sim::k_write, KW_FROM);
  char* target = static_cast<char*>(to);
  const char* source = static_cast<const char*>(from);
  if (target < source) {
    for (unsigned long i = 0; i < bytes; ++i) target[i] = source[i];
  } else {
    for (unsigned long i = bytes; i > 0; --i) target[i - 1] = source[i - 1];
  }
  return to;
}
void* memcpy(void* to, const void* from, unsigned long bytes) { return memmove(to, from, bytes); }
void* memset(void* to, int value, unsigned long bytes) {
  seen(to, bytes, kw_sim::k_write, KW_FROM);
  for (unsigned long i = 0; i < bytes; ++i) static_cast<char*>(to)[i] = static_cast<char>(value);
  return to;
}
#define KW_SINE_AND_COSINE(NAME, TYPE, SINE, COSINE)      \
  TYPE SINE(TYPE);                                        \
  TYPE COSINE(TYPE);                                      \
  void NAME(TYPE x, TYPE* sine, TYPE* cosine) {           \
    seen(sine, sizeof x, kw_sim::k_write, KW_FROM);       \
    seen(cosine, sizeof x, kw_sim::k_write, KW_FROM);     \
    *sine = SINE(x);                                      \
    *cosine = COSINE(x);                                  \
  }
KW_SINE_AND_COSINE(sincosf, float, sinf, cosf)
KW_SINE_AND_COSINE(sincos, double, sin, cos)
#define KW_FRACTION_AND_EXPONENT(NAME, TYPE, ILOGB, LDEXP)  \
  int ILOGB(TYPE);                                          \
  TYPE LDEXP(TYPE, int);                                    \
  TYPE NAME(TYPE x, int* exponent) {                        \
    seen(exponent, sizeof *exponent, kw_sim::k_write, KW_FROM); \
    *exponent = 0;                                          \
    if (x == 0 || x - x != 0) return x;                     \
    *exponent = ILOGB(x) + 1;                               \
    return LDEXP(x, -*exponent);                            \
  }
KW_FRACTION_AND_EXPONENT(frexpf, float, ilogbf, ldexpf)
KW_FRACTION_AND_EXPONENT(frexp, double, ilogb, ldexp)

void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  return memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  return memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
  return memset(to, value, bytes);
}

/// The compiler's check that a pointer has its type's alignment found one that has not.
void __ubsan_handle_type_mismatch_v1(void*, void* p) {
  runtime->access(p, 1, kw_sim::k_misaligned, reinterpret_cast<kw_sim::Place>(KW_FROM) - 1);
}

void kw_sim_access(const void* p, unsigned long bytes, unsigned kind, int line) {
  if (static_cast<unsigned long>(static_cast<const char*>(p) - stacks) < stack_bytes) return;
  runtime->access(p, bytes, kind, static_cast<kw_sim::Place>(line));
}
kw_sim::Coordinates kw_sim_thread_index() { return runtime->thread_index(); }
kw_sim::Coordinates kw_sim_block_index() { return runtime->block_index(); }
kw_sim::Coordinates kw_sim_block_size() { return runtime->block_size(); }
kw_sim::Coordinates kw_sim_grid_size() { return runtime->grid_size(); }
unsigned kw_sim_lane() { return runtime->lane(); }
unsigned long kw_sim_live_lanes() { return runtime->live_lanes(); }
int kw_sim_barrier(kw_sim::BarrierOp op, int predicate, int line) { return runtime->barrier(op, predicate, line); }
void kw_sim_warp(kw_sim::WarpRequest* request) {
  request->from = KW_FROM;
  runtime->warp(request);
}
void kw_sim_fence(int line) { runtime->fence(line); }
unsigned long long kw_sim_compare_exchange(void* p, unsigned bytes, unsigned long long expected,
                                           unsigned long long desired) {
  return runtime->compare_exchange(p, bytes, expected, desired);
}
void kw_sim_copy_async(void* shared, const void* global, int bytes, int source_bytes, int line) {
  runtime->copy_async(shared, global, bytes, source_bytes, line);
}
void kw_sim_commit_copies() { runtime->commit_copies(); }
void kw_sim_wait_for_copies(int groups_left, int line) { runtime->wait_for_copies(groups_left, line); }
void kw_sim_copy_tensor(const kw_sim::TensorCopy* copy) { runtime->copy_tensor(copy); }
void kw_sim_init_barrier(void* barrier, unsigned arrivals, int line) { runtime->init_barrier(barrier, arrivals, line); }
void kw_sim_expect_bytes(void* barrier, unsigned bytes, int line) { runtime->expect_bytes(barrier, bytes, line); }
void kw_sim_wait_for_phase(void* barrier, unsigned parity, int line) { runtime->wait_for_phase(barrier, parity, line); }
void kw_sim_defer_product(const kw_sim::Product* product) { runtime->defer_product(product); }
void kw_sim_commit_products() { runtime->commit_products(); }
bool kw_sim_next_product(kw_sim::Product* product, int groups_left) {
  return runtime->next_product(product, groups_left);
}
void kw_sim_pause(int line) { runtime->pause(line); }
void kw_sim_stop(const char* what, int line) {
  runtime->stop(what, line);
  __builtin_trap();
}

}  // extern "C"
