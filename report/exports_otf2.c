/* Writes the run as an OTF2 archive, with the library of that format. The archive is a folder like
 * those of Score-P: it has traces.otf2, traces.def, and the events of each rank in traces/. */
#include <glib/gstdio.h>
#include <otf2/otf2.h>
#include <string.h>

#include "plots/input.h"
#include "report/exports_inside.h"

enum { CHUNK = 1 << 20, EVENT, CLASS = 0, WORLD = 0 };

struct archive {
  const struct story *story;
  OTF2_Archive *archive;
  OTF2_GlobalDefWriter *definitions;
  GHashTable *strings; /* text -> its number + 1 */
  OTF2_ErrorCode wrong;
};

static void note(struct archive *a, OTF2_ErrorCode code)
{
  a->wrong = a->wrong == OTF2_SUCCESS ? code : a->wrong;
}

static OTF2_StringRef string(struct archive *a, const char *text)
{
  gpointer known = g_hash_table_lookup(a->strings, text);
  guint count = g_hash_table_size(a->strings);
  if (known)
    return GPOINTER_TO_UINT(known) - 1;
  g_hash_table_insert(a->strings, g_strdup(text), GUINT_TO_POINTER(count + 1));
  note(a, OTF2_GlobalDefWriter_WriteString(a->definitions, count, text));
  return count;
}

/* ---- events ---- */

static void write_message(struct archive *a, OTF2_EvtWriter *out, const struct entry *e)
{
  OTF2_AttributeList *more = OTF2_AttributeList_New();
  OTF2_AttributeList_AddStringRef(more, CLASS, string(a, e->name));
  uint64_t time = (uint64_t)e->time;
  note(a, e->kind == ENTRY_SEND
              ? OTF2_EvtWriter_MpiSend(out, more, time, (uint32_t)e->other, WORLD, 0, 0)
              : OTF2_EvtWriter_MpiRecv(out, more, time, (uint32_t)e->other, WORLD, 0, 0));
  OTF2_AttributeList_Delete(more);
}

static OTF2_RegionRef region_of(const char *doing)
{
  OTF2_RegionRef region = 0;
  while (strcmp(doing_names[region], doing) != 0)
    region++;
  return region;
}

/* Writes the events of a rank. In each period, the rank is in a region. */
static void write_rank(struct archive *a, const GArray *entries, int rank)
{
  OTF2_EvtWriter *out = OTF2_Archive_GetEvtWriter(a->archive, (OTF2_LocationRef)rank);
  const char *doing = NULL;
  for (guint i = 0; i < entries->len; i++) {
    const struct entry *e = &g_array_index(entries, struct entry, i);
    uint64_t time = (uint64_t)e->time;
    if (e->rank != rank)
      continue;
    if (e->kind == ENTRY_STATE) {
      if (doing)
        note(a, OTF2_EvtWriter_Leave(out, NULL, time, region_of(doing)));
      doing = e->name;
      note(a, OTF2_EvtWriter_Enter(out, NULL, time, region_of(doing)));
    } else if (e->kind == ENTRY_EVENT) {
      note(a, OTF2_EvtWriter_ParameterString(out, NULL, time, 0, string(a, e->name)));
    } else {
      write_message(a, out, e);
    }
  }
  if (doing)
    note(a, OTF2_EvtWriter_Leave(out, NULL, (uint64_t)a->story->periods.end, region_of(doing)));
}

/* ---- definitions ---- */

static void define_rank(struct archive *a, OTF2_GlobalDefWriter *out, int rank)
{
  uint64_t events = 0;
  uint32_t number = (uint32_t)rank;
  g_autofree char *name = g_strdup_printf("rank %d", rank);
  OTF2_EvtWriter *written = OTF2_Archive_GetEvtWriter(a->archive, number);
  note(a, OTF2_EvtWriter_GetNumberOfEvents(written, &events));
  note(a, OTF2_Archive_CloseEvtWriter(a->archive, written));
  note(a, OTF2_GlobalDefWriter_WriteLocationGroup(out, number, string(a, name),
                                                  OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                  OTF2_UNDEFINED_LOCATION_GROUP));
  note(a, OTF2_GlobalDefWriter_WriteLocation(out, number, string(a, name),
                                             OTF2_LOCATION_TYPE_CPU_THREAD, events, number));
}

