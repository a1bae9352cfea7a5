/* Checks the routes of the platform between the nodes and hosts that a run can use. */
#ifndef RECLINE_ROUTES_H
#define RECLINE_ROUTES_H

/* REFUSED begins a line of die() that refuses a value of the scenario; the key and ": " follow.
 * `recline run` replaces the word by the file and the line of the key. */
#define REFUSED "refused: "

struct scenario;

/* Ends the run with one line (exit code 64) if messages cannot go between two of its hosts: the
 * nodes of ranks, the spares and the dispatcher's host. With more than 128 hosts, only the routes
 * to and from the dispatcher's host and the first host are checked. One actor must call this
 * function, before its program begins. */
void routes_require(const struct scenario *);

#endif
