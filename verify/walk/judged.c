#include "verify/walk/judged.h"

#include "verify/walk/families.h"
#include "world/rules/properties.h"

GPtrArray *judged_among(const char *const *names)
{
  static const char *const beyond[] = {"outcome", "progress", "bounds", NULL};
  GPtrArray *judged = g_ptr_array_new();
  for (; *names; names++)
    if (!properties_include(beyond, *names))
      g_ptr_array_add(judged, (gpointer)*names);
  g_ptr_array_add(judged, NULL);
  return judged;
}

/* Returns whether a requested checkpoint commits only in a barrier. If so, the last request may
 * come after the last barrier. */
static bool waits_for_barriers(const struct rcl_protocol *protocol)
{
  return families_assumed(protocol) & RCL_ASSUMES_BARRIERS;
}

GPtrArray *judged_of(const struct rcl_protocol *protocol)
{
  GPtrArray *judged = judged_among(properties_promised(protocol));
  if (protocol->line)
    g_ptr_array_insert(judged, 0, (gpointer) "line-invariant");
  static const char *const later[] = {"commits", "requests", NULL};
  for (guint i = 0; waits_for_barriers(protocol) && g_ptr_array_index(judged, i);)
    if (properties_include(later, g_ptr_array_index(judged, i)))
      g_ptr_array_remove_index(judged, i);
    else
      i++;
  return judged;
}
