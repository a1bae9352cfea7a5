/* Events and actions as text: the one notation of traces, narrations and error messages.
 *
 *     arrived peer=0 tag=7 comm=0 request=3 bytes=8 words=1,0,4
 *     deliver request=3
 *
 * A line starts with the kind; fields follow as key=value in a fixed order; a field that is zero
 * is left out unless the kind needs it. The name of a control message stands as a bare word.
 */
#ifndef RECLINE_TEXT_H
#define RECLINE_TEXT_H

#include "protocols/protocol.h"

enum { TEXT_MAX = 256 }; /* bytes that the text of one event or action can take, with its end */

/* Return the lower-case name of a kind ("arrived", "set-timer"); NULL for a number that is no kind.
 */
const char *event_name(enum rcl_event_kind);
const char *action_name(enum rcl_action_kind);

/* The inverse of the above; they return the NONE kind when there is no such name. */
enum rcl_event_kind event_named(const char *name);
enum rcl_action_kind action_named(const char *name);

/* Return the name of a reason to give up, and of a list that is full (enum rcl_full). */
const char *reason_name(enum rcl_reason);
const char *full_name(uint32_t list);

/* Prints into `text` (TEXT_MAX bytes) why action GIVE_UP of a protocol with lists of `capacity`
 * entries was taken, and what would help; returns it. */
char *give_up_print(const struct rcl_action *, uint32_t capacity, char *text);

/* The same for a list that is three quarters full. */
char *nearly_full_print(uint32_t list, uint32_t capacity, char *text);

/* Print into `text` (TEXT_MAX bytes) and return it. `protocol` names control messages; may be
 * NULL. */
char *event_print(const struct rcl_protocol *, const struct rcl_event *, char *text);
char *action_print(const struct rcl_protocol *, const struct rcl_action *, char *text);

/* Returns whether a printed event or action is the step that `moment` names, as the ends of phases
 * are named (struct rcl_phase): its kind, then fields that it has, or beginnings of fields. */
bool text_is_moment(const char *text, const char *moment);

enum { NUMBER_MAX = 21 }; /* bytes of the longest number, with its end */

/* Prints `value` in decimal into `text` (NUMBER_MAX bytes); returns the length. */
size_t number_print(int64_t value, char *text);

/* Parse the texts that the above print. Return NULL when all of `text` was understood; otherwise
 * the place in `text` that was not. */
const char *event_parse(const char *text, struct rcl_event *);
const char *action_parse(const char *text, struct rcl_action *);

#endif
