/* Prints and parses events and actions in the one notation of traces, narrations and error
 * messages.
 *
 *     arrived peer=0 tag=7 comm=0 request=3 bytes=8 words=1,0,4
 *     deliver request=3
 *
 * A line starts with the kind; fields follow as key=value in a fixed order; a field that is zero is
 * left out unless the kind needs it. The name of a control message is a bare word.
 */
#ifndef RECLINE_TEXT_H
#define RECLINE_TEXT_H

#include "protocols/protocol.h"

/* size of the longest text of an event or action, in bytes, with the null at its end */
enum { TEXT_MAX = 256 };

/* event_name() and action_name() return the lower-case name of a kind ("arrived", "set-timer"), or
 * NULL if the number is no kind. */
const char *event_name(enum rcl_event_kind);
const char *action_name(enum rcl_action_kind);

/* event_named() and action_named() return the kind with that name, or the kind NONE if no kind has
 * that name. */
enum rcl_event_kind event_named(const char *name);
enum rcl_action_kind action_named(const char *name);

/* reason_name() returns the name of a reason to give up, full_name() the name of a list that is
 * full (enum rcl_full). */
const char *reason_name(enum rcl_reason);
const char *full_name(uint32_t list);

/* Prints into `text` (TEXT_MAX bytes) why a protocol with lists of `capacity` entries took action
 * GIVE_UP, and what would help. Returns `text`. */
char *give_up_print(const struct rcl_action *, uint32_t capacity, char *text);

/* Prints the same for a list that is three quarters full. */
char *nearly_full_print(uint32_t list, uint32_t capacity, char *text);

/* event_print() and action_print() print into `text` (TEXT_MAX bytes) and return `text`. `protocol`
 * names control messages; it may be NULL. */
char *event_print(const struct rcl_protocol *, const struct rcl_event *, char *text);
char *action_print(const struct rcl_protocol *, const struct rcl_action *, char *text);

/* Returns the length in bytes of the text of an invariant (rcl_protocol.invariants), without its
 * HARM. */
int invariant_length(const char *invariant);

/* Returns whether a printed event or action is the step that `moment` names (an end of a phase,
 * struct rcl_phase). `moment` begins with the kind of the step. Words may follow; for each of them,
 * `text` must have a field that begins with that word. */
bool text_is_moment(const char *text, const char *moment);

enum { NUMBER_MAX = 21 }; /* size of the longest number, in bytes, with the null at its end */

/* Prints `value` in decimal into `text` (NUMBER_MAX bytes); returns the length. */
size_t number_print(int64_t value, char *text);

/* event_parse() and action_parse() parse what event_print() and action_print() print. They return
 * NULL if they understood all of `text`, otherwise the place in `text` that they did not
 * understand. */
const char *event_parse(const char *text, struct rcl_event *);
const char *action_parse(const char *text, struct rcl_action *);

#endif
