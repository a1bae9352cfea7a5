/* The space-time diagram of a trace: ranks are lines, time goes to the right. */
#ifndef RECLINE_SPACETIME_H
#define RECLINE_SPACETIME_H

#include "plots/history.h"
#include "plots/picture.h"

/* `outside`: number of messages that are not drawn, as only one end is in the part. */
struct picture *spacetime_draw(const struct history *, unsigned outside);

#endif
