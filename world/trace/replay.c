/* Replays a trace, in a world of its own or in a world with which the caller then continues. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/text.h"
#include "world/line/line_view.h"
#include "world/trace/replay.h"

/* Sets move->index to the place of message `number` in its channel. `place` chooses a copy, if a
 * fault has doubled the message. */
static bool find_message(struct replay *r, struct move *move, guint64 number, gint64 place)
{
  int64_t index = trace_find(r->lines, r->world, move, number, place);
  if (index >= 0) {
    move->index = (uint32_t)index;
    return true;
  }
  return replay_bad(r, "message @%" G_GUINT64_FORMAT " is not on its way from rank %d to rank %d",
                    number, move->event.peer, move->rank);
}

/* Holds the words of a line that belong to traces, and not to the notation of protocols. */
struct extras {
  guint64 number; /* @n, or 0 if there is none */
  gint64 place;   /* at=K, or -1 if there is none */
  struct content content;
  guint64 writes; /* for a crash: how each write ends (move.index) */
  guint64 cut;    /* 1 + world_cut(), or 0 if there is none */
  guint64 leaves; /* for a crash: what the crash leaves of a node (crash_leaves) */
  bool early;
};

static bool read_content(struct replay *r, const char *text, struct content *content)
{
  int end = 0;
  uint32_t *word = content->word;
  sscanf(text, "%8" SCNx32 "%8" SCNx32 "%8" SCNx32 "%8" SCNx32 "%n", &word[0], &word[1], &word[2],
         &word[3], &end);
  return (end == 32 && !text[end]) ||
         replay_bad(r, "content is '%s', expected 32 hexadecimal digits", text);
}

static bool read_extra(struct replay *r, const char *word, struct extras *extras, bool *mine)
{
  guint64 place;
  *mine = true;
  if (word[0] == '@')
    return replay_whole(r, "@", word + 1, 1, G_MAXINT64, &extras->number);
  if (g_str_has_prefix(word, "content="))
    return read_content(r, word + 8, &extras->content);
  if (g_str_has_prefix(word, "writes="))
    return replay_whole(r, "writes", word + 7, 0, G_MAXUINT32, &extras->writes);
  if (g_str_has_prefix(word, "leaves="))
    return replay_whole(r, "leaves", word + 7, 0, CRASH_LEAVES_ALL, &extras->leaves);
  if (g_str_has_prefix(word, "cut=")) {
    bool fine = replay_whole(r, "cut", word + 4, 0, FAULT_CUTS - 1, &extras->cut);
    extras->cut++;
    return fine;
  }
  if (g_str_has_prefix(word, "at=")) {
    bool fine = replay_whole(r, "at", word + 3, 0, G_MAXUINT32, &place);
    extras->place = (gint64)place;
    return fine;
  }
  if (g_str_equal(word, "early"))
    return extras->early = true;
  *mine = false;
  return true;
}

static bool read_lie_move(struct replay *r, char **words, struct move *move)
{
  guint64 peer;
  move->kind = MOVE_FAULT;
  if (g_strcmp0(words[0], "drop") == 0)
    move->fault = FAULT_DROP;
  else if (g_strcmp0(words[0], "duplicate") == 0)
    move->fault = FAULT_DUPLICATE;
  else
    return replay_bad(r, "lie %s, expected drop or duplicate", words[0] ? words[0] : "of no kind");
  if (!words[1] || !g_str_has_prefix(words[1], "peer="))
    return replay_bad(r, "lie without peer=, expected the sender of the message");
  if (!replay_whole(r, "peer", words[1] + 5, 0, (guint64)r->world->ranks - 1, &peer))
    return false;
  move->event.peer = (int16_t)peer;
  return true;
}

static bool read_detection(struct replay *r, char **words, struct move *move)
{
  guint64 rank;
  move->kind = MOVE_DETECT;
  if (g_strv_contains((const char *const *)words, "falsely"))
    move->fault = DETECT_FALSELY;
  if (!r->world->protocol->independent && move->fault == DETECT_DEAD)
    return true;
  if (!words[0] || !g_str_has_prefix(words[0], "rank="))
    return replay_bad(r, "detected without rank=, expected the rank that was found dead");
  if (!replay_whole(r, "rank", words[0] + 5, 0, (guint64)r->world->ranks - 1, &rank))
    return false;
  move->rank = (int16_t)rank;
  return true;
}

