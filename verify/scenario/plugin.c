#include "verify/scenario/plugin.h"

#include <dlfcn.h>

#include "protocols/protocol.h"

G_DEFINE_QUARK(recline - plugin, plugin_error)

static GHashTable *loaded; /* by path */

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
    if (rcl_protocol_named(list[i]->name)) {
      g_set_error(error, PLUGIN_ERROR, 0, "there is a protocol %s already, expected another name",
                  list[i]->name);
      return NULL;
    }
  return list;
}

bool plugin_load(const char *file, GError **error)
{
  if (!loaded)
    loaded = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  if (g_hash_table_contains(loaded, file))
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
  g_hash_table_add(loaded, g_strdup(file));
  return true;
}
