/* Evaluates arithmetic over the numbers of runs: + - * /, < and > (1 or 0), parentheses, references
 * in brackets, min(a,b,...), max(a,b,...), abs(a). */
#ifndef RECLINE_EXPRESSION_H
#define RECLINE_EXPRESSION_H

#include <glib.h>
#include <stdbool.h>

/* Sets the number of a reference [RUN FIELD]. Returns false with `error` if there is none. */
typedef bool expression_lookup(void *data, const char *run, const char *field, double *value,
                               GError **error);

bool expression_value(const char *text, expression_lookup *, void *data, double *value,
                      GError **error);

#endif
