#define _GNU_SOURCE /* dladdr */
#include "world/scenario/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/confine.h"
#include "protocols/protocol.h"
#include "world/scenario/document.h"
#include "world/scenario/shared_object.h"

G_DEFINE_QUARK(recline - plugin, plugin_error)

#define MUTANTS "librecline-mutants.so"

static GHashTable *loaded;    /* set of paths */
static GHashTable *protocols; /* name of a protocol -> path */

static const struct rcl_protocol *const *protocols_of(void *object, GError **error)
{
  const uint32_t *door = dlsym(object, "recline_door");
  const struct rcl_protocol *const *list = dlsym(object, "recline_protocols");
  if (!door || !list) {
    g_set_error(error, PLUGIN_ERROR, 0, "it holds no protocols, expected RECLINE_PROTOCOLS in it");
    return NULL;
  }
  if (*door != RECLINE_DOOR) {
    g_set_error(error, PLUGIN_ERROR, 0, "it was built for door %u, expected %u: build it again",
                *door, RECLINE_DOOR);
    return NULL;
  }
  for (size_t i = 0; list[i]; i++)
    if (!document_is_name(list[i]->name)) {
      g_autofree char *shown = document_quote(list[i]->name);
      g_set_error(error, PLUGIN_ERROR, 0,
                  "a protocol is called %s, expected letters, digits, . _ - and ~", shown);
      return NULL;
    } else if (rcl_protocol_named(list[i]->name)) {
      g_set_error(error, PLUGIN_ERROR, 0, "there is a protocol %s already, expected another name",
                  list[i]->name);
      return NULL;
    }
  return list;
}

static bool is_loaded(const char *file)
{
  if (!loaded) {
    loaded = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    protocols = g_hash_table_new(g_str_hash, g_str_equal);
  }
  return g_hash_table_contains(loaded, file);
}

/* Loads a shared object of protocols. The table in the object of the mutants, which are recline's
 * own, is filled in when the object is loaded. */
static bool load(const char *file, GError **error)
{
  if (is_loaded(file))
    return true;
  void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!object) {
    g_set_error(error, PLUGIN_ERROR, 0, "%s, expected a shared object with protocols", dlerror());
    return false;
  }
  const struct rcl_protocol *const *list = protocols_of(object, error);
  if (!list) {
    dlclose(object);
    return false;
  }
  if (!rcl_protocol_register(list)) {
    g_set_error(error, PLUGIN_ERROR, 0, "too many such files, expected fewer protocols at once");
    return false;
  }
  if (!confine_object(list)) {
    g_set_error(error, PLUGIN_ERROR, 0, "its data cannot be made read-only: %s", g_strerror(errno));
    return false;
  }
  char *path = g_strdup(file);
  g_hash_table_add(loaded, path);
  for (; *list && !g_str_has_suffix(file, MUTANTS); list++)
    g_hash_table_insert(protocols, (char *)(uintptr_t)(*list)->name, path);
  return true;
}

bool plugin_load(const char *file, GError **error)
{
  if (is_loaded(file))
    return true;
  g_autofree char *problem = shared_object_impurity(file);
  if (problem)
    g_set_error_literal(error, PLUGIN_ERROR, 0, problem);
  return !problem && load(file, error);
}

const char *plugin_file(const char *name)
{
  return protocols ? g_hash_table_lookup(protocols, name) : NULL;
}

/* ---- the mutants ---- */

/* Returns the path of the file of mutants: in the folder of this library (lib/, for the MPI layer)
 * or in the folder lib/ beside the executable's folder. Returns NULL if neither folder has the
 * file. The caller frees the path. */
static char *mutants_file(void)
{
  Dl_info here;
  g_autofree char *executable = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *library =
      g_path_get_dirname(dladdr((void *)plugin_mutants, &here) ? here.dli_fname : ".");
  g_autofree char *bin = g_path_get_dirname(executable ? executable : ".");
  char *beside = g_build_filename(library, MUTANTS, NULL);
  if (g_path_is_absolute(library) && g_file_test(beside, G_FILE_TEST_EXISTS))
    return beside;
  g_free(beside);
  char *in_lib = g_build_filename(bin, "..", "lib", MUTANTS, NULL);
  if (g_file_test(in_lib, G_FILE_TEST_EXISTS))
    return in_lib;
  g_free(in_lib);
  return NULL;
}

bool plugin_mutants(GError **error)
{
  g_autofree char *file = mutants_file();
  if (!file) {
    g_set_error(error, PLUGIN_ERROR, 0, "%s is not there, expected it beside recline's libraries",
                MUTANTS);
    return false;
  }
  return load(file, error); /* the object itself fills in its table of protocols */
}

const struct rcl_protocol *plugin_protocol(const char *name)
{
  const struct rcl_protocol *found = rcl_protocol_named(name);
  if (found || (!strchr(name, '~') && !g_str_has_prefix(name, "cl-")) || !plugin_mutants(NULL))
    return found;
  return rcl_protocol_named(name);
}
