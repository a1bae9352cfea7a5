/* Describes the recording of the calls of one rank of a program. The layer writes it (record.c),
 * and the program `replay` repeats the calls (scenarios/programs/replay.c). A recording is a file
 * of 32-bit words of this machine. It begins with struct recording_head. After that it has for each
 * call the call's number, the count of its words, and these words.
 *
 * Each letter of a call's signature gives one word, except for w, A, T, V and G, which give lists,
 * and D and S, which give nothing:
 *
 *     b, k     a buffer that is sent, one that is filled: its size in bytes, -1 for MPI_IN_PLACE,
 *              or -2 if this rank has none
 *     a        a buffer that is sent and filled
 *     n        a count
 *     t, o     a datatype, an operation: its place in the lists below. A datatype of the program's
 *              own is -1 minus its size in bytes; an operation of the program's own is -1 if it
 *              commutes, else -2
 *     r, s     a rank, the rank of a source
 *     g, i     a tag, any other int
 *     c, C, x  a communicator, one that is made, one that is freed: numbers in the order of making
 *     q, Q, f  a request, one that is made, one that is freed: numbers, which are used again
 *     w        requests, as many as the count before says: their count, then their numbers
 *     A        counts, one for each block of the call: their number, then the counts
 *     T        datatypes, one for each block of the call
 *     V        ints, as many as the int before says or, without such an int, as the grid has
 *              dimensions
 *     G        the members of a group, as ranks of the program
 *     D, S     displacements and other arguments that are not needed, statuses: nothing
 */
#ifndef RECLINE_RECORDING_H
#define RECLINE_RECORDING_H

#include <stdint.h>

enum {
  RECORDING_FORMAT = 3,
  BUFFER_IN_PLACE = -1,
  BUFFER_NONE = -2,
  HANDLE_NONE = -1,
  OP_COMMUTES = -1,
  OP_ORDERED = -2
};

/* Says what is known of the program, and the largest sizes in the recording. The program `replay`
 * makes memory of these sizes before MPI_Init. */
struct recording_head {
  int32_t format, ranks;
  /* 1 if the program names a function for synchronous sends (receipt.h), else 0 */
  int32_t synchronous;
  /* largest sizes of buffers in bytes; `collected` is for collectives */
  int32_t sent, received, collected, in_place;
  int32_t requests, comms;
  /* largest number of counts in a call; number of sizes of the program's own datatypes */
  int32_t blocks, types;
};