static bool read_event(struct replay *r, char **words, struct move *move)
{
  g_autofree char *text = g_strjoinv(" ", words);
  if (words[0] && g_str_equal(words[0], "crash"))
    move->kind = MOVE_CRASH;
  else if (words[0] && g_str_equal(words[0], "finished"))
    move->kind = MOVE_FINISH;
  else if (words[0] && g_str_equal(words[0], "sent"))
    move->kind = MOVE_SENT;
  else if (words[0] && g_str_equal(words[0], "ended"))
    *move = (struct move){.kind = MOVE_DETECT, .fault = DETECT_END, .rank = move->rank};
  else if (words[0] && g_str_equal(words[0], "detected"))
    return read_detection(r, words + 1, move);
  else if (words[0] && g_str_equal(words[0], "lie"))
    return read_lie_move(r, words + 1, move);
  else {
    const char *wrong = event_parse(text, &move->event);
    if (wrong)
      return replay_bad(r, "found '%s', expected an event in the notation of docs/trace.md", wrong);
    bool pair = move->event.kind == RCL_EVENT_SEND || move->event.kind == RCL_EVENT_ARRIVED ||
                move->event.kind == RCL_EVENT_CONTROL;
    if (pair && (move->event.peer < 0 || move->event.peer >= r->world->ranks))
      return replay_bad(r, "peer %d, expected 0 to %d", move->event.peer, r->world->ranks - 1);
  }
  return true;
}

/* Reads `TIME RANK WHAT...`, everything before the actions. */
static bool read_move(struct replay *r, const char *text, struct move *move)
{
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  guint64 rank = 0;
  if (g_strv_length(words) < 3)
    return replay_bad(r, "found '%s', expected 'TIME RANK EVENT'", text);
  if (!g_str_equal(words[1], "-") &&
      !replay_whole(r, "rank", words[1], 0, (guint64)r->world->ranks - 1, &rank))
    return false;
  *move =
      (struct move){.rank = g_str_equal(words[1], "-") ? -1 : (int16_t)rank, .index = WORLD_FIND};
  struct extras extras = {.place = -1};
  g_autoptr(GPtrArray) rest = g_ptr_array_new();
  for (char **word = words + 2; *word; word++) {
    bool mine;
    if (!read_extra(r, *word, &extras, &mine))
      return false;
    if (!mine)
      g_ptr_array_add(rest, *word);
  }
  g_ptr_array_add(rest, NULL);
  if (!read_event(r, (char **)rest->pdata, move))
    return false;
  if (move->rank < 0 && move->kind != MOVE_DETECT && move->kind != MOVE_CRASH)
    return replay_bad(r, "found '%s', expected a rank", text);
  move->content = extras.content;
  if (extras.early)
    move->fault = FAULT_EARLY_DURABLE;
  if (move->kind == MOVE_CRASH)
    move->fault = (uint8_t)extras.leaves;
  if (extras.cut)
    move->fault = (uint8_t)(FAULT_CUT | (extras.cut - 1) << FAULT_CUT_SHIFT);
  if (!trace_takes_message(move)) {
    move->index = (uint32_t)extras.writes;
    return true;
  }
  return !extras.number || find_message(r, move, extras.number, extras.place);
}

/* Returns a hash of the kept bytes with the number `number`, because equal bytes may have different
 * numbers. The number 0 stands for no bytes, so the result is then the hash of no bytes. */
static uint32_t kept_digest(const struct world *world, uint32_t number)
{
  uint32_t size;
  const void *bytes = number ? world->memory.kept(world->memory.ctx, number, &size) : NULL;
  g_autoptr(GBytes) whole = g_bytes_new_static(bytes, bytes ? size : 0);
  return g_bytes_hash(whole);
}

/* Replaces the numbers of images and of stored states in a copy of a part by digests of the bytes
 * that they stand for. */
static void digest_numbers(const struct world *world, uint32_t part, void *bytes, uint32_t size)
{
  for (int rank = 0; rank < world->ranks; rank++) {
    struct world_rank *head = bytes;
    struct world_record *stored = bytes;
    if (part == world_part(world, WORLD_RANK, rank, 0))
      head->image = kept_digest(world, head->image);
    for (uint32_t i = 0;
         part == world_part(world, WORLD_STORED, rank, 0) && i < size / sizeof *stored; i++) {
      stored[i].image = kept_digest(world, stored[i].image);
      stored[i].state = kept_digest(world, stored[i].state);
    }
  }
}

char *trace_digest(const struct world *world)
{
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  for (uint32_t part = 0; part < world_parts(world); part++) {
    uint32_t size;
    const void *bytes = world->memory.read(world->memory.ctx, part, &size);
    g_autofree void *copy = g_memdup2(bytes, size);
    digest_numbers(world, part, copy, size);
    g_checksum_update(sum, (const guchar *)&size, sizeof size);
    g_checksum_update(sum, copy, (gssize)size);
  }
  return g_strdup(g_checksum_get_string(sum));
}

/* Reads `again from=STEP`. Returns false unless the present state equals the state before STEP.
 * Notes the number of moves that repeat. */
