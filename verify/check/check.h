/* `recline check` explores claims and scenarios side by side, and reports their results. */
#ifndef RECLINE_CHECK_H
#define RECLINE_CHECK_H

#include <stdio.h>

#include "base/glib/catalogue.h"
#include "base/glib/command_line.h"
#include "verify/check/claim.h"

/* Holds a claim with its result. */
struct checked {
  struct scenario *claim;
  struct claim_result result;
  bool lost; /* the process that explored the claim ended without a result */
};

bool checked_as_expected(const struct checked *);

/* These functions print results on standard output. report_line() prints a line when a claim ends,
 * report_end() prints the footer, and the other functions print all results. */
void report_line(const struct checked *);
void report_end(const struct checked *, unsigned count);
void report_tap(const struct checked *, unsigned count);
void report_junit(const struct checked *, unsigned count);

/* Prints a workflow command for each verdict that is not as expected: GitHub Actions and compatible
 * services show the command at the line of the claim that expects another verdict. */
void report_annotate(FILE *out, const struct checked *, unsigned count);

/* Returns the results as one JSON object. The caller frees it with g_free(). */
char *report_json(const struct checked *, unsigned count);

/* Returns the file of a claim, given its id or its path, or NULL if there is none. The caller frees
 * it with g_free(). */
char *check_find_claim(const char *name);

/* Names the kinds of files that can be explored by name. */
enum { CHECKABLE = CATALOGUE_CLAIMS | CATALOGUE_MUTANTS | CATALOGUE_LONG | CATALOGUE_SCENARIOS };

extern const struct about about_check;
int command_check(int argc, char **argv);

#endif
