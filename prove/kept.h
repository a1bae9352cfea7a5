/* Moves that were proved before, in a folder: a file for each. Its name is the hash of all that the
 * proof depends on: the protocol's object with its clauses, without debug information, so that
 * comments may change; the prover, Z3, ranks, capacity, the clause that is left out, the move. So a
 * file is never out of date. */
#ifndef RECLINE_KEPT_H
#define RECLINE_KEPT_H

#include "prove/line_proof.h"

/* DRAINS: proved, and a step of it drains channels. */
enum kept_as { KEPT_NOT, KEPT_PROVED, KEPT_DRAINS, KEPT_NEVER };

/* Returns the hash of all but the move, in hexadecimal, for g_free(); NULL: the prover's program
 * cannot be read, and nothing is kept. */
char *kept_proof(LLVMModuleRef module, const char *protocol, const struct line_asked *);

/* Returns how the move is known from an earlier run. */
enum kept_as kept_find(const char *folder, const char *proof, const char *move);

/* Keeps a move that was proved, or that cannot happen; makes the folder. Where it cannot be written
 * to, the move is proved again another time. */
void kept_note(const char *folder, const char *proof, const char *move, enum kept_as);

#endif
