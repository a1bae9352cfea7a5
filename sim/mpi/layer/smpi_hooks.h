/* Runs SMPI's collective algorithms on messages of the layer.
 *
 * SimGrid has more than a hundred of these algorithms, and a platform or --cfg selects one for each
 * collective. The algorithms call functions of SimGrid's classes Request and Comm, through the
 * procedure linkage table of its library. So a library that is preloaded can define these
 * functions, and an algorithm that runs for a rank of the layer sends and receives by the layer,
 * where the protocol sees its messages. All other calls reach SimGrid's own functions.
 *
 * The symbols are those that SimGrid 3.32 exports, because SimGrid installs no header of these
 * classes. */
#ifndef RECLINE_SMPI_HOOKS_H
#define RECLINE_SMPI_HOOKS_H

#include <smpi/smpi.h>
#include <stdbool.h>

/* Lists hooks as HOOK(result, return, name, symbol, parameters, arguments), where `return` is empty
 * for void. The last hooks are for nonblocking collectives, which some algorithms use. A vector of
 * C++ is three pointers in the memory of the caller. */
#define OF_SMPI "_ZN7simgrid4smpi"
#define CONST_OF_SMPI "_ZNK7simgrid4smpi"
#define SMPI_HOOKS(HOOK)                                                                           \
  HOOK(MPI_Request, return, isend, OF_SMPI "7Request5isendEPKviPNS0_8DatatypeEiiPNS0_4CommE",      \
       (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),         \
       (buffer, count, type, to, tag, comm))                                                       \
  HOOK(MPI_Request, return, irecv, OF_SMPI "7Request5irecvEPviPNS0_8DatatypeEiiPNS0_4CommE",       \
       (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm),             \
       (buffer, count, type, from, tag, comm))                                                     \
  HOOK(MPI_Request, return, isend_init,                                                            \
       OF_SMPI "7Request10isend_initEPKviPNS0_8DatatypeEiiPNS0_4CommE",                            \
       (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),         \
       (buffer, count, type, to, tag, comm))                                                       \
  HOOK(MPI_Request, return, irecv_init,                                                            \
       OF_SMPI "7Request10irecv_initEPviPNS0_8DatatypeEiiPNS0_4CommE",                             \
       (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm),             \
       (buffer, count, type, from, tag, comm))                                                     \
  HOOK(void, , send, OF_SMPI "7Request4sendEPKviPNS0_8DatatypeEiiPNS0_4CommE",                     \
       (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),         \
       (buffer, count, type, to, tag, comm))                                                       \
  HOOK(void, , recv, OF_SMPI "7Request4recvEPviPNS0_8DatatypeEiiPNS0_4CommEP10MPI_Status",         \
       (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,              \
        MPI_Status *status),                                                                       \
       (buffer, count, type, from, tag, comm, status))                                             \
  HOOK(void, , sendrecv,                                                                           \
       OF_SMPI "7Request8sendrecvEPKviPNS0_8DatatypeEiiPviS5_iiPNS0_4CommEP10MPI_Status",          \
       (const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag, void *in,      \
        int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,                   \
        MPI_Status *status),                                                                       \
       (out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status)) \
  HOOK(void, , startall, OF_SMPI "7Request8startallEiPPS1_", (int count, MPI_Request *requests),   \
       (count, requests))                                                                          \
  HOOK(int, return, wait, OF_SMPI "7Request4waitEPPS1_P10MPI_Status",                              \
       (MPI_Request * request, MPI_Status * status), (request, status))                            \
  HOOK(int, return, waitall, OF_SMPI "7Request7waitallEiPPS1_P10MPI_Status",                       \
       (int count, MPI_Request *requests, MPI_Status *statuses), (count, requests, statuses))      \
  HOOK(int, return, waitany, OF_SMPI "7Request7waitanyEiPPS1_P10MPI_Status",                       \
       (int count, MPI_Request *requests, MPI_Status *status), (count, requests, status))          \
  HOOK(void, , unref, OF_SMPI "7Request5unrefEPPS1_", (MPI_Request * request), (request))          \
  HOOK(void, , iprobe, OF_SMPI "7Request6iprobeEiiPNS0_4CommEPiP10MPI_Status",                     \
       (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status),                          \
       (from, tag, comm, flag, status))                                                            \
  HOOK(int, return, comm_rank, CONST_OF_SMPI "4Comm4rankEv", (MPI_Comm comm), (comm))              \
  HOOK(int, return, comm_size, CONST_OF_SMPI "4Comm4sizeEv", (MPI_Comm comm), (comm))              \
  HOOK(void, , init_smp, OF_SMPI "4Comm8init_smpEv", (MPI_Comm comm), (comm))                      \
  HOOK(MPI_Comm, return, leaders_comm, CONST_OF_SMPI "4Comm16get_leaders_commEv", (MPI_Comm comm), \
       (comm))                                                                                     \
  HOOK(MPI_Comm, return, intra_comm, CONST_OF_SMPI "4Comm14get_intra_commEv", (MPI_Comm comm),     \
       (comm))                                                                                     \
  HOOK(int *, return, leaders_map, CONST_OF_SMPI "4Comm15get_leaders_mapEv", (MPI_Comm comm),      \
       (comm))                                                                                     \
  HOOK(int *, return, ranks_of_nodes, CONST_OF_SMPI "4Comm19get_non_uniform_mapEv",                \
       (MPI_Comm comm), (comm))                                                                    \
  HOOK(int, return, is_uniform, CONST_OF_SMPI "4Comm10is_uniformEv", (MPI_Comm comm), (comm))      \
  HOOK(int, return, is_blocked, CONST_OF_SMPI "4Comm10is_blockedEv", (MPI_Comm comm), (comm))      \
  HOOK(int, return, is_smp_comm, CONST_OF_SMPI "4Comm11is_smp_commEv", (MPI_Comm comm), (comm))    \
  HOOK(MPI_Group, return, group, OF_SMPI "4Comm5groupEv", (MPI_Comm comm), (comm))                 \
  HOOK(int, return, group_rank, CONST_OF_SMPI "5Group4rankEl", (MPI_Group group, long actor),      \
       (group, actor))                                                                             \
  HOOK(void *, return, nbc_requests, CONST_OF_SMPI "7Request16get_nbc_requestsEv",                 \
       (MPI_Request * *vector, MPI_Request request), (vector, request))                            \
  HOOK(int, return, create_indexed, OF_SMPI "8Datatype14create_indexedEiPKiS3_PS1_PS4_",           \
       (int count, const int *lengths, const int *places, MPI_Datatype old, MPI_Datatype *made),   \
       (count, lengths, places, old, made))                                                        \
  HOOK(int, return, copy_items, OF_SMPI "8Datatype4copyEPKviPS1_PviS4_",                           \
       (const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,          \
        MPI_Datatype to_type),                                                                     \
       (from, from_count, from_type, to, to_count, to_type))                                       \
  HOOK(void, , apply, CONST_OF_SMPI "2Op5applyEPKvPvPKiPNS0_8DatatypeE",                           \
       (MPI_Op op, const void *before, void *into, const int *count, MPI_Datatype type),           \
       (op, before, into, count, type))                                                            \
  HOOK(void, , unref_type, OF_SMPI "8Datatype5unrefEPS1_", (MPI_Datatype type), (type))            \
  HOOK(void, , window, OF_SMPI "3WinC1EPvliPNS0_4InfoEPNS0_4CommEbb",                              \
       (MPI_Win window, void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,         \
        bool allocated, bool dynamic),                                                             \
       (window, base, size, unit, info, comm, allocated, dynamic))                                 \
  HOOK(void, , request, OF_SMPI "7RequestC1EPKviPNS0_8DatatypeElliPNS0_4CommEjPNS0_2OpE",          \
       (MPI_Request request, const void *buffer, int count, MPI_Datatype type, long from, long to, \
        int tag, MPI_Comm comm, unsigned flags, MPI_Op op),                                        \
       (request, buffer, count, type, from, to, tag, comm, flags, op))                             \
  HOOK(void, , start_nbc, OF_SMPI "7Request18start_nbc_requestsESt6vectorIPS1_SaIS3_EE",           \
       (MPI_Request request, MPI_Request * *vector), (request, vector))                            \
  HOOK(int, return, ireduce,                                                                       \
       OF_SMPI "5colls7ireduceEPKvPviPNS0_8DatatypeEPNS0_2OpEiPNS0_4CommEPPNS0_7RequestEi",        \
       (const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, int root,              \
        MPI_Comm comm, MPI_Request *request, int external),                                        \
       (out, in, count, type, op, root, comm, request, external))

/* Holds the layer's functions that replace SMPI's. */
#define HOOK(RESULT, RETURN, NAME, SYMBOL, PARAMETERS, ARGUMENTS) RESULT(*NAME) PARAMETERS;
struct smpi_hooks {
  bool (*inside)(void); /* returns whether an algorithm runs for the calling rank */
  SMPI_HOOKS(HOOK)
};
#undef HOOK

/* Sets the functions, which the caller keeps. It must be called once. Returns false if this library
 * was not preloaded, so that no call reaches it. */
bool smpi_hooks_set(const struct smpi_hooks *);

#endif
