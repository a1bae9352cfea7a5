#include "sim/host/storage/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "world/rules/world.h"

static const char FIRST_LINE[] = "recline-checkpoint 2";
static const char *const BYTE_ORDER_HERE = G_BYTE_ORDER == G_LITTLE_ENDIAN ? "little" : "big";

static void clear_file(void *data)
{
  struct manifest_file *file = data;
  g_free(file->name);
  g_free(file->sum);
}

static struct manifest *empty(void)
{
  struct manifest *m = g_new0(struct manifest, 1);
  m->late = m->early = -1;
  m->needs = g_ptr_array_new_with_free_func(g_free);
  m->payloads = g_array_new(FALSE, TRUE, sizeof(struct manifest_payload));
  m->communicators = g_ptr_array_new_with_free_func(g_free);
  m->calls = g_array_new(FALSE, TRUE, sizeof(int));
  m->files = g_array_new(FALSE, TRUE, sizeof(struct manifest_file));
  g_array_set_clear_func(m->files, clear_file);
  return m;
}

void manifest_free(struct manifest *m)
{
  if (!m)
    return;
  g_ptr_array_unref(m->needs);
  g_array_unref(m->payloads);
  g_ptr_array_unref(m->communicators);
  g_array_unref(m->calls);
  g_array_unref(m->files);
  g_free(m);
}

char *manifest_image(int rank)
{
  return g_strdup_printf(MANIFEST_FOLDER "/rank-%d.image", rank);
}

char *manifest_payloads(int rank)
{
  return g_strdup_printf(MANIFEST_FOLDER "/rank-%d.payloads", rank);
}

static char *manifest_name(const char *folder)
{
  return g_build_filename(folder, MANIFEST_FOLDER, "manifest", NULL);
}

/* ---- keys that must be the same in the run that has stopped and the run that goes on ---- */

/* Returns the text after `word` and a space, or NULL if the line does not begin with both. */
static const char *behind(const char *line, const char *word)
{
  size_t length = strlen(word);
  return !strncmp(line, word, length) && line[length] == ' ' ? line + length + 1 : NULL;
}

