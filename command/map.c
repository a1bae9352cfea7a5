#include "command/map.h"

#include <stdio.h>

#include "base/glib/json.h"
#include "world/scenario/protocol_words.h"

/* Holds the words for a value of an enum of protocols/protocol.h: one for programs, and one for
 * people. */
struct word {
  const char *name, *text;
};

static const struct word whats[] = {[RCL_LOGGED_NOTHING] = {"nothing", "nothing"},
                                    [RCL_LOGGED_MESSAGES] = {"messages", "messages"},
                                    [RCL_LOGGED_ENVELOPES] = {"envelopes", "envelopes"},
                                    [RCL_LOGGED_DETERMINANTS] = {"determinants", "determinants"}};

static const struct word whens[] = {
    [RCL_LOGGED_AT_CHECKPOINTS] = {"at-checkpoints", "during a checkpoint"},
    [RCL_LOGGED_ALWAYS] = {"always", "always"},
    [RCL_LOGGED_FIRST] = {"first", "before a message leaves"},
    [RCL_LOGGED_LATER] = {"later", "in the background"},
    [RCL_LOGGED_WITH_MESSAGES] = {"with-messages", "with each message"}};

static const struct word wheres[] = {[RCL_LOGGED_BY_SENDER] = {"sender", "sender"},
                                     [RCL_LOGGED_BY_RECEIVER] = {"receiver", "receiver"},
                                     [RCL_LOGGED_BY_BOTH] = {"both", "sender and receiver"},
                                     [RCL_LOGGED_BY_LOGGER] = {"logger", "event logger"},
                                     [RCL_LOGGED_BY_PEERS] = {"peers", "those that depend"}};

static const struct word backs[] = {
    [RCL_BACK_NONE] = {"none", "nobody: it is lost"},
    [RCL_BACK_FAILED] = {"failed", "the failed rank"},
    [RCL_BACK_FAILED_OR_ALL] = {"failed-or-all", "the failed rank, or all"},
    [RCL_BACK_DEPENDENT] = {"dependent", "who depends on it"},
    [RCL_BACK_ALL] = {"all", "all"}};

/* ---- rows ---- */

static bool same_place(const struct rcl_protocol *one, const struct rcl_protocol *other)
{
  return one->place == other->place && one->piggyback_bytes == other->piggyback_bytes &&
         one->control_bytes == other->control_bytes;
}

static void clear_row(gpointer data)
{
  g_string_free(((struct map_row *)data)->names, TRUE);
}

GArray *map_rows(void)
{
  GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct map_row));
  g_array_set_clear_func(rows, clear_row);
  const struct rcl_protocol *protocol;
  for (size_t i = 0; (protocol = rcl_protocol_at(i)); i++) {
    guint at = 0;
    if (!protocol->place)
      continue;
    while (at < rows->len && !same_place(g_array_index(rows, struct map_row, at).first, protocol))
      at++;
    if (at < rows->len) {
      g_string_append_printf(g_array_index(rows, struct map_row, at).names, ", %s", protocol->name);
    } else {
      struct map_row row = {g_string_new(protocol->name), protocol};
      g_array_append_val(rows, row);
    }
  }
  return rows;
}

/* ---- texts ---- */

const char *map_back(const struct rcl_place *place)
{
  return backs[place->back].text;
}

char *map_log(const struct rcl_place *place, int index)
{
  if (index >= RCL_PLACE_LOGS || place->logs[index].what == RCL_LOGGED_NOTHING)
    return NULL;
  return g_strdup_printf("%s: %s, %s", whats[place->logs[index].what].text,
                         wheres[place->logs[index].where].text,
                         whens[place->logs[index].when].text);
}

void map_add(JsonBuilder *builder, const struct rcl_place *place)
{
  json_open_list(builder, "logs");
  for (int i = 0; i < RCL_PLACE_LOGS && place->logs[i].what != RCL_LOGGED_NOTHING; i++) {
    json_builder_begin_object(builder);
    json_add_text(builder, "what", whats[place->logs[i].what].name);
    json_add_text(builder, "when", whens[place->logs[i].when].name);
    json_add_text(builder, "where", wheres[place->logs[i].where].name);
    json_builder_end_object(builder);
  }
  json_builder_end_array(builder);
  json_add_text(builder, "back", backs[place->back].name);
  json_open_list(builder, "assumes");
  for (unsigned i = 0; assumption_name(i); i++)
    if (place->assumes & 1u << i)
      json_builder_add_string_value(builder, assumption_name(i));
  json_builder_end_array(builder);
}

/* ---- the table ---- */

static void print_logs(const struct rcl_place *place)
{
  char *log;
  for (int i = 0; (log = map_log(place, i)); i++) {
    printf("%s%s", i ? "; " : "", log);
    g_free(log);
  }
  if (place->logs[0].what == RCL_LOGGED_NOTHING)
    printf("nothing");
}

void map_print(void)
{
  g_autoptr(GArray) rows = map_rows();
  printf("| protocol | logs: where, when | goes back | on a message | on a control message "
         "| assumes |\n|---|---|---|---|---|---|\n");
  for (guint i = 0; i < rows->len; i++) {
    const struct map_row *row = &g_array_index(rows, struct map_row, i);
    g_auto(GStrv) names = g_strsplit(row->names->str, ", ", -1);
    g_autofree char *quoted = g_strjoinv("`, `", names);
    g_autofree char *assumes = assumptions_of(row->first->place, "; ");
    printf("| `%s` | ", quoted);
    print_logs(row->first->place);
    printf(" | %s | %u B%s | %u B | %s |\n", map_back(row->first->place),
           row->first->piggyback_bytes, row->first->piggybacks ? ", and control messages" : "",
           row->first->control_bytes, *assumes ? assumes : "nothing more");
  }
}
