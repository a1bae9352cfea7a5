/* Knows how control flows through a function. Tells in which order its blocks are best executed so
 * that paths that have parted meet again, and which values are needed later.
 *
 * Blocks are in a weak topological order (Bourdoncle, "Efficient chaotic iteration strategies with
 * widenings", 1993): a block comes after the blocks that lead to it, and all blocks of a loop come
 * before the blocks behind the loop. */
#ifndef RECLINE_PROVE_FLOW_H
#define RECLINE_PROVE_FLOW_H

#include <glib.h>
#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

struct flow;

/* Returns what is known of a function. `numbers` has the number of each of its arguments and
 * instructions, from 1, and must live as long as the flow. The caller frees it with flow_free(). */
struct flow *flow_new(LLVMValueRef function, GHashTable *numbers);
void flow_free(struct flow *);

/* Returns the number of loops. A path counts how often it has come back to the beginning of each
 * loop. */
unsigned flow_loops(const struct flow *);

/* Counts the jump in `trips`, by loop. Returns whether several blocks lead to `to`, so that paths
 * may meet there. */
bool flow_jump(const struct flow *, uint16_t *trips, LLVMBasicBlockRef from, LLVMBasicBlockRef to);

/* Compares two positions in the function: instructions, each after a number of trips. Returns a
 * negative number if the first position is to be executed before the second, a positive number if
 * it comes after the second, and 0 if they are the same. */
int flow_compare(const struct flow *, LLVMValueRef a, const uint16_t *a_trips, LLVMValueRef b,
                 const uint16_t *b_trips);

/* Returns one byte for each argument and instruction, by its number from 0. The byte tells whether
 * the value is used at `next` or later. */
const uint8_t *flow_needed(struct flow *, LLVMValueRef next);

/* Returns whether the value becomes, perhaps by arithmetic, an index into memory or a number of
 * bytes. */
bool flow_steers(struct flow *, LLVMValueRef);

#endif
