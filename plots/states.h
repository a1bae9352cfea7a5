/* Draws the state diagram of a protocol, from the comment that opens its source file. */
#ifndef RECLINE_STATES_H
#define RECLINE_STATES_H

#include "plots/picture.h"

/* Returns the picture, which the caller frees, or NULL with `error` set to one line. `text` is the
 * content of `file`. In SVG, transition N has the id "transition-N", counted from 0. */
struct picture *states_draw(const char *file, const char *text, GError **error);

/* Calls `each` for each transition, in the order of these numbers, with the names of its states and
 * its events ("" if the comment names no event). Returns false with `error` as above. */
bool states_each(const char *file, const char *text,
                 void (*each)(void *ctx, const char *from, const char *to, const char *event),
                 void *ctx, GError **error);

#endif
