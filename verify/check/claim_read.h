/* A claim, read and validated. */
#ifndef RECLINE_CLAIM_READ_H
#define RECLINE_CLAIM_READ_H

#include <glib.h>

#include "world/rules/reached.h"
#include "world/scenario/scenario.h"
#include "world/script/script.h"

/* Reads its script, for script_free(), and what its runs must show at least. Returns false with
 * `error` set (`file:line: what, expected what`) when one of its keys is wrong; *script may be set
 * then, too.
 */
bool claim_read(const struct scenario *claim, struct script **script, struct reached *least,
                GError **error);

/* Reads only what its runs must show at least. Returns false with `error` set as above. */
bool claim_reach(const struct scenario *claim, struct reached *least, GError **error);

#endif
