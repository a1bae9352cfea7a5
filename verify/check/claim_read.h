/* Reads and validates a claim. */
#ifndef RECLINE_CLAIM_READ_H
#define RECLINE_CLAIM_READ_H

#include <glib.h>

#include "world/rules/reached.h"
#include "world/scenario/scenario.h"
#include "world/script/script.h"

/* Reads the claim's script, which the caller frees with script_free(), and the events that its runs
 * must show. Returns false with `error` set (`file:line: what, expected what`) if a key of the
 * claim is wrong; *script may be set even then. */
bool claim_read(const struct scenario *claim, struct script **script, struct reached *least,
                GError **error);

/* Reads only the events that its runs must show. Returns false with `error` set as above. */
bool claim_reach(const struct scenario *claim, struct reached *least, GError **error);

#endif
