/* Draws the space-time diagram of a trace: ranks are lines, time goes to the right. */
#ifndef RECLINE_SPACETIME_H
#define RECLINE_SPACETIME_H

#include "plots/history.h"
#include "plots/picture.h"

/* Returns the picture, which the caller frees. `outside` is the number of messages that are not
 * drawn because only one of their ends is in the part. */
struct picture *spacetime_draw(const struct history *, unsigned outside);

#endif
