// Copies of sm_80 and later that go on while the threads that began them do other things.

// --- section: asynchronous_copies
// 16 bytes from global to shared memory behind the kernel's back; zeros instead of what lies past `bytes`.
__device__ __forceinline__ void cp_async_16(void* to, const void* from, const int bytes) {
#ifdef KW_SIM
  __kw_sim_cp_async_16(to, from, bytes);
#else
  const unsigned address = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
#endif
}

__device__ __forceinline__ void cp_async_commit() {
#ifdef KW_SIM
  __kw_sim_cp_async_commit();
#else
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Until at most N of the groups committed last are still under way.
template <int N>
__device__ __forceinline__ void cp_async_wait() {
#ifdef KW_SIM
  __kw_sim_cp_async_wait_group<N>();
#else
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}