#define RECORDED_CALLS(CALL)                                                                       \
  CALL(Send, "bntrgc")                                                                             \
  CALL(Bsend, "bntrgc")                                                                            \
  CALL(Rsend, "bntrgc")                                                                            \
  CALL(Ssend, "bntrgc")                                                                            \
  CALL(Isend, "bntrgcQ")                                                                           \
  CALL(Ibsend, "bntrgcQ")                                                                          \
  CALL(Irsend, "bntrgcQ")                                                                          \
  CALL(Issend, "bntrgcQ")                                                                          \
  CALL(Recv, "kntsgcS")                                                                            \
  CALL(Irecv, "kntsgcQ")                                                                           \
  CALL(Sendrecv, "bntrgkntsgcS")                                                                   \
  CALL(Sendrecv_replace, "antrgsgcS")                                                              \
  CALL(Probe, "sgcS")                                                                              \
  CALL(Send_init, "bntrgcQ")                                                                       \
  CALL(Bsend_init, "bntrgcQ")                                                                      \
  CALL(Rsend_init, "bntrgcQ")                                                                      \
  CALL(Ssend_init, "bntrgcQ")                                                                      \
  CALL(Recv_init, "kntsgcQ")                                                                       \
  CALL(Start, "q")                                                                                 \
  CALL(Startall, "nw")                                                                             \
  CALL(Wait, "qS")                                                                                 \
  CALL(Waitall, "nwS")                                                                             \
  CALL(Request_free, "f")                                                                          \
  CALL(Barrier, "c")                                                                               \
  CALL(Ibarrier, "cQ")                                                                             \
  CALL(Bcast, "antrc")                                                                             \
  CALL(Ibcast, "antrcQ")                                                                           \
  CALL(Reduce, "bkntorc")                                                                          \
  CALL(Ireduce, "bkntorcQ")                                                                        \
  CALL(Allreduce, "bkntoc")                                                                        \
  CALL(Iallreduce, "bkntocQ")                                                                      \
  CALL(Scan, "bkntoc")                                                                             \
  CALL(Iscan, "bkntocQ")                                                                           \
  CALL(Exscan, "bkntoc")                                                                           \
  CALL(Iexscan, "bkntocQ")                                                                         \
  CALL(Gather, "bntkntrc")                                                                         \
  CALL(Igather, "bntkntrcQ")                                                                       \
  CALL(Gatherv, "bntkADtrc")                                                                       \
  CALL(Igatherv, "bntkADtrcQ")                                                                     \
  CALL(Scatter, "bntkntrc")                                                                        \
  CALL(Iscatter, "bntkntrcQ")                                                                      \
  CALL(Scatterv, "bADtkntrc")                                                                      \
  CALL(Iscatterv, "bADtkntrcQ")                                                                    \
  CALL(Allgather, "bntkntc")                                                                       \
  CALL(Iallgather, "bntkntcQ")                                                                     \
  CALL(Allgatherv, "bntkADtc")                                                                     \
  CALL(Iallgatherv, "bntkADtcQ")                                                                   \
  CALL(Alltoall, "bntkntc")                                                                        \
  CALL(Ialltoall, "bntkntcQ")                                                                      \
  CALL(Alltoallv, "bADtkADtc")                                                                     \
  CALL(Ialltoallv, "bADtkADtcQ")                                                                   \
  CALL(Alltoallw, "bADTkADTc")                                                                     \
  CALL(Ialltoallw, "bADTkADTcQ")                                                                   \
  CALL(Reduce_scatter, "bkAtoc")                                                                   \
  CALL(Ireduce_scatter, "bkAtocQ")                                                                 \
  CALL(Reduce_scatter_block, "bkntoc")                                                             \
  CALL(Ireduce_scatter_block, "bkntocQ")                                                           \
  CALL(Neighbor_allgather, "bntkntc")                                                              \
  CALL(Ineighbor_allgather, "bntkntcQ")                                                            \
  CALL(Neighbor_allgatherv, "bntkADtc")                                                            \
  CALL(Ineighbor_allgatherv, "bntkADtcQ")                                                          \
  CALL(Neighbor_alltoall, "bntkntc")                                                               \
  CALL(Ineighbor_alltoall, "bntkntcQ")                                                             \
  CALL(Neighbor_alltoallv, "bADtkADtc")                                                            \
  CALL(Ineighbor_alltoallv, "bADtkADtcQ")                                                          \
  CALL(Neighbor_alltoallw, "bADTkADTc")                                                            \
  CALL(Ineighbor_alltoallw, "bADTkADTcQ")                                                          \
  CALL(Comm_dup, "cC")                                                                             \
  CALL(Comm_dup_with_info, "cDC")                                                                  \
  CALL(Comm_split, "ciiC")                                                                         \
  CALL(Comm_split_type, "ciiDC")                                                                   \
  CALL(Comm_create, "cGC")                                                                         \
  CALL(Comm_create_group, "cGiC")                                                                  \
  CALL(Cart_create, "ciVViC")                                                                      \
  CALL(Cart_sub, "cVC")                                                                            \
  CALL(Dist_graph_create_adjacent, "ciVDiVDDiC")                                                   \
  CALL(Comm_free, "x")                                                                             \
  CALL(Comm_disconnect, "x")

/* Lists the recorded actions that are no calls of MPI. The words of a double or of a 64-bit number
 * are its halves, the low half first. */
#define RECORDED_DEEDS(DEED)                                                                       \
  DEED(smpi_execute)                                                                               \
  DEED(smpi_execute_benched)                                                                       \
  DEED(smpi_execute_flops)                                                                         \
  DEED(smpi_execute_flops_benched)                                                                 \
  DEED(clock)                                                                                      \
  DEED(place)                                                                                      \
  DEED(request)                                                                                    \
  DEED(image_bytes)                                                                                \
  DEED(iteration_bytes)

#define RECORDED_NUMBER(NAME, SIGNATURE) DEED_##NAME,
#define RECORDED_DEED(NAME) DEED_##NAME,
enum deed { RECORDED_CALLS(RECORDED_NUMBER) RECORDED_DEEDS(RECORDED_DEED) DEEDS };

/* RECORDED_TYPES lists predefined datatypes and RECORDED_OPS predefined operations, to initialize
 * arrays. */
#define RECORDED_TYPES                                                                             \
  MPI_BYTE, MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_SIGNED_CHAR,                \
      MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,                      \
      MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_BOOL, MPI_INT8_T,      \
      MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T,              \
      MPI_UINT64_T, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_AINT, MPI_FLOAT_INT,            \
      MPI_LONG_INT, MPI_DOUBLE_INT, MPI_2INT, MPI_REAL, MPI_REAL4, MPI_REAL8, MPI_COMPLEX8,        \
      MPI_COMPLEX16, MPI_INTEGER4, MPI_INTEGER8, MPI_2DOUBLE, MPI_PACKED
#define RECORDED_OPS                                                                               \
  MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR,   \
      MPI_MAXLOC, MPI_MINLOC

#endif
