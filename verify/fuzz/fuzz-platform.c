/* Fuzzes platform files, as far as recline reads them, and descriptions of machines. */
#include "verify/fuzz/fuzz.h"
#include "world/scenario/machine_file.h"
#include "world/scenario/platform_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *path = input_file(data, size);
  GError *error = NULL;
  char *text = machine_load(path, &error);
  judge_error(text != NULL, error);
  g_free(text);
  error = NULL;
  text = platform_read(path, &error);
  if (text == NULL) {
    judge_error(false, error);
    input_done(path);
    return 0;
  }
  char **hosts = platform_hosts(text, NULL, &error);
  judge_error(hosts != NULL, error);
  g_strfreev(hosts);
  error = NULL;
  hosts = platform_hosts(text, "ethernet", &error);
  judge_error(hosts != NULL, error);
  g_strfreev(hosts);
  g_free(platform_setting(text, "smpi/os"));
  g_free(text);
  input_done(path);
  return 0;
}
