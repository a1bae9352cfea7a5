#include "sim/host/storage/stop.h"

#include "base/output.h"
#include "sim/host/rank/communicators.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/rank/timer.h"
#include "sim/host/result/run_end.h"
#include "sim/host/storage/application.h"
#include "sim/host/storage/manifest.h"
#include "sim/host/storage/storage.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- messages that cross checkpoints ---- */

/* Counts the messages that cross a checkpoint. */
struct crossings {
  uint32_t late, early;
};
static GArray *crossings; /* struct crossings, by checkpoint, or NULL if there is none */

void stop_note_crossing(uint32_t sent, uint32_t received)
{
  bool late = sent < received;
  uint32_t from = late ? sent : received, to = late ? received : sent;
  if (!crossings)
    crossings = g_array_new(FALSE, TRUE, sizeof(struct crossings));
  if (to >= crossings->len)
    g_array_set_size(crossings, to + 1);
  for (uint32_t checkpoint = from + 1; checkpoint <= to; checkpoint++) {
    struct crossings *crossing = &g_array_index(crossings, struct crossings, checkpoint);
    crossing->late += late;
    crossing->early += !late;
  }
}

static void note_crossings(struct manifest *manifest)
{
  struct crossings crossed = {0};
  if (crossings && manifest->checkpoint < crossings->len)
    crossed = g_array_index(crossings, struct crossings, manifest->checkpoint);
  manifest->late = crossed.late;
  manifest->early = crossed.early;
}

/* ---- what is left ---- */

/* Collects a rank's payloads. */
struct parcel {
  struct manifest *manifest;
  int rank;
  GByteArray *bytes;
};

static void add_payload(void *data, enum rcl_part part, uint32_t number, const struct slot *slot)
{
  struct parcel *parcel = data;
  struct manifest_payload payload = {.rank = parcel->rank,
                                     .part = (int)part,
                                     .slot = number,
                                     .source = slot->source,
                                     .tag = slot->tag,
                                     .comm = slot->comm,
                                     .sent = slot->sent,
                                     .bytes = slot->payload->size,
                                     .synchronous = slot->payload->synchronous};
  g_array_append_val(parcel->manifest->payloads, payload);
  g_byte_array_append(parcel->bytes, (const guint8 *)slot->payload->bytes,
                      (guint)slot->payload->size);
}

static void write_file(struct manifest *manifest, const char *folder, char *name,
                       const GByteArray *bytes)
{
  g_autofree char *mine = name, *path = g_build_filename(folder, name, NULL);
  g_autoptr(GError) error = NULL;
  if (!output_write(path, bytes->data, bytes->len))
    die(DIE_INPUT, OUTPUT_CANNOT, path, g_strerror(errno));
  if (!manifest_note(manifest, folder, mine, &error))
    die(DIE_INPUT, "%s", error->message);
}

static void leave_rank(struct manifest *manifest, const char *folder, struct rank *r)
{
  const struct capture *capture = storage_capture(r, manifest->checkpoint);
  struct parcel parcel = {manifest, r->index, g_byte_array_new()};
  REQUIRE(capture && capture->saved, "every rank has an image of what has committed");
  write_file(manifest, folder, manifest_image(r->index), capture->saved->bytes);
  storage_each_payload(r, manifest->checkpoint, add_payload, &parcel);
  if (parcel.bytes->len)
    write_file(manifest, folder, manifest_payloads(r->index), parcel.bytes);
  g_byte_array_unref(parcel.bytes);
}

/* Undoes the changes of files since the checkpoint, because the programs will make them again. */
static void put_back_files(uint32_t checkpoint)
{
  for (int rank = 0; rank < layer.ranks; rank++) {
    const struct capture *capture = storage_capture(&layer.rank[rank], checkpoint);
    if (capture && capture->saved)
      heap_files_restore(application_files(capture->saved));
  }
}

static void leave(uint32_t checkpoint)
{
  const char *out = getenv("RECLINE_OUT");
  g_autofree char *folder = out ? g_build_filename(out, MANIFEST_FOLDER, NULL) : NULL;
  g_autoptr(GError) error = NULL;
  if (!out || mkdir(folder, 0777))
    die(DIE_INPUT, OUTPUT_CANNOT, out ? folder : MANIFEST_FOLDER, g_strerror(out ? errno : ENOENT));
  struct manifest *manifest = manifest_new(layer.scenario);
  manifest->checkpoint = checkpoint;
  manifest->time = machine_now() + layer.before;
  note_crossings(manifest);
  communicators_leave(checkpoint, manifest->communicators, manifest->calls);
  for (int rank = 0; rank < layer.ranks; rank++)
    leave_rank(manifest, out, &layer.rank[rank]);
  if (!manifest_note(manifest, out, "trace.txt", &error) || !manifest_write(manifest, out, &error))
    die(DIE_INPUT, "%s", error->message);
  manifest_free(manifest);
}

void stop_event(const struct rcl_event *event)
{
  if (layer.scenario->checkpoint.then != AFTERWARDS_STOP || event->kind != RCL_EVENT_COMMITTED ||
      shadow_finished() || !timer_was_last())
    return;
  uint32_t checkpoint = shadow_global()->committed;
  put_back_files(checkpoint);
  shadow_end(); /* the trace is part of what the run leaves */
  leave(checkpoint);
  layer.result.restart.left = checkpoint;
  run_stop(RUN_STOPPED, NULL);
}