static void define_region(struct archive *a, OTF2_GlobalDefWriter *out, uint32_t doing)
{
  OTF2_StringRef name = string(a, doing_names[doing]);
  bool mpi = doing == DOING_MPI;
  note(a,
       OTF2_GlobalDefWriter_WriteRegion(out, doing, name, name, string(a, ""),
                                        mpi ? OTF2_REGION_ROLE_POINT2POINT : OTF2_REGION_ROLE_CODE,
                                        mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
                                        OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
}

/* Defines all ranks, and the communicator of their messages. */
static void define_world(struct archive *a, OTF2_GlobalDefWriter *out)
{
  uint32_t ranks = (uint32_t)a->story->trace->ranks;
  g_autofree uint64_t *members = g_new(uint64_t, ranks);
  for (uint32_t rank = 0; rank < ranks; rank++)
    members[rank] = rank;
  OTF2_StringRef none = string(a, ""), world = string(a, "world");
  note(a, OTF2_GlobalDefWriter_WriteGroup(out, 0, none, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, ranks, members));
  note(a, OTF2_GlobalDefWriter_WriteGroup(out, 1, none, OTF2_GROUP_TYPE_COMM_GROUP,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, ranks, members));
  note(a, OTF2_GlobalDefWriter_WriteComm(out, WORLD, world, 1, OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE));
}

static void define(struct archive *a)
{
  const struct story *story = a->story;
  OTF2_GlobalDefWriter *out = a->definitions;
  note(a, OTF2_GlobalDefWriter_WriteSystemTreeNode(out, 0, string(a, "run"), string(a, "machine"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  for (uint32_t doing = 0; doing < DOINGS; doing++)
    define_region(a, out, doing);
  for (int rank = 0; rank < story->trace->ranks; rank++)
    define_rank(a, out, rank);
  define_world(a, out);
  note(a,
       OTF2_GlobalDefWriter_WriteParameter(out, 0, string(a, "event"), OTF2_PARAMETER_TYPE_STRING));
  note(a, OTF2_GlobalDefWriter_WriteAttribute(out, CLASS, string(a, "class"), string(a, ""),
                                              OTF2_TYPE_STRING));
}

/* ---- the archive ---- */

static OTF2_FlushType flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                            bool final)
{
  (void)data, (void)type, (void)location, (void)caller, (void) final;
  return OTF2_FLUSH;
}

static void write_archive(struct archive *a)
{
  static const OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = flush};
  g_autoptr(GArray) entries = export_entries(a->story);
  note(a, OTF2_Archive_SetFlushCallbacks(a->archive, &callbacks, NULL));
  note(a, OTF2_Archive_SetSerialCollectiveCallbacks(a->archive));
  a->definitions = OTF2_Archive_GetGlobalDefWriter(a->archive);
  note(a, OTF2_GlobalDefWriter_WriteClockProperties(a->definitions, 1000000000, 0,
                                                    (uint64_t)a->story->periods.end + 1,
                                                    OTF2_UNDEFINED_TIMESTAMP));
  note(a, OTF2_Archive_OpenEvtFiles(a->archive));
  for (int rank = 0; rank < a->story->trace->ranks; rank++)
    write_rank(a, entries, rank);
  define(a);
  note(a, OTF2_Archive_CloseEvtFiles(a->archive));
  /* Each rank has such a file, without definitions of its own. */
  note(a, OTF2_Archive_OpenDefFiles(a->archive));
  for (int rank = 0; rank < a->story->trace->ranks; rank++)
    note(a, OTF2_Archive_CloseDefWriter(
                a->archive, OTF2_Archive_GetDefWriter(a->archive, (OTF2_LocationRef)rank)));
  note(a, OTF2_Archive_CloseDefFiles(a->archive));
}

bool export_otf2(const struct story *story, const char *file, GError **error)
{
  struct archive a = {.story = story};
  g_autofree char *parent = g_path_get_dirname(file);
  g_autofree char *folder = g_build_filename(parent, ".recline-otf2-XXXXXX", NULL);
  if (g_file_test(file, G_FILE_TEST_EXISTS))
    return input_bad(error, file, 0, "there is one already, expected a new name");
  if (g_mkdtemp_full(folder, 0777))
    a.archive = OTF2_Archive_Open(folder, "traces", OTF2_FILEMODE_WRITE, CHUNK, CHUNK,
                                  OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (!a.archive)
    return input_bad(error, file, 0, "cannot be written, expected a folder to write to");
  a.strings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  write_archive(&a);
  note(&a, OTF2_Archive_Close(a.archive));
  g_hash_table_unref(a.strings);
  return (a.wrong == OTF2_SUCCESS && !g_rename(folder, file)) ||
         input_bad(error, file, 0, "cannot be written: %s, expected room for it",
                   OTF2_Error_GetDescription(a.wrong));
}
