/* Prints the result of `recline prove PROTOCOL`. */
#ifndef RECLINE_PROVE_LINE_REPORT_H
#define RECLINE_PROVE_LINE_REPORT_H

#include "base/glib/json.h"
#include "prove/line_proof.h"

/* Prints the result of the proof or, if `json` is not NULL, adds it as an object to the list that
 * is open there. `seconds` is processor time. Returns the exit code: proved 0, fails 1, undecided
 * 2. */
int line_report(const char *name, const struct line_asked *, const struct line_proof *,
                double seconds, JsonBuilder *json);

/* Returns the word for the result: "proved", "fails" or "undecided". */
const char *verdict_word(bool failed, const char *undecided);

#endif
