// The plug-in: see plugin.h. One file over the C interface of MPI, compiled once for each MPI.
#include "plugin.h"

#include <mpi.h>

#include <climits>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

struct State {
  MPI_Comm communicator = MPI_COMM_NULL;
  bool began = false;                 // MPI was initialized here: end() finalizes it
  std::vector<MPI_Request> requests;  // by ticket
  std::vector<int> unused;            // tickets
  char problem[MPI_MAX_ERROR_STRING + 1] = "";
};

State& of(void* state) { return *static_cast<State*>(state); }

/// 0, or -1 with the text of the error.
int checked(State& s, int code) {
  if (code == MPI_SUCCESS) return 0;
  int length = 0;
  if (MPI_Error_string(code, s.problem, &length) != MPI_SUCCESS) length = 0;
  s.problem[length] = '\0';
  return -1;
}

void* begin(int world, int communicator, int* rank, int* ranks) {
  auto* const s = new (std::nothrow) State;
  if (s == nullptr) return nullptr;
  int initialized = 0, provided = 0;
  MPI_Initialized(&initialized);
  if (!initialized) {
    if (!world || MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != 0) {
      delete s;
      return nullptr;
    }
    s->began = true;
  }
  // A communicator of our own: no message of the program is taken for one of ours.
  if (MPI_Comm_dup(world ? MPI_COMM_WORLD : MPI_Comm_f2c(communicator), &s->communicator) != 0 ||
      MPI_Comm_set_errhandler(s->communicator, MPI_ERRORS_RETURN) != 0 ||
      MPI_Comm_rank(s->communicator, rank) != 0 || MPI_Comm_size(s->communicator, ranks) != 0) {
    delete s;
    return nullptr;
  }
  return s;
}

int neighbours(void* state, int64_t key) {
  State& s = of(state);
  MPI_Comm machine = MPI_COMM_NULL, alike = MPI_COMM_NULL;
  int count = 1;
  if (checked(s, MPI_Comm_split_type(s.communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                     &machine)) != 0 ||
      checked(s, MPI_Comm_split(machine, static_cast<int>(key & INT_MAX), 0, &alike)) != 0 ||
      checked(s, MPI_Comm_size(alike, &count)) != 0)
    return -1;
  MPI_Comm_free(&alike);
  MPI_Comm_free(&machine);
  return count;
}

int ticket_of(State& s) {
  if (s.unused.empty()) {
    s.requests.push_back(MPI_REQUEST_NULL);
    return static_cast<int>(s.requests.size()) - 1;
  }
  const int ticket = s.unused.back();
  s.unused.pop_back();
  return ticket;
}

/// The lines as one element of a type. A line may have more bytes than an int counts.
int type_of(State& s, const TesseraMpiLines& lines, MPI_Datatype* out) {
  constexpr int64_t kChunk = 1 << 30;
  const auto chunks = static_cast<int>(lines.bytes / kChunk);
  const auto rest = static_cast<int>(lines.bytes % kChunk);
  MPI_Datatype line = MPI_DATATYPE_NULL, chunk = MPI_DATATYPE_NULL;
  if (checked(s, MPI_Type_contiguous(static_cast<int>(kChunk), MPI_BYTE, &chunk)) != 0) return -1;
  const int counts[] = {chunks, rest};
  const MPI_Aint places[] = {0, chunks * static_cast<MPI_Aint>(kChunk)};
  const MPI_Datatype types[] = {chunk, MPI_BYTE};
  const int first = chunks == 0 ? 1 : 0;
  if (checked(s, MPI_Type_create_struct(2 - first, counts + first, places + first, types + first,
                                        &line)) != 0 ||
      checked(s, MPI_Type_create_hvector(static_cast<int>(lines.lines), 1, lines.stride, line,
                                         out)) != 0 ||
      checked(s, MPI_Type_commit(out)) != 0)
    return -1;
  MPI_Type_free(&chunk);
  MPI_Type_free(&line);
  return 0;
}

/// Calls post(bytes, count, type, request).
template <class Post>
int posted(State& s, const TesseraMpiLines& lines, const Post& post) {
  const int ticket = ticket_of(s);
  MPI_Request* const request = &s.requests[static_cast<std::size_t>(ticket)];
  const bool together = lines.lines == 1 || lines.bytes == lines.stride;
  const int64_t all = lines.lines * lines.bytes;
  if (together && all <= INT_MAX)
    return checked(s, post(lines.first, static_cast<int>(all), MPI_BYTE, request)) != 0 ? -1
                                                                                        : ticket;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (type_of(s, lines, &type) != 0) return -1;
  const int code = checked(s, post(lines.first, 1, type, request));
  MPI_Type_free(&type);
  return code != 0 ? -1 : ticket;
}

int send(void* state, const TesseraMpiLines* from, int to, int tag) {
  State& s = of(state);
  return posted(s, *from, [&](void* first, int count, MPI_Datatype type, MPI_Request* request) {
    return MPI_Isend(first, count, type, to, tag, s.communicator, request);
  });
}

int receive(void* state, const TesseraMpiLines* to, int from, int tag) {
  State& s = of(state);
  return posted(s, *to, [&](void* first, int count, MPI_Datatype type, MPI_Request* request) {
    return MPI_Irecv(first, count, type, from, tag, s.communicator, request);
  });
}

int barrier(void* state) {
  State& s = of(state);
  const int ticket = ticket_of(s);
  return checked(s, MPI_Ibarrier(s.communicator, &s.requests[static_cast<std::size_t>(ticket)])) !=
                 0
             ? -1
             : ticket;
}

int is_done(void* state, int ticket) {
  State& s = of(state);
  int done = 0;
  MPI_Request& request = s.requests[static_cast<std::size_t>(ticket)];
  if (checked(s, MPI_Test(&request, &done, MPI_STATUS_IGNORE)) != 0) return -1;
  if (done) s.unused.push_back(ticket);
  return done;
}

int waiting(void* state, int tag, int* from) {
  State& s = of(state);
  int found = 0, bytes = 0;
  MPI_Status status;
  if (checked(s, MPI_Iprobe(MPI_ANY_SOURCE, tag, s.communicator, &found, &status)) != 0 || !found)
    return -1;
  *from = status.MPI_SOURCE;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  return bytes;
}

int least(void* state, int64_t* value) {
  State& s = of(state);
  return checked(s, MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INT64_T, MPI_MIN, s.communicator));
}

int broadcast(void* state, void* bytes, int64_t size) {
  State& s = of(state);
  return checked(s, MPI_Bcast(bytes, static_cast<int>(size), MPI_BYTE, 0, s.communicator));
}

const char* problem(void* state) { return of(state).problem; }

void abort_all(void* state, int code) {
  MPI_Abort(of(state).communicator, code);
  std::_Exit(code);
}

void end(void* state) {
  State* const s = static_cast<State*>(state);
  MPI_Comm_free(&s->communicator);
  if (s->began) MPI_Finalize();
  delete s;
}

}  // namespace

const TesseraMpiCalls* tessera_mpi() {
  static const TesseraMpiCalls table = {
      TESSERA_MPI_VERSION, begin,   neighbours, send, receive, barrier, is_done, waiting, least,
      broadcast,           problem, abort_all,  end};
  return &table;
}
