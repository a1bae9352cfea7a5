/* Catches the signals that ask a command to end: SIGINT, SIGTERM and SIGHUP. A signal that the
 * caller of the command ignores stays ignored. The process asks now and then whether a signal has
 * come; a signal also ends waiting system calls with EINTR. */
#ifndef RECLINE_SIGNALS_H
#define RECLINE_SIGNALS_H

/* Notes these three signals from now on, and forgets a signal that came earlier. */
void signals_catch(void);

/* Returns the number of the signal that came last, or 0. */
int signals_caught(void);

/* Restores the handlers that the last signals_catch() replaced. */
void signals_restore(void);

/* Lets a signal that ends this process first write `text` to standard error. The text must live as
 * long as the process. Children, which inherit the handler, write nothing. */
void signals_tell(const char *text);

/* Ignores these three signals, in a child that its parent ends. */
void signals_ignore(void);

#endif