static bool replay_again(struct replay *r, const char *text)
{
  guint64 step;
  const char *number = text + strlen("again from=");
  if (!g_str_has_prefix(text, "again from=") ||
      !replay_whole(r, "again from", number, 0, r->digests->len - 1, &step))
    return replay_bad(r, "found '%s', expected 'again from=STEP'", text);
  g_autofree char *now = trace_digest(r->world);
  if (!g_str_equal(now, r->digests->pdata[step]))
    return replay_bad(r, "the world is not as it was before step %" G_GUINT64_FORMAT, step);
  r->again = r->digests->len - (unsigned)step;
  return true;
}

static bool replay_move(struct replay *r, const char *text)
{
  const char *actions = strstr(text, " | "), *digest = strstr(text, " # ");
  const char *end = actions ? actions : digest ? digest : text + strlen(text);
  g_autofree char *head = g_strndup(text, (gsize)(end - text));
  struct move move;
  if (!read_move(r, head, &move))
    return false;
  if (r->repeats)
    g_ptr_array_add(r->digests, trace_digest(r->world));
  r->verdict = (struct verdict){0};
  r->actions.count = 0;
  world_step(r->world, &move, &r->actions, &r->verdict);
  if (r->verdict.kind == VERDICT_IMPOSSIBLE)
    return replay_bad(r, "the world refuses this: %s", r->verdict.text);
  g_array_append_val(r->moves, move);
  replay_note_facts(r);
  g_autofree char *line = trace_line(r->lines, r->world, &move, &r->actions, &r->verdict);
  const char *rest = strchr(text, ' ') + 1;
  if (!digest && strstr(line, " # "))
    *strstr(line, " # ") = '\0'; /* the field may be left out */
  if (!g_str_equal(line, rest))
    return replay_bad(r, "the trace says '%s', the replay gives '%s'", rest, line);
  return true;
}

/* Checks a line `violation`: the last move, the temporal formula or the present state must show
 * just that violation. Three violations are taken from the trace as they are. `outcome` compares
 * with other runs. `recovers` is how the explorer reports a protocol that gives up, which
 * world_step() does not call a violation. `pure` may say that a step came out differently when it
 * was repeated. */
static bool replay_violation(struct replay *r, const char *text)
{
  if (g_str_has_prefix(text, "violation outcome ") ||
      g_str_has_prefix(text, "violation recovers ") ||
      (g_str_has_prefix(text, "violation pure ") && strstr(text, " is impure")))
    return true;
  void (*const judges[])(const struct world *, struct verdict *) = {
      world_at_rest, world_at_end, world_judge_line, world_for_ever};
  for (unsigned i = 0; i < (r->again ? 6 : 5); i++) {
    struct verdict verdict = r->verdict;
    if (i == 1)
      replay_judge_formula(r, &verdict);
    else if (i > 1)
      judges[i - 2](r->world, &verdict);
    if (verdict.kind != VERDICT_VIOLATION)
      continue;
    g_autofree char *line = trace_violation_line(r->lines, &verdict);
    if (g_str_equal(line, text))
      return true;
  }
  return replay_bad(r, "the trace says '%s', the replay finds no such violation", text);
}

/* Finds the properties to judge, which are only those that the trace calls violated. A verdict
 * holds one violation, so another property that the same step violates could hide the violation in
 * the trace.
 */
static void find_properties(struct replay *r, char **lines)
{
  r->properties = g_ptr_array_new_with_free_func(g_free);
  for (; *lines; lines++)
    if (g_str_has_prefix(*lines, "violation ")) {
      const char *name = *lines + strlen("violation ");
      g_ptr_array_add(r->properties, g_strndup(name, strcspn(name, " ")));
    }
  g_ptr_array_add(r->properties, NULL);
}

static bool replay_lines(struct replay *r, char **lines)
{
  struct header header = {0};
  bool body = false, fine = true;
  r->line = 1;
  if (!lines[0] || !g_str_equal(lines[0], "recline-trace 3"))
    return replay_bad(r, "found '%s', expected 'recline-trace 3'", lines[0] ? lines[0] : "");
  for (char **line = lines + 1; fine && *line; line++) {
    r->line++;
    if (!**line && !line[1])
      break;
    if (body && g_str_has_prefix(*line, "violation "))
      fine = replay_violation(r, *line);
    else if (body && g_str_has_prefix(*line, "again "))
      fine = replay_again(r, *line);
    else if (body)
      fine = replay_move(r, *line);
    else if (g_str_equal(*line, "---"))
      fine = body = replay_begin(r, &header) && replay_find_formula(r, line);
    else
      fine = replay_read_header(r, *line, &header);
  }
  replay_clear_header(&header);
  return fine && (body || replay_bad(r, "the file ends in the header, expected ---"));
}

bool trace_is(const char *file)
{
  static const char first[] = "recline-trace ";
  char found[sizeof first - 1];
  FILE *in = g_file_test(file, G_FILE_TEST_IS_REGULAR) ? fopen(file, "r") : NULL;
  bool same = in && fread(found, 1, sizeof found, in) == sizeof found &&
              memcmp(found, first, sizeof found) == 0;
  if (in)
    fclose(in);
  return same;
}

