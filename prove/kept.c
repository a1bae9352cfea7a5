#include "prove/kept.h"

#include <llvm-c/BitWriter.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

/* Lists the contents of the files, one for each answer. */
static const char *const words[] = {[KEPT_NOT] = "",
                                    [KEPT_PROVED] = "proved\n",
                                    [KEPT_DRAINS] = "proved, drains\n",
                                    [KEPT_NEVER] = "cannot happen\n"};

static void hash_object(GChecksum *sum, LLVMModuleRef module)
{
  LLVMModuleRef bare = LLVMCloneModule(module);
  LLVMStripModuleDebugInfo(bare);
  LLVMMemoryBufferRef bytes = LLVMWriteBitcodeToMemoryBuffer(bare);
  g_checksum_update(sum, (const guchar *)LLVMGetBufferStart(bytes),
                    (gssize)LLVMGetBufferSize(bytes));
  LLVMDisposeMemoryBuffer(bytes);
  LLVMDisposeModule(bare);
}

static void hash_text(GChecksum *sum, const char *text)
{
  g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text) + 1);
}

char *kept_proof(LLVMModuleRef module, const char *protocol, const struct line_asked *asked)
{
  g_autofree char *program = NULL, *worlds = NULL, *set = settings_text(asked->worlds.set);
  gsize bytes;
  if (!g_file_get_contents("/proc/self/exe", &program, &bytes, NULL))
    return NULL;
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(sum, (const guchar *)program, (gssize)bytes);
  hash_text(sum, Z3_get_full_version());
  hash_object(sum, module);
  worlds = g_strdup_printf("%d %u", asked->worlds.ranks, asked->worlds.capacity);
  hash_text(sum, worlds);
  hash_text(sum, set);
  hash_text(sum, protocol);
  hash_text(sum, asked->without ? asked->without : "");
  return g_strdup(g_checksum_get_string(sum));
}

static char *file_of(const char *folder, const char *proof, const char *move)
{
  g_autofree char *all = g_strdup_printf("%s %s", proof, move);
  g_autofree char *name = g_compute_checksum_for_string(G_CHECKSUM_SHA256, all, -1);
  return g_build_filename(folder, name, NULL);
}

enum kept_as kept_find(const char *folder, const char *proof, const char *move)
{
  g_autofree char *file = file_of(folder, proof, move), *said = NULL;
  if (!g_file_get_contents(file, &said, NULL, NULL))
    return KEPT_NOT;
  enum kept_as as = KEPT_NEVER;
  while (as != KEPT_NOT && !g_str_equal(said, words[as]))
    as--;
  return as;
}

void kept_note(const char *folder, const char *proof, const char *move, enum kept_as as)
{
  g_autofree char *file = file_of(folder, proof, move);
  if (g_mkdir_with_parents(folder, 0777) == 0)
    g_file_set_contents(file, words[as], -1, NULL);
}
