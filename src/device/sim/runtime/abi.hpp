#pragma once
// What a simulated candidate and the worker that runs it agree on. The candidate's shared object calls the worker
// through one table of functions; nothing else of the worker is in its reach by name. Included by both sides, by the
// candidate's as text, so it includes nothing.

namespace kw_sim {

struct Coordinates {
  unsigned x, y, z;
};

/// Where in the source something happens: a line number, or an address in the candidate's code (always larger).
using Place = unsigned long;
inline constexpr Place k_most_lines = 1UL << 24;

/// Bits that say what kind of memory access it is.
inline constexpr unsigned k_write = 1;
inline constexpr unsigned k_atomic = 2;
inline constexpr unsigned k_volatile = 4;      ///< may be a thread waiting for another
inline constexpr unsigned k_misaligned = 8;    ///< no access: the address is not what its type needs
inline constexpr unsigned k_matrix_unit = 16;  ///< of operands that lie in shared memory, on behalf of the tensor cores

enum class BarrierOp : int { plain, count, all, any };

/// What the lanes of a warp do together.
enum class WarpOp : int {
  sync,
  shuffle,       ///< from lane `a` of the segment
  shuffle_up,    ///< from `a` lanes below
  shuffle_down,  ///< from `a` lanes above
  shuffle_xor,   ///< from lane number xor `a`
  ballot,        ///< out: two 64-bit words, lanes with a true predicate `a`, and lanes that took part
  match,         ///< out: two 64-bit words, lanes with the same `bytes` at `in`, and lanes that took part
  reduce_add,    ///< of 32-bit words
  reduce_min,
  reduce_max,
  reduce_min_signed,
  reduce_max_signed,
  reduce_and,
  reduce_or,
  reduce_xor,
  load_matrices,             ///< `a` matrices, address of a row of 16 bytes at `in`, out: `a` words
  load_matrices_transposed,  ///< likewise
  multiply_f16,              ///< m16n8k16; in: 4 + 2 words, out: 4 floats, read and written
  multiply_bf16,             ///< likewise
  multiply_tf32,             ///< m16n8k8; likewise
};

struct WarpRequest {
  WarpOp op;
  unsigned long mask;  ///< the lanes that take part
  int line;
  int a;
  int width;  ///< of shuffles: lanes per segment
  unsigned bytes;
  const void* in;
  void* out;
  /// No mask: with the lanes that come to the same call before none of the warp can go on without them.
  bool unmasked = false;
  const void* from = nullptr;  ///< the call, filled in on the way
};

/// Where an operand of a warpgroup's product lies in shared memory, when its descriptor has no swizzle: 16 bytes of
/// each of 8 rows behind one another, the next 16 bytes of the rows at `leading_bytes`, the next 8 rows at
/// `stride_bytes`.
struct OperandPlaces {
  unsigned long leading_bytes, stride_bytes;  ///< both 0: rows of 128 bytes, exchanged by a swizzle
};

/// A product of a warpgroup, as one of its threads asks for it: 64 rows by 16 steps, or 8 of tf32, by 8 * tiles
/// columns.
struct Product {
  WarpOp op;    ///< multiply_f16, multiply_bf16 or multiply_tf32
  float* sums;  ///< the thread's, 4 for each tile
  unsigned tiles;
  bool add;       ///< to what the sums hold
  const void* a;  ///< rows in shared memory; null: `registers`
  unsigned registers[4];
  const void* b;                ///< in shared memory: summed over what is contiguous, with `registers` over rows
  unsigned long leading_bytes;  ///< from 64 columns of b to the next, where its rows are summed over; else 0
  int line;
  OperandPlaces a_places{0, 0}, b_places{0, 0};
};

/// A tensor of 16-bit numbers as the copy engine sees it; a GPU keeps something else in those 128 bytes.
struct TensorMap {
  unsigned long mark;  ///< k_tensor_map
  const void* memory;
  unsigned extents[3];       ///< in elements, those that are neighbours in memory first
  unsigned box[3];           ///< what a copy moves, likewise
  unsigned long strides[2];  ///< bytes from one element to the next along the second and the third
};
inline constexpr unsigned long k_tensor_map = 0x6b776d6170ul;

/// A box of a tensor on its way to shared memory, as rows of 128 bytes, exchanged by a swizzle.
struct TensorCopy {
  void* shared;
  const void* map;
  int first[3];   ///< element of the box; what lies outside of the tensor is zero
  void* barrier;  ///< in shared memory: at which its bytes arrive
  int line;
};

struct Runtime {
  const char* stacks;  ///< all fibers' stacks: accesses there are a thread's own
  unsigned long stack_bytes;
  void (*access)(const void* address, unsigned long bytes, unsigned kind, Place place);
  Coordinates (*thread_index)();
  Coordinates (*block_index)();
  Coordinates (*block_size)();
  Coordinates (*grid_size)();
  unsigned (*lane)();
  unsigned long (*live_lanes)();
  int (*barrier)(BarrierOp op, int predicate, int line);
  void (*warp)(WarpRequest* request);
  void (*fence)(int line);
  /// Compares `bytes` (2, 4 or 8) and exchanges them if equal; gives what was there.
  unsigned long long (*compare_exchange)(void* address, unsigned bytes, unsigned long long expected,
                                         unsigned long long desired);
  void (*copy_async)(void* shared, const void* global, int bytes, int source_bytes, int line);
  void (*commit_copies)();
  void (*wait_for_copies)(int groups_left, int line);
  void (*copy_tensor)(const TensorCopy* copy);
  void (*init_barrier)(void* barrier, unsigned arrivals, int line);
  void (*expect_bytes)(void* barrier, unsigned bytes, int line);
  void (*wait_for_phase)(void* barrier, unsigned parity, int line);
  void (*defer_product)(const Product* product);
  void (*commit_products)();
  /// False when there is none to compute; see PendingProducts::next.
  bool (*next_product)(Product* product, int groups_left);
  void (*pause)(int line);
  /// A basic block of the candidate's code begins; called only where the compiler was asked to announce them.
  void (*entered)(Place block);
  /// Ends the launch with a finding: an assertion, a trap.
  void (*stop)(const char* what, int line);
};

}  // namespace kw_sim
