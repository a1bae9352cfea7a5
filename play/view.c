/* Writes the present state in JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "play/session.h"
#include "protocols/text.h"
#include "world/rules/world_parts.h"

void session_quote(struct buffer *out, const char *text)
{
  buffer_text(out, "\"");
  for (; *text; text++)
    if (*text == '"' || *text == '\\')
      buffer_printf(out, "\\%c", *text);
    else if ((unsigned char)*text < ' ')
      buffer_text(out, " ");
    else
      buffer_printf(out, "%c", *text);
  buffer_text(out, "\"");
}

static void put_verdict(struct buffer *out, const char *key, const struct verdict *verdict)
{
  buffer_printf(out, ",\"%s\":", key);
  if (verdict->kind != VERDICT_VIOLATION) {
    buffer_text(out, "null");
    return;
  }
  buffer_printf(out, "{\"property\":\"%s\",\"rank\":%d,\"text\":", verdict->property,
                verdict->rank);
  session_quote(out, verdict->text);
  buffer_text(out, "}");
}

static void put_move(struct session *s, struct buffer *out, const struct move *move)
{
  static const char *const kinds[] = {"event", "crash", "detect", "finish", "fault", "sent"};
  struct buffer text = {0};
  trace_print_move(&text, &s->world, move);
  buffer_printf(out,
                "{\"kind\":\"%s\",\"rank\":%d,\"peer\":%d,\"message\":%" PRIu64
                ",\"fault\":%u,\"cut\":%d,\"writes\":%u,\"idle\":%s,\"text\":",
                kinds[move->kind], move->rank, move->event.peer,
                trace_number(s->lines, &s->world, move), move->fault, world_cut(move),
                move->kind == MOVE_CRASH ? move->index : 0,
                session_changes(s, move) ? "false" : "true");
  session_quote(out, text.text);
  buffer_text(out, "}");
  free(text.text);
}

static void put_moves(struct session *s, struct buffer *out)
{
  buffer_text(out, ",\"moves\":[");
  for (unsigned i = 0; i < s->enabled_count; i++) {
    buffer_text(out, i ? "," : "");
    put_move(s, out, &s->enabled[i]);
  }
  buffer_text(out, "]");
}

static void put_posted(const struct world *world, struct buffer *out, int rank)
{
  uint32_t count;
  const struct world_receive *list =
      READ_LIST(struct world_receive, world, WORLD_POSTED, rank, 0, &count);
  buffer_text(out, ",\"posted\":[");
  for (uint32_t i = 0; i < count; i++)
    buffer_printf(out, "%s{\"request\":%u,\"peer\":%d,\"tag\":%d}", i ? "," : "", list[i].request,
                  list[i].peer, list[i].tag);
  buffer_text(out, "]");
}

static void put_stored(const struct world *world, struct buffer *out, int rank)
{
  uint32_t count;
  const struct world_record *list =
      READ_LIST(struct world_record, world, WORLD_STORED, rank, 0, &count);
  buffer_text(out, ",\"stored\":[");
  for (uint32_t i = 0; i < count; i++)
    buffer_printf(out, "%s{\"checkpoint\":%u,\"part\":\"%s\",\"durable\":%s}", i ? "," : "",
                  list[i].checkpoint, list[i].part == RCL_PART_LOG ? "log" : "image",
                  list[i].durable ? "true" : "false");
  buffer_text(out, "]");
}

/* Adds the protocol's state, and the number of the invariant that the state violates. */
static void put_state(const struct world *world, struct buffer *out, int rank)
{
  const struct rcl_protocol *protocol = world->protocol;
  const unsigned char *state = (const unsigned char *)(read_rank(world, rank) + 1);
  int broken =
      protocol->violated_invariant ? protocol->violated_invariant(&world->config[rank], state) : 0;
  buffer_printf(out, ",\"broken\":%d,\"digest\":\"%016" PRIx64 "\",\"bytes\":%u,\"state\":\"",
                broken, rcl_protocol_digest_state(protocol, &world->config[rank], state),
                world->state_bytes);
  session_put_state(world, out, rank);
  buffer_text(out, "\"");
}

static void put_rank(const struct world *world, struct buffer *out, int rank)
{
  static const char *const phases[] = {"new",       "running", "capturing",
                                       "restoring", "dead",    "restarting"};
  const struct world_rank *head = read_rank(world, rank);
  const struct world_program *program = read_program(world, rank);
  uint32_t slots;
  READ_LIST(struct world_slot, world, WORLD_SLOTS, rank, 0, &slots);
  struct buffer next = {0};
  const struct operation *operation =
      world->script ? &world->script->ops[rank][program->next] : NULL;
  if (operation && !program->finished && operation->kind != SCRIPT_END)
    trace_print_operation(&next, operation);
  buffer_printf(out,
                "%s{\"phase\":\"%s\",\"held\":%u,\"incarnation\":%u,\"line\":%u,\"finished\":%u,"
                "\"operation\":%u,\"next\":\"%s\",\"slots\":%u,\"gave_up\":%u",
                rank ? "," : "", phases[head->phase], head->held, head->incarnation, head->line,
                program->finished, program->next, next.text ? next.text : "", slots, head->gave_up);
  free(next.text);
  put_posted(world, out, rank);
  put_stored(world, out, rank);
  put_state(world, out, rank);
  buffer_text(out, "}");
}

/* Adds the texts of the invariants, and what a program would suffer without each of them. */
static void put_invariants(const struct world *world, struct buffer *out)
{
  const char *const *texts = world->protocol->invariants;
  buffer_text(out, ",\"invariants\":[");
  for (int i = 0; texts && texts[i]; i++) {
    struct buffer text = {0};
    int length = invariant_length(texts[i]);
    buffer_printf(&text, "%.*s", length, texts[i]);
    buffer_text(out, i ? ",{\"text\":" : "{\"text\":");
    session_quote(out, text.text);
    buffer_text(out, ",\"otherwise\":");
    session_quote(out, texts[i][length] ? texts[i] + length + strlen(": otherwise ") : "");
    buffer_text(out, "}");
    free(text.text);
  }
  buffer_text(out, "]");
}

void session_view(struct session *s, struct buffer *out)
{
  struct verdict judged;
  if (!session_judge(s, &judged))
    judged = (struct verdict){0}; /* the verdict may be about a property for which nobody asked */
  trace_name_messages(s->lines, &judged);
  const struct world_global *global = read_global(&s->world);
  buffer_printf(out,
                "{\"at\":%u,\"count\":%u,\"committed\":%u,\"incarnation\":%u,\"crashes\":%u,"
                "\"timers\":%u",
                s->at, s->count, global->committed, global->incarnation, global->crashes,
                global->timers);
  put_verdict(out, "step", &s->verdict);
  put_verdict(out, "judged", &judged);
  put_moves(s, out);
  put_invariants(&s->world, out);
  buffer_text(out, ",\"ranks\":[");
  for (int rank = 0; rank < s->world.ranks; rank++)
    put_rank(&s->world, out, rank);
  buffer_text(out, "]}");
}