static void need(GPtrArray *needs, const char *key, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void need(GPtrArray *needs, const char *key, const char *format, ...)
{
  va_list values;
  va_start(values, format);
  g_autofree char *value = g_strdup_vprintf(format, values);
  va_end(values);
  g_ptr_array_add(needs, g_strdup_printf("%s %s", key, value));
}

/* Returns the index of the first failure by which a server loses its images, or failures_count if
 * there is none. A scenario with such a failure has a different world, because images can be lost
 * there. */
static unsigned emptied(const struct scenario *scenario)
{
  unsigned i = 0;
  while (i < scenario->failures_count && scenario->failures[i].returns != RETURNS_EMPTY)
    i++;
  return i;
}

/* Adds the keys that determine the protocol's world. */
static void add_needs(GPtrArray *needs, const struct scenario *scenario)
{
  static const char *const storages[] = {[STORAGE_UNSTATED] = "levels",
                                         [STORAGE_MEMORY] = "memory",
                                         [STORAGE_LOCAL] = "local",
                                         [STORAGE_NFS] = "nfs"};
  g_autofree char *properties =
      scenario->check.properties ? g_strjoinv(" ", scenario->check.properties) : NULL;
  need(needs, "protocol.name", "%s", scenario->protocol.name);
  need(needs, "program.ranks", "%d", scenario->program.ranks);
  need(needs, "program.topology", "%s",
       scenario->program.topology ? scenario->program.topology : "all");
  need(needs, "protocol.capacity", "%u", scenario->protocol.capacity);
  need(needs, "protocol.interval", "%u", scenario->protocol.interval);
  need(needs, "protocol.log", "%u", scenario->protocol.log);
  need(needs, "protocol.log_in", "%s",
       scenario->protocol.log_in == LOG_IN_STORAGE ? "storage" : "memory");
  need(needs, "protocol.failures", "%u", scenario->protocol.failures);
  need(needs, "protocol.crossings", "%u", scenario->protocol.crossings);
  need(needs, "protocol.initiators", "%u", scenario->protocol.initiators);
  need(needs, "protocol.exchange", "%u", scenario->protocol.exchange);
  need(needs, "checkpoint.level", "%s",
       scenario->checkpoint.level == IMAGE_APPLICATION ? "application" : "system");
  need(needs, "checkpoint.storage", "%s", storages[scenario->checkpoint.storage]);
  need(needs, "check.hazards", "%s", /* this is the only hazard on which channels depend */
       scenario->check.hazards & HAZARD_CONTROL_OVERTAKES ? "control-overtakes" : "none");
  need(needs, "check.properties", "%s", properties ? properties : "promised");
  need(needs, "failures.returns", "%s",
       emptied(scenario) < scenario->failures_count ? "empty" : "other");
}

/* Returns the path in the scenario of `key`, a key of the manifest. The caller frees the path. */
static char *path_of(const struct scenario *scenario, const char *key)
{
  unsigned failure = emptied(scenario);
  return !g_str_equal(key, "failures.returns") ? g_strdup(key)
         : failure == scenario->failures_count ? g_strdup("failures.N.returns")
                                               : g_strdup_printf("failures.%u.returns", failure);
}

struct manifest *manifest_new(const struct scenario *scenario)
{
  struct manifest *m = empty();
  add_needs(m->needs, scenario);
  return m;
}

/* Returns the value of `key`, or NULL if the manifest does not have the key. */
static const char *needed(const struct manifest *m, const char *key)
{
  for (guint i = 0; i < m->needs->len; i++) {
    const char *value = behind(m->needs->pdata[i], key);
    if (value)
      return value;
  }
  return NULL;
}

int manifest_ranks(const struct manifest *m)
{
  const char *ranks = needed(m, "program.ranks");
  return ranks ? (int)g_ascii_strtoll(ranks, NULL, 10) : 0;
}

/* Returns whether `key` must have the same value even in a run with a different number of ranks. */
static bool other_ranks_need(const char *key)
{
  return g_str_equal(key, "checkpoint.level") || g_str_equal(key, "checkpoint.storage");
}

/* Returns true if it is known that no message crosses the checkpoint, and no payload is held.
 * Otherwise returns false, with an error. */
static bool other_ranks_fit(const struct manifest *m, const char *name,
                            const struct scenario *scenario, GError **error)
{
  unsigned held = m->payloads->len;
  if (!m->late && !m->early && !held)
    return true;
  return scenario_complain(scenario, "program.ranks", error,
                           "%d, expected %d, as %s says: messages cross the checkpoint (%" PRId64
                           " late, %" PRId64 " early, %u held)",
                           scenario->program.ranks, manifest_ranks(m), name, m->late, m->early,
                           held);
}

bool manifest_fits(const struct manifest *m, const char *folder, const struct scenario *scenario,
                   GError **error)
{
  g_autoptr(GPtrArray) said = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *name = manifest_name(folder);
  add_needs(said, scenario);
  bool others = manifest_ranks(m) > 0 && manifest_ranks(m) != scenario->program.ranks;
  for (guint i = 0; i < said->len; i++) {
    g_auto(GStrv) word = g_strsplit(said->pdata[i], " ", 2);
    if (others && !other_ranks_need(word[0]))
      continue;
    const char *expected = needed(m, word[0]);
    g_autofree char *path = path_of(scenario, word[0]);
    if (g_strcmp0(word[1], expected))
      return scenario_complain(scenario, path, error, "%s, expected %s, as %s says", word[1],
                               expected ? expected : "none", name);
  }
  if (!others && scenario->recovery.attempts)
    return scenario_complain(scenario, "recovery.attempts", error,
                             "%d, expected 0: %s has no checkpoint before its last",
                             scenario->recovery.attempts, folder);
  return !others || other_ranks_fit(m, name, scenario, error);
}

/* ---- files ---- */

static bool fail(GError **error, const char *file, const char *format, ...) G_GNUC_PRINTF(3, 4);

static bool fail(GError **error, const char *file, const char *format, ...)
{
  va_list values;
  va_start(values, format);
  g_autofree char *text = g_strdup_vprintf(format, values);
  va_end(values);
  g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: %s", file, text);
  return false;
}

/* Finds the size and the checksum of a file. On failure, returns false with GLib's `error`. */
static bool measure(const char *path, uint64_t *bytes, char **sum, GError **error)
{
  g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, error);
  if (!file)
    return false;
  *bytes = g_mapped_file_get_length(file);
  *sum = g_compute_checksum_for_data(
      G_CHECKSUM_SHA256, (const guchar *)g_mapped_file_get_contents(file), (gsize)*bytes);
  return true;
}