bool trace_read(const char *file, struct trace_story *story, GError **error)
{
  g_autofree char *text = NULL;
  struct world world = {0};
  *story = (struct trace_story){0};
  if (!g_file_get_contents(file, &text, NULL, error))
    return false;
  struct replay r = {.file = file,
                     .error = error,
                     .lines = trace_lines_new(),
                     .world = &world,
                     .moves = g_array_new(FALSE, FALSE, sizeof(struct move)),
                     .digests = g_ptr_array_new_with_free_func(g_free),
                     .repeats = strstr(text, "\nagain ") != NULL};
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  find_properties(&r, lines);
  replay_find_members(&r, lines);
  bool fine = replay_lines(&r, lines);
  *story = (struct trace_story){.protocol = world.protocol,
                                .ranks = world.ranks,
                                .overtaking = world.overtaking,
                                .free = r.script && r.script->free,
                                .spelled = r.script && r.script->spelled,
                                .count = r.moves->len,
                                .again = r.again};
  story->moves = (struct move *)(void *)g_array_free(r.moves, FALSE);
  g_ptr_array_unref(r.properties);
  g_ptr_array_unref(r.digests);
  g_clear_pointer(&r.facts, g_array_unref);
  g_hash_table_unref(r.members);
  if (r.begun) {
    parts_clear(&r.parts);
    world_clear(&world);
  }
  script_free(r.script);
  g_free(r.actions.item);
  trace_lines_free(r.lines);
  if (!fine)
    trace_story_clear(story);
  return fine;
}

/* ---- a run that continues from a trace ---- */

bool trace_hazards(const char *file, unsigned *hazards, GError **error)
{
  struct replay r = {.file = file, .error = error, .line = 1};
  struct header header = {0};
  g_autofree char *text = NULL;
  if (!g_file_get_contents(file, &text, NULL, error))
    return false;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  bool fine = true;
  for (char **line = lines + 1; fine && *lines && *line && !g_str_equal(*line, "---"); line++) {
    r.line++;
    fine = replay_read_header(&r, *line, &header);
  }
  *hazards = (unsigned)header.hazards;
  replay_clear_header(&header);
  return fine;
}

/* Compares the header of the trace with the header of r->world. Leaves out lines `hazards`, because
 * the world may have more hazards. Returns the first line after the header, or NULL if the headers
 * differ. */
static char **match_header(struct replay *r, char **line, const char *host)
{
  char *header = trace_header(r->world, host);
  g_auto(GStrv) own = g_strsplit(header, "\n", -1);
  free(header);
  for (char **mine = own; **mine; mine++) {
    if (g_str_has_prefix(*mine, "hazards "))
      continue;
    while (*line && g_str_has_prefix(*line, "hazards "))
      line++, r->line++;
    const char *found = *line ? *line++ : "";
    r->line++;
    if (g_str_equal(found, *mine))
      continue;
    replay_bad(r, "found '%s', expected '%s' of the run that goes on", found, *mine);
    return NULL;
  }
  return line;
}

static bool continue_line(struct replay *r, const char *text,
                          void (*taken)(double, const struct move *, const struct rcl_actions *,
                                        const struct verdict *))
{
  if (!replay_move(r, text))
    return false;
  taken(g_ascii_strtod(text, NULL), &g_array_index(r->moves, struct move, 0), &r->actions,
        &r->verdict);
  g_array_set_size(r->moves, 0);
  return true;
}

bool trace_continue(const char *file, struct world *world, const char *host,
                    void (*taken)(double time, const struct move *, const struct rcl_actions *,
                                  const struct verdict *),
                    GError **error)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents(file, &text, NULL, error))
    return false;
  struct replay r = {.file = file,
                     .error = error,
                     .lines = trace_lines_new(),
                     .world = world,
                     .actions = {.capacity = RCL_ACTIONS_MAX(&world->config[0])},
                     .moves = g_array_new(FALSE, FALSE, sizeof(struct move))};
  r.actions.item = g_new0(struct rcl_action, r.actions.capacity);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  char **line = match_header(&r, lines, host);
  bool fine = line != NULL;
  for (; fine && *line && (**line || line[1]); line++) {
    r.line++;
    /* A line `violation` is no move. The move before has already told `taken` of the violation. */
    if (!g_str_has_prefix(*line, "violation "))
      fine = continue_line(&r, *line, taken);
  }
  g_array_unref(r.moves);
  g_free(r.actions.item);
  trace_lines_free(r.lines);
  return fine;
}

void trace_story_clear(struct trace_story *story)
{
  g_free(story->moves);
  *story = (struct trace_story){0};
}
