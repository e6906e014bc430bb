/* What the plug-in for one MPI exports: tessera_mpi(), a table of calls over one communicator. Only
 * the plug-in knows mpi.h, so the command and the library need no MPI and load it under a launcher.
 * Only the C language, so that any compiler may build it. */
#ifndef TESSERA_MPI_PLUGIN_H
#define TESSERA_MPI_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TESSERA_MPI_VERSION = 1 };

/* `lines` runs of `bytes` bytes, `stride` bytes apart. */
struct TesseraMpiLines {
  void* first;
  int64_t lines, bytes, stride;
};

/* A call that fails returns a negative number; problem() says why. Tickets are not negative. */
struct TesseraMpiCalls {
  int version;
  /* Begins on a communicator, given as the integer of MPI_Comm_c2f: on MPI_COMM_WORLD, after
   * MPI_Init where that is needed, if `world` is not 0. The state is for all further calls. */
  void* (*begin)(int world, int communicator, int* rank, int* ranks);
  /* The ranks on this machine that have this key, this one included. All call it together. */
  int (*neighbours)(void* state, int64_t key);
  int (*send)(void* state, const struct TesseraMpiLines* from, int to, int tag);
  int (*receive)(void* state, const struct TesseraMpiLines* to, int from, int tag);
  int (*barrier)(void* state);
  /* 1: done, and the ticket is used up; 0: not yet. */
  int (*is_done)(void* state, int ticket);
  /* The bytes of a message that waits with this tag, and its sender; -1 if there is none. */
  int (*waiting)(void* state, int tag, int* from);
  int (*least)(void* state, int64_t* value);
  int (*broadcast)(void* state, void* bytes, int64_t size);
  const char* (*problem)(void* state);
  /* Ends all ranks. */
  void (*abort)(void* state, int code);
  /* Frees the state; ends MPI if begin() began it. All call it together. */
  void (*end)(void* state);
};

/* Returns the same table for each call. */
#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
const struct TesseraMpiCalls*
tessera_mpi(void);

#ifdef __cplusplus
}
#endif

#endif
