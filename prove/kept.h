/* Keeps the moves that were proved in a folder, with a file for each. The file's name is a hash of
 * everything on which the proof depends: the protocol's object with its clauses but without debug
 * information, so that comments may change; the prover, Z3, ranks, capacity, values of parameters,
 * the clause that is left out, and the move. So a file is never out of date. */
#ifndef RECLINE_KEPT_H
#define RECLINE_KEPT_H

#include "prove/line_proof.h"

/* Lists what may be known of a move. KEPT_DRAINS: the move was proved, and its step drains
 * channels. KEPT_NEVER: the move cannot happen. */
enum kept_as { KEPT_NOT, KEPT_PROVED, KEPT_DRAINS, KEPT_NEVER };

/* Returns the hash of everything but the move, in hexadecimal digits; the caller frees the text
 * with g_free(). Returns NULL if the prover's program cannot be read; nothing is kept in that
 * case. */
char *kept_proof(LLVMModuleRef module, const char *protocol, const struct line_asked *);

/* Returns what an earlier run has found about the move. */
enum kept_as kept_find(const char *folder, const char *proof, const char *move);

/* Keeps a move that was proved, or that cannot happen. Makes the folder. If the folder cannot be
 * written to, the move is proved again in the next run. */
void kept_note(const char *folder, const char *proof, const char *move, enum kept_as);

#endif
