/* Evaluates arithmetic over numbers that runs have as results: + - * /, < and > (1 or 0),
 * parentheses, references in brackets, min(a,b,...), max(a,b,...), abs(a). */
#ifndef RECLINE_EXPRESSION_H
#define RECLINE_EXPRESSION_H

#include <glib.h>
#include <stdbool.h>

/* Looks up the number to which a reference [RUN FIELD] refers, and writes it to *value. Returns
 * false with `error` if there is no such number. */
typedef bool expression_lookup(void *data, const char *run, const char *field, double *value,
                               GError **error);

bool expression_value(const char *text, expression_lookup *, void *data, double *value,
                      GError **error);

#endif
