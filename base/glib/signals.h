/* Signals by which a user or the system asks a command to end: SIGINT, SIGTERM and SIGHUP. One that
 * the caller of the command ignores stays ignored. For a process that asks now and then whether one
 * has come; calls that wait end with EINTR. */
#ifndef RECLINE_SIGNALS_H
#define RECLINE_SIGNALS_H

/* Notes these signals from now on, and forgets one that came earlier. */
void signals_catch(void);

/* Returns the number of the signal that came last, or 0. */
int signals_caught(void);

/* Restores what was done about them at the last signals_catch(). */
void signals_restore(void);

/* Ignores them, in a child that its parent ends. */
void signals_ignore(void);

#endif
