/* Ways through the platform between the hosts that a run can use. */
#ifndef RECLINE_ROUTES_H
#define RECLINE_ROUTES_H

/* The beginning of a line of die() that refuses a value of the scenario; the key and ": " follow.
 * `recline run` puts the file and the line of the key in front of the rest. */
#define REFUSED "refused: "

struct scenario;

/* Ends the run with one line (exit code 64) where messages cannot go from one node of the ranks,
 * spare or host of the dispatcher to another. With more than 128 hosts only the ways to and from
 * the dispatcher's host and the first host are checked. Called before a program begins, by one of
 * its actors. */
void routes_require(const struct scenario *);

#endif
