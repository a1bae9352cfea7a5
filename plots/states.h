/* Draws the state diagram of a protocol, from the comment that opens its source file. */
#ifndef RECLINE_STATES_H
#define RECLINE_STATES_H

#include "plots/picture.h"
/* Returns the picture, which the caller frees; NULL with `error` set to one line. `text` is the
 * content of `file`. */

struct picture *states_draw(const char *file, const char *text, GError **error);

#endif