bool manifest_note(struct manifest *m, const char *folder, const char *name, GError **error)
{
  g_autofree char *path = g_build_filename(folder, name, NULL);
  struct manifest_file file = {.name = g_strdup(name)};
  bool there = measure(path, &file.bytes, &file.sum, error);
  g_array_append_val(m->files, file);
  return there;
}

static bool is_as_noted(const struct manifest_file *file, const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename(folder, file->name, NULL);
  g_autofree char *sum = NULL, *name = manifest_name(folder);
  uint64_t bytes;
  if (!measure(path, &bytes, &sum, NULL))
    return fail(error, path, "cannot be read, expected the file of which %s speaks", name);
  if (bytes != file->bytes)
    return fail(error, path, "%" PRIu64 " bytes, expected %" PRIu64 ", as %s says", bytes,
                file->bytes, name);
  return g_str_equal(sum, file->sum) ||
         fail(error, path, "other bytes, expected those of which %s has the SHA-256", name);
}

/* ---- writing ---- */

static void put_payloads(GString *text, const struct manifest *m)
{
  for (guint i = 0; i < m->payloads->len; i++) {
    const struct manifest_payload *p = &g_array_index(m->payloads, struct manifest_payload, i);
    g_string_append_printf(text, "payload %d %d %u %d %d %d %d %" PRIu64 " %u\n", p->rank, p->part,
                           p->slot, p->source, p->tag, p->comm, p->sent, p->bytes, p->synchronous);
  }
}

bool manifest_write(const struct manifest *m, const char *folder, GError **error)
{
  char seconds[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *name = manifest_name(folder);
  g_autoptr(GString) text = g_string_new(FIRST_LINE);
  g_string_append_c(text, '\n');
  for (guint i = 0; i < m->needs->len; i++)
    g_string_append_printf(text, "needs %s\n", (const char *)m->needs->pdata[i]);
  g_string_append_printf(text, "checkpoint %u\ntime %s\nbyte_order %s\n", m->checkpoint,
                         g_ascii_dtostr(seconds, sizeof seconds, m->time), BYTE_ORDER_HERE);
  g_string_append_printf(text, "crossed %" PRId64 " %" PRId64 "\n", m->late, m->early);
  put_payloads(text, m);
  for (guint i = 0; i < m->communicators->len; i++)
    g_string_append_printf(text, "communicator %s\n", (const char *)m->communicators->pdata[i]);
  for (guint i = 0; i < m->calls->len; i++)
    if (g_array_index(m->calls, int, i))
      g_string_append_printf(text, "call %u %d\n", i, g_array_index(m->calls, int, i));
  for (guint i = 0; i < m->files->len; i++) {
    const struct manifest_file *file = &g_array_index(m->files, struct manifest_file, i);
    g_string_append_printf(text, "file %" PRIu64 " %s %s\n", file->bytes, file->sum, file->name);
  }
  g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, -1);
  g_string_append_printf(text, "end %s\n", sum);
  if (output_write(name, text->str, text->len))
    return true;
  g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno), OUTPUT_CANNOT, name,
              g_strerror(errno));
  return false;
}

/* ---- reading ---- */

static bool take_payload(struct manifest *m, const char *text)
{
  struct manifest_payload p = {0};
  int end = 0;
  sscanf(text, "%9d %9d %9" SCNu32 " %9d %d %9d %9d %18" SCNu64 " %9" SCNu32 "%n", &p.rank, &p.part,
         &p.slot, &p.source, &p.tag, &p.comm, &p.sent, &p.bytes, &p.synchronous, &end);
  g_array_append_val(m->payloads, p);
  return end && !text[end];
}

