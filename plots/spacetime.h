/* The space-time diagram of a trace: ranks are lines, time goes to the right. */
#ifndef RECLINE_SPACETIME_H
#define RECLINE_SPACETIME_H

#include "plots/history.h"
#include "plots/picture.h"

struct picture *spacetime_draw(const struct history *);

#endif
