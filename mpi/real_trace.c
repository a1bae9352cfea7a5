/* Writes the trace of this process, line by line, in the notation of docs/trace.md but without the
 * numbers of messages, which depend on all processes: `recline join` joins the traces of all.
 *
 *     FOLDER/trace.LIFE.RANK      lives count from 0, one for each start
 *
 * A line at each capture, and a line at the end, have no step: they tell the account of the process
 * over its life so far. SPENT are seconds, in the order of enum real_activity.
 *
 *     SECONDS RANK account [checkpoint=N] spent=SPENT,... stored=BYTES image=BYTES iterations=N
 */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "mpi/real_inside.h"
#include "protocols/text.h"

double real_trace_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void put_head(const char *what)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  fprintf(real.trace, "%lld.%09ld %d %s", (long long)now.tv_sec, now.tv_nsec, real.rank, what);
}

/* Writes the content of a payload as the world computes it (world/script/content.h). */
static void put_content(const struct real_payload *payload)
{
  uint64_t digest[2];
  uint32_t word[4];
  hash_bytes_wide(payload->bytes, payload->size, digest);
  memcpy(word, digest, sizeof word);
  word[0] += !(word[0] | word[1] | word[2] | word[3]);
  fprintf(real.trace, " content=%08" PRIx32 "%08" PRIx32 "%08" PRIx32 "%08" PRIx32, word[0],
          word[1], word[2], word[3]);
}

/* Writes the program's name and arguments, as the system knows them. */
static void put_program(void)
{
  char words[1024];
  FILE *file = fopen("/proc/self/cmdline", "r");
  size_t count = file ? fread(words, 1, sizeof words - 1, file) : 0, first = 0;
  if (file)
    fclose(file);
  words[count] = '\0';
  for (size_t i = 0; words[i]; i++)
    first = words[i] == '/' ? i + 1 : first;
  fputs("program ", real.trace);
  for (size_t i = first; i + 1 < count; i++)
    fputc(words[i] == '\0' ? ' ' : isprint((unsigned char)words[i]) ? words[i] : '?', real.trace);
}

static void put_library(void)
{
  char name[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  PMPI_Get_library_version(name, &length);
  /* the text begins with the library's name and version, which is all that is kept */
  name[strcspn(name, ",\n")] = '\0';
  for (char *each = name; *each; each++)
    *each = *each == '\t' ? ' ' : *each;
  fprintf(real.trace, "\nlibrary %s\n", name);
}

/* ---- lives ---- */

enum { NAME = 4096 };

static void name_trace(char name[NAME], uint32_t life)
{
  snprintf(name, NAME, "%s/trace.%" PRIu32 ".%d", real.options.folder, life, real.rank);
}

/* Returns one more than the last life of which this process has left a trace. */
static uint32_t count_lives(void)
{
  char pattern[NAME];
  uint32_t lives = 0;
  glob_t found;
  snprintf(pattern, NAME, "%s/trace.*.%d", real.options.folder, real.rank);
  if (!glob(pattern, 0, NULL, &found))
    for (size_t i = 0; i < found.gl_pathc; i++) {
      const char *life = strrchr(found.gl_pathv[i], '/') + strlen("/trace.");
      uint32_t count = (uint32_t)strtoul(life, NULL, 10) + 1;
      lives = count > lives ? count : lives;
    }
  globfree(&found);
  return lives;
}

/* Returns whether the trace of life `life` has the account of the end, which a process writes when
 * all programs have ended. The process may have gone on from a checkpoint that it took after the
 * end of its program. Then only an earlier life tells that its program has ended. */
static bool had_ended(uint32_t life)
{
  char *line = NULL, name[NAME];
  size_t room = 0;
  bool found = false;
  name_trace(name, life);
  FILE *file = fopen(name, "r");
  while (file && !found && getline(&line, &room, file) > 0)
    found = strstr(line, " account spent=");
  free(line);
  if (file)
    fclose(file);
  return found;
}

/* Removes the traces of a run with another number of processes. The protocol begins anew, so this
 * is another run. */
static void remove_all(void)
{
  char pattern[NAME];
  glob_t found;
  snprintf(pattern, NAME, "%s/trace.*", real.options.folder);
  if (real.rank == RCL_COORDINATOR_RANK && !glob(pattern, 0, NULL, &found)) {
    for (size_t i = 0; i < found.gl_pathc; i++)
      remove(found.gl_pathv[i]);
    globfree(&found);
  }
  real_wire_agree(0, MPI_MAX);
}

/* Finds the number of this life. If the traces tell that all programs have ended, and there is
 * no checkpoint, the run has ended. In that case, this start begins another run, and its traces
 * replace the old ones. The trace that tells of the end is removed last. So if this process is
 * killed while it removes traces, the next start removes the traces that are left. Without traces,
 * the number of the life has no effect. */
void real_trace_find_life(void)
{
  char name[NAME];
  if (real.from) {
    remove_all();
    return;
  }
  uint32_t lives = count_lives(), last = real_wire_agree(lives, MPI_MAX);
  bool ended =
      real.options.trace && !real.checkpoint && (!lives || (lives == last && had_ended(last - 1)));
  real.life = last;
  if (real_wire_agree(!ended, MPI_MAX))
    return;
  for (real.life = 0; real.life < last; real.life++) {
    name_trace(name, real.life);
    remove(name);
  }
  real.life = 0;
}

/* ---- lines ---- */

void real_trace_begin(void)
{
  char name[NAME];
  if (!real.options.trace)
    return;
  name_trace(name, real.life);
  real.trace = fopen(name, "w");
  if (!real.trace)
    real_die(64, OUTPUT_CANNOT, name, strerror(errno));
  setvbuf(real.trace, NULL, _IOFBF, 1 << 16);
  fprintf(real.trace, "recline-part-trace 2\nprotocol %s\nranks %d\ncapacity %u\n",
          real.protocol->name, real.ranks, real.config.capacity);
  put_program();
  put_library();
  fprintf(real.trace, "began %.9f\n---\n", real.began);
  fflush(real.trace);
}

void real_trace_step(const struct rcl_event *event, const struct real_message *message)
{
  char text[TEXT_MAX];
  if (!real.trace)
    return;
  put_head(event_print(real.protocol, event, text));
  if (message && message->payload)
    put_content(message->payload);
  for (uint32_t i = 0; i < real.actions.count; i++)
    fprintf(real.trace, " | %s", action_print(real.protocol, &real.actions.item[i], text));
  fprintf(real.trace, " # %016" PRIx64 "\n",
          rcl_protocol_digest_state(real.protocol, &real.config, real.state));
  fflush(real.trace);
}

void real_trace_finished(void)
{
  if (!real.trace)
    return;
  put_head("finished\n");
  fflush(real.trace);
}

void real_trace_account(uint32_t checkpoint)
{
  if (!real.trace)
    return;
  real_switch(real.activity);
  put_head("account");
  if (checkpoint)
    fprintf(real.trace, " checkpoint=%" PRIu32, checkpoint);
  for (int i = 0; i < REAL_ACTIVITIES; i++)
    fprintf(real.trace, "%s%.9f", i ? "," : " spent=", real.spent[i]);
  fprintf(real.trace, " stored=%" PRIu64 " image=%" PRIu64 " iterations=%" PRIu64 "\n",
          real.stored_bytes, real.image_bytes, real.iterations);
  fflush(real.trace);
}

void real_trace_end(void)
{
  if (real.trace && fclose(real.trace))
    fprintf(stderr, "recline: the trace of process %d: %s\n", real.rank, strerror(errno));
  real.trace = NULL;
}