static bool take_crossed(struct manifest *m, const char *text)
{
  int end = 0;
  sscanf(text, "%18" SCNd64 " %18" SCNd64 "%n", &m->late, &m->early, &end);
  return end && !text[end] && m->late >= 0 && m->early >= 0;
}

static bool take_call(struct manifest *m, const char *text)
{
  unsigned comm, number;
  int end = 0;
  sscanf(text, "%5u %9u%n", &comm, &number, &end);
  if (!end || text[end])
    return false;
  if (comm >= m->calls->len)
    g_array_set_size(m->calls, comm + 1);
  g_array_index(m->calls, int, comm) = (int)number;
  return true;
}

static bool take_file(struct manifest *m, const char *text)
{
  struct manifest_file file = {0};
  char sum[65];
  int end = 0;
  sscanf(text, "%18" SCNu64 " %64[0-9a-f] %n", &file.bytes, sum, &end);
  if (!end || !text[end])
    return false;
  file.name = g_strdup(text + end);
  file.sum = g_strdup(sum);
  g_array_append_val(m->files, file);
  return true;
}

static bool take_line(struct manifest *m, const char *line)
{
  const char *text;
  char *end;
  if ((text = behind(line, "needs")))
    g_ptr_array_add(m->needs, g_strdup(text));
  else if ((text = behind(line, "communicator")))
    g_ptr_array_add(m->communicators, g_strdup(text));
  else if ((text = behind(line, "checkpoint")))
    return (m->checkpoint = (uint32_t)g_ascii_strtoull(text, &end, 10)) && !*end;
  else if ((text = behind(line, "time")))
    return (m->time = g_ascii_strtod(text, &end)) >= 0.0 && end != text && !*end;
  else if ((text = behind(line, "byte_order")))
    return g_str_equal(text, BYTE_ORDER_HERE);
  else if ((text = behind(line, "crossed")))
    return take_crossed(m, text);
  else if ((text = behind(line, "payload")))
    return take_payload(m, text);
  else if ((text = behind(line, "call")))
    return take_call(m, text);
  else
    return (text = behind(line, "file")) && take_file(m, text);
  return true;
}

/* Reads the text up to `end`. Returns false with an error if `end` does not have the checksum of
 * all lines before it, if the first line is not the one expected, or if a line cannot be read. */
static bool take_text(struct manifest *m, const char *text, const char *name, GError **error)
{
  const char *last = g_strrstr(text, "\nend ");
  gsize length = last ? (gsize)(last + 1 - text) : 0;
  g_autofree char *sum =
      g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text, length);
  g_autofree char *whole = g_strdup_printf("end %s\n", sum);
  if (!last || !g_str_equal(last + 1, whole))
    return fail(error, name, "not as it was written, expected its SHA-256 at its end");
  g_autofree char *lines = g_strndup(text, length - 1);
  g_auto(GStrv) line = g_strsplit(lines, "\n", -1);
  for (guint i = 0; line[i]; i++)
    if (i ? !take_line(m, line[i]) : !g_str_equal(line[i], FIRST_LINE))
      return fail(error, name, "line %u is \"%s\", expected %s", i + 1, line[i],
                  i ? "one of a checkpoint that can be read here" : FIRST_LINE);
  return true;
}

struct manifest *manifest_read(const char *folder, GError **error)
{
  g_autofree char *name = manifest_name(folder), *text = NULL;
  struct manifest *m = empty();
  bool fine =
      g_file_get_contents(name, &text, NULL, NULL)
          ? take_text(m, text, name, error)
          : fail(error, name, "cannot be read, expected the folder of a run that has stopped");
  for (guint i = 0; fine && i < m->files->len; i++)
    fine = is_as_noted(&g_array_index(m->files, struct manifest_file, i), folder, error);
  if (fine)
    return m;
  manifest_free(m);
  return NULL;
}
