#include "sim/host/storage/restart.h"

#include "sim/host/rank/communicators.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/storage/application.h"
#include "sim/host/storage/manifest.h"
#include "sim/host/storage/redistribution.h"
#include "sim/host/storage/storage.h"

#include <stdlib.h>
#include <string.h>

/* folder that the run before this one has left, or NULL if there was no such run */
static const char *folder;
static struct manifest *manifest;
static uint16_t incarnation; /* the incarnation in which all ranks restart */

const char *restart_history(void)
{
  folder = getenv("RECLINE_RESTART");
  if (!folder)
    return NULL;
  GError *error = NULL;
  manifest = manifest_read(folder, &error);
  if (!manifest || !manifest_fits(manifest, folder, layer.scenario, &error))
    die(DIE_INPUT, "%s", error->message);
  layer.before = manifest->time;
  layer.result.restart.from = manifest->checkpoint;
  layer.result.restart.before_s = manifest->time;
  if (manifest_ranks(manifest) != layer.ranks) {
    layer.redistributes = true;
    redistribution_begin(folder, manifest, manifest_ranks(manifest));
    g_clear_pointer(&manifest, manifest_free);
    return NULL;
  }
  if (!communicators_adopt(manifest->checkpoint, manifest->communicators, manifest->calls))
    die(DIE_INPUT, "%s: communicators of other ranks, expected those of %d", folder, layer.ranks);
  return g_build_filename(folder, "trace.txt", NULL);
}

/* Takes the move if it can happen. */
static void take(struct move move, struct rcl_actions *actions)
{
  enum rcl_reason reason;
  if (shadow_allows(&move))
    shadow_step(&move, actions, &reason);
}

void restart_begin(void)
{
  if (!manifest)
    return;
  struct rcl_actions actions = {.capacity = shadow_actions_max()};
  actions.item = g_new0(struct rcl_action, actions.capacity);
  for (int rank = 0; rank < layer.ranks; rank++)
    take((struct move){.kind = MOVE_CRASH, .rank = (int16_t)rank}, &actions);
  take((struct move){.kind = MOVE_DETECT, .rank = -1}, &actions);
  for (int rank = 0; rank < layer.ranks;
       rank++) /* needed for ranks that were declared dead while they lived */
    take((struct move){.kind = MOVE_DETECT, .fault = DETECT_END, .rank = (int16_t)rank}, &actions);
  g_free(actions.item);
  incarnation = shadow_global()->incarnation;
  if (shadow_global()->target != manifest->checkpoint)
    die(DIE_INPUT, "%s: checkpoint %u, expected %u, which the trace has", folder,
        manifest->checkpoint, shadow_global()->target);
}

/* ---- a rank ---- */

/* Returns the contents of the file `name`, or NULL if there is no such file. Frees `name`. */
static GByteArray *read_file(char *name)
{
  g_autofree char *mine = name, *path = g_build_filename(folder, mine, NULL);
  char *bytes;
  gsize size;
  return g_file_get_contents(path, &bytes, &size, NULL)
             ? g_byte_array_new_take((guint8 *)bytes, size)
             : NULL;
}

static struct saved *read_image(struct rank *r)
{
  const char *why = "cannot be read";
  GByteArray *bytes = read_file(manifest_image(r->index));
  struct saved *saved = bytes ? application_adopt(r, bytes, &why) : NULL;
  if (!saved)
    die(DIE_INPUT, "%s: the image of rank %d %s, expected that of another run", folder, r->index,
        why);
  return saved;
}

static void adopt_payload(struct rank *r, const struct manifest_payload *noted,
                          const GByteArray *bytes, uint64_t at)
{
  if (!bytes || noted->bytes > bytes->len - at)
    die(DIE_INPUT, "%s: payloads of rank %d end too early, expected those of its manifest", folder,
        r->index);
  struct payload *payload = payload_new((size_t)noted->bytes);
  payload->synchronous = noted->synchronous;
  if (noted->bytes)
    memcpy(payload->own, bytes->data + at, (size_t)noted->bytes);
  storage_adopt_payload(r, noted->slot,
                        &(struct slot){.payload = payload,
                                       .tag = noted->tag,
                                       .source = noted->source,
                                       .comm = noted->comm,
                                       .sent = noted->sent});
  payload_drop(payload);
}

bool restart_adopt(struct rank *r)
{
  if (!manifest)
    return false;
  GByteArray *bytes = read_file(manifest_payloads(r->index));
  uint64_t at = 0;
  bool begun = false;
  for (guint i = 0; i < manifest->payloads->len; i++) {
    const struct manifest_payload *noted =
        &g_array_index(manifest->payloads, struct manifest_payload, i);
    if (noted->rank != r->index)
      continue;
    if (!begun)
      storage_adopt(r, manifest->checkpoint, (enum rcl_part)noted->part, read_image(r));
    begun = true;
    adopt_payload(r, noted, bytes, at);
    at += noted->bytes;
  }
  if (!begun)
    storage_adopt(r, manifest->checkpoint, RCL_PART_IMAGE, read_image(r));
  if (bytes)
    g_byte_array_unref(bytes);
  return true;
}

bool restart_is_first(const struct rank *r)
{
  return manifest && !r->life && shadow_global()->incarnation == incarnation &&
         shadow_rank(r->index)->phase == RANK_RESTARTING;
}
