/* Gives the page its functions. This file is compiled only for wasm32. There is one session, and
 * all arguments are numbers or texts. A text that a function returns stays until the next call. A
 * text that is passed to a function lies in the memory of play_room(). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/platform.h"
#include "play/session.h"

#define EXPORT(name) __attribute__((export_name(#name)))
#define IMPORT(name) __attribute__((import_module("page"), import_name(#name)))

/* Protocols that are linked in addition to recline's own. They are listed as in shared objects
 * (protocol.h). Most pages have none. */
extern const struct rcl_protocol *const recline_protocols[] __attribute__((weak));

/* Tells the page the progress of a search. */
IMPORT(progress) void page_progress(double states, double depth, double level);

static struct session session;
static struct buffer answer;
static char *room;

static const char *answered(void)
{
  return answer.text ? answer.text : "";
}

static void begin_answer(void)
{
  free(answer.text);
  answer = (struct buffer){0};
}

/* Returns memory for a text of `bytes` bytes. The page writes the text there before its next
 * call. */
EXPORT(play_room) char *play_room(uint32_t bytes)
{
  return room = memory_grow(room, bytes + 1);
}

/* Opens the world whose description is in the room. Returns an empty text, or an error message. */
EXPORT(play_begin) const char *play_begin(void)
{
  static bool registered;
  if (!registered && recline_protocols)
    rcl_protocol_register(recline_protocols);
  registered = true;
  session_clear(&session);
  const char *wrong = session_begin(&session, room);
  return wrong ? wrong : "";
}

EXPORT(play_header) const char *play_header(void)
{
  begin_answer();
  answer.text = session_header(&session);
  return answered();
}

EXPORT(play_view) const char *play_view(void)
{
  begin_answer();
  session_view(&session, &answer);
  return answered();
}

/* Takes enabled move number `move`. Returns its line, or an empty text if there is no such move. */
EXPORT(play_take) const char *play_take(uint32_t move)
{
  begin_answer();
  if (move >= session.enabled_count)
    return "";
  struct move taken = session.enabled[move];
  return session_take(&session, &taken, &answer) ? answered() : session.verdict.text;
}

/* Goes to the state after `at` known moves. Returns their lines if `lines` is not 0. */
EXPORT(play_go) const char *play_go(uint32_t at, uint32_t lines)
{
  begin_answer();
  session_go(&session, at, lines ? &answer : NULL);
  return answered();
}

/* Returns a draw below `count`, which depends on `seed` and the number of earlier draws. */
EXPORT(play_draw) uint32_t play_draw(uint32_t seed, uint32_t before, uint32_t count)
{
  uint64_t state = (uint64_t)seed << 32 | before;
  return session_draw(&state, count);
}

#define LISTS_OF(name, function) void function(const struct rcl_config *, struct buffer *);
#include "lists.inc"
#undef LISTS_OF

/* Returns whether that source defines the protocol of that name. The name may be that of a mutant,
 * and of any form. */
static bool is_form(const char *source, const char *name)
{
  size_t length = strcspn(name, "~");
  const struct rcl_protocol *form = rcl_protocol_named(source);
  while (form && (strncmp(form->name, name, length) != 0 || form->name[length]))
    form = form->variant;
  return form;
}

/* Returns the name of the protocol's source, followed by JSON that says where the lists are in the
 * protocol's state. Returns an empty text if the protocol is not recline's own. */
EXPORT(play_lists) const char *play_lists(void)
{
#define LISTS_OF(name, function) {name, function},
  static const struct {
    const char *name;
    void (*put)(const struct rcl_config *, struct buffer *);
  } table[] = {
#include "lists.inc"
  };
  size_t found = 0, count = sizeof table / sizeof *table;
  while (found < count && !is_form(table[found].name, session.world.protocol->name))
    found++;
  begin_answer();
  if (found == count)
    return answered();
  buffer_printf(&answer, "{\"name\":\"%s\",\"lists\":[", table[found].name);
  table[found].put(&session.world.config[0], &answer);
  buffer_text(&answer, "]}");
  return answered();
}

/* The first of the next three functions returns the known moves as bytes, and the second the number
 * of bytes of a move. The third reads moves from the room. These moves become the known moves after
 * the moves that have been taken. */
EXPORT(play_moves) const struct move *play_moves(void)
{
  return session.moves;
}

/* Returns whether the protocol is a mutant that is compared with the intact protocol. */
EXPORT(play_compares) uint32_t play_compares(void)
{
  return session.intact != NULL;
}

/* Returns how the protocol without the flaw would have taken that move, as session_difference()
 * tells. Returns an empty text if it would have taken the move in the same way. */
EXPORT(play_difference) const char *play_difference(uint32_t move)
{
  const char *difference = session_difference(&session, move);
  return difference ? difference : "";
}

/* Returns the phases of the moves that have been taken. Each phase is two numbers of 32 bits. */
EXPORT(play_phases) const struct session_phase *play_phases(void)
{
  return session.phases;
}

EXPORT(play_move_bytes) uint32_t play_move_bytes(void)
{
  return sizeof(struct move);
}

EXPORT(play_know) void play_know(uint32_t count)
{
  session_know(&session, (const struct move *)(const void *)room, count);
}

EXPORT(play_walk) const char *play_walk(uint32_t seed, uint32_t steps)
{
  begin_answer();
  buffer_printf(&answer, "%016" PRIx64, session_walk(&session, seed, steps));
  return answered();
}

static void show_progress(void *data, const struct explorer_progress *p)
{
  double *shown = data;
  if (platform_now() - *shown < 0.1)
    return;
  *shown = platform_now();
  page_progress((double)p->states, p->depth, (double)p->level);
}

/* Searches from the present state, up to `max_states` states, or all states if `max_states` is 0.
 * If it finds a violation, the moves that lead to the violation become known moves. */
EXPORT(play_explore) const char *play_explore(double max_states)
{
  static const char *const verdicts[] = {"holds", "violated", "inconclusive"};
  struct exploration found;
  double shown = platform_now();
  const struct explorer_options options = {.max_states = (uint64_t)max_states,
                                           .max_cycles = 1 << 20,
                                           .progress = show_progress,
                                           .progress_data = &shown};
  session_explore(&session, options, &found);
  unsigned from = session.at;
  for (unsigned i = 0; i < found.moves_count; i++)
    if (!session_take(&session, &found.moves[i], NULL))
      break;
  begin_answer();
  buffer_printf(&answer,
                "{\"verdict\":\"%s\",\"states\":%" PRIu64 ",\"transitions\":%" PRIu64
                ",\"depth\":%u,\"seconds\":%.3f,\"from\":%u,\"moves\":%u,\"again\":%u,"
                "\"violation\":",
                verdicts[found.verdict], found.states, found.transitions, found.depth,
                found.seconds, from, found.moves_count, found.again);
  char *why =
      found.verdict == EXPLORER_VIOLATED ? trace_violation_line(session.lines, &found.why) : NULL;
  session_quote(&answer, why ? why : "");
  buffer_text(&answer, "}");
  free(why);
  exploration_clear(&found);
  return answered();
}
