#include "prove/bitcode.h"

#include <glib/gstdio.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

#include "prove/prove_rank.h"

static void complain(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void complain(GError **error, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error_literal(error, g_quark_from_static_string("recline-prove"), 0, text);
}

static LLVMModuleRef read_module(const char *file, GError **error)
{
  LLVMMemoryBufferRef buffer;
  LLVMModuleRef module;
  char *why = NULL;
  if (LLVMCreateMemoryBufferWithContentsOfFile(file, &buffer, &why)) {
    complain(error, "%s: %s, expected bitcode", file, why);
    LLVMDisposeMessage(why);
    return NULL;
  }
  bool fine = !LLVMParseBitcode2(buffer, &module);
  LLVMDisposeMemoryBuffer(buffer);
  if (!fine)
    complain(error, "%s: expected bitcode", file);
  return fine ? module : NULL;
}

/* Links door_bitcode.c to a module. Disposes of the module if linking fails. */
static LLVMModuleRef with_door(LLVMModuleRef module, const char *name, GError **error)
{
  LLVMModuleRef door = module ? read_module(PROVE_BUILD "/prove/door.bc", error) : NULL;
  if (door && !LLVMLinkModules2(module, door))
    return module;
  if (door)
    complain(error, "%s: defines what recline defines itself", name);
  if (module)
    LLVMDisposeModule(module);
  return NULL;
}

/* Compiles a source with the options with which the protocols were compiled. Also looks for headers
 * in `folder`. */
static LLVMModuleRef compile(const char *source, const char *folder, GError **error)
{
  g_autofree char *out = NULL, *quoted = NULL, *err = NULL;
  int status, file = g_file_open_tmp("recline-XXXXXX.bc", &out, error);
  if (file < 0)
    return NULL;
  g_close(file, NULL);
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  g_auto(GStrv) flags = g_strsplit(PROVE_FLAGS, " ", -1);
  g_ptr_array_add(words, (gpointer)PROVE_CLANG);
  for (char **flag = flags; *flag; flag++)
    g_ptr_array_add(words, *flag);
  quoted = g_strconcat("-iquote", folder, NULL);
  const char *more[] = {
      quoted, "-iquote" PROVE_SOURCES, "-I" PROVE_BUILD "/include", "-c", "-o", out, source, NULL};
  for (unsigned i = 0; i < G_N_ELEMENTS(more); i++)
    g_ptr_array_add(words, (gpointer)more[i]);
  LLVMModuleRef module = NULL;
  bool ran = g_spawn_sync(NULL, (char **)words->pdata, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL,
                          &err, &status, error);
  if (ran && g_spawn_check_wait_status(status, NULL))
    module = with_door(read_module(out, error), source, error);
  else if (ran)
    complain(error, "%s: does not compile, expected a protocol in C: %.300s", source, err);
  g_unlink(out);
  return module;
}

/* Returns the module of the protocol of that name, if the protocol was built with recline. */
static LLVMModuleRef find(const char *name, GError **error)
{
  g_autoptr(GDir) folder = g_dir_open(PROVE_BUILD "/prove", 0, error);
  const char *file;
  while (folder && (file = g_dir_read_name(folder))) {
    if (!g_str_has_suffix(file, ".bc") || g_str_equal(file, "door.bc"))
      continue;
    g_autofree char *path = g_build_filename(PROVE_BUILD "/prove", file, NULL);
    LLVMModuleRef module = with_door(read_module(path, error), path, error);
    if (!module)
      return NULL;
    struct rank_world w;
    const struct prove_worlds least = {.ranks = 2, .capacity = 1};
    bool has = rank_world_init(&w, module, name, 0, &least);
    rank_world_clear(&w);
    if (has)
      return module;
    LLVMDisposeModule(module);
  }
  complain(error, "'%s', expected a protocol (recline list protocols), a mutant or a file in C",
           name);
  return NULL;
}

LLVMModuleRef bitcode_load(const char *name, char **found, GError **error)
{
  const char *flaw = strchr(name, '~');
  if (g_str_has_suffix(name, ".so")) {
    complain(error, "%s: a shared object, expected its source in C", name);
    return NULL;
  }
  if (g_str_has_suffix(name, ".c")) {
    g_autofree char *folder = g_path_get_dirname(name);
    return compile(name, folder, error);
  }
  *found = flaw ? g_strndup(name, (gsize)(flaw - name)) : g_strdup(name);
  if (!flaw)
    return find(name, error);
  g_autofree char *folder = g_strdup_printf(PROVE_BUILD "/verify/mutants/%s-%s", *found, flaw + 1),
                  *source = g_strconcat(folder, ".c", NULL);
  if (g_file_test(source, G_FILE_TEST_EXISTS))
    return compile(source, folder, error);
  complain(error, "'%s', expected a mutant (recline list mutants)", name);
  return NULL;
}
