/* Platform files, as far as recline reads them. */
#include "verify/fuzz/fuzz.h"
#include "world/scenario/platform_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *path = input_file(data, size);
  GError *error = NULL;
  char **hosts = platform_hosts(path, NULL, &error);
  judge_error(hosts != NULL, error);
  g_strfreev(hosts);
  error = NULL;
  hosts = platform_hosts(path, "ethernet", &error);
  judge_error(hosts != NULL, error);
  g_strfreev(hosts);
  g_free(platform_setting(path, "smpi/os"));
  input_done(path);
  return 0;
}
