/* recline check: claims and scenarios, explored side by side, and how they came out. */
#ifndef RECLINE_CHECK_H
#define RECLINE_CHECK_H

#include "base/glib/catalogue.h"
#include "base/glib/command_line.h"
#include "verify/check/claim.h"

/* A claim with its result. */
struct checked {
  struct scenario *claim;
  struct claim_result result;
  bool lost; /* the process that explored it has ended before it could say how */
};

bool checked_as_expected(const struct checked *);

/* Each prints all results on standard output. The lines of report_line() come as claims end, its
 * footer with report_end(). */
void report_line(const struct checked *);
void report_end(const struct checked *, unsigned count);
void report_tap(const struct checked *, unsigned count);
void report_junit(const struct checked *, unsigned count);

/* The same as one JSON object, for the caller to free. */
char *report_json(const struct checked *, unsigned count);

/* The file of a claim by its id, or the path that it is; NULL when there is neither. The caller
 * frees it with g_free(). */
char *check_find_claim(const char *name);

/* What can be explored, where it is named. */
enum { CHECKABLE = CATALOGUE_CLAIMS | CATALOGUE_MUTANTS | CATALOGUE_LONG | CATALOGUE_SCENARIOS };

extern const struct about about_check;
int command_check(int argc, char **argv);

#endif
