// An MPI program that says how long collectives take, to be compiled with smpicc and run under smpirun.
//
// usage: collectives OPERATION...  -  BYTES...      operations: allreduce, allgather, broadcast, alltoall
// A line for each size and operation: "OPERATION BYTES SECONDS", until the last rank is done; all ranks begin together.
// Bytes as nccl-tests counts them, in multiples of 4 times the number of ranks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

static void wait_until(double when) {
  const double left = when - MPI_Wtime();
  struct timespec time;
  time.tv_sec = (time_t)left;
  time.tv_nsec = (long)((left - (double)time.tv_sec) * 1e9);
  nanosleep(&time, NULL);
}

static void run(const char* operation, float* send, float* receive, int count, int share) {
  if (strcmp(operation, "allreduce") == 0) {
    MPI_Allreduce(send, receive, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(operation, "allgather") == 0) {
    MPI_Allgather(send, share, MPI_FLOAT, receive, share, MPI_FLOAT, MPI_COMM_WORLD);
  } else if (strcmp(operation, "alltoall") == 0) {
    MPI_Alltoall(send, share, MPI_FLOAT, receive, share, MPI_FLOAT, MPI_COMM_WORLD);
  } else {
    MPI_Bcast(send, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 1, sizes = 1;
  double begin = 1000;  // simulated seconds, and so long after one another
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  while (sizes < argc && strcmp(argv[sizes], "-") != 0) ++sizes;
  for (int size = sizes + 1; size < argc; ++size) {
    const int count = atoi(argv[size]) / (int)sizeof(float);
    float* send = calloc((size_t)count, sizeof(float));
    float* receive = calloc((size_t)count, sizeof(float));
    for (int operation = 1; operation < sizes; ++operation, begin += 1000) {
      double taken = 0, longest = 0;
      wait_until(begin);
      run(argv[operation], send, receive, count, count / ranks);
      taken = MPI_Wtime() - begin;
      MPI_Reduce(&taken, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      if (rank == 0) printf("%s %s %.17g\n", argv[operation], argv[size], longest);
    }
    free(send);
    free(receive);
  }
  MPI_Finalize();
  return 0;
}
