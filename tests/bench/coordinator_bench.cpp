// What rank 0 of Horovod does for one request of one rank while it negotiates, and for one message of MPI: the loop of
// its coordinator, rebuilt from what the sources describe (horovod/common/operations.cc up to 0.17, then controller.cc
// and mpi_controller.cc), with none of their code.
//
//   mpirun -n 2 build/release/tests/coordinator_bench [RANKS [TENSORS [ROUNDS]]]
//   mpirun -n 2 --mca btl tcp,self build/release/tests/coordinator_bench      the same over TCP
//
// Four numbers, medians over the rounds with the least and the most:
//   request    from 0.13.3: read from a list that a rank has sent, counted under the tensor's name, and compared
//              with the other ranks' when the last one is there
//   list       a list without requests is read, too
//   received   before 0.13.3: one message per request is waited for (probe), received and counted likewise
//   sent       one message to one rank
//
// Rank 1 stands for all the others: what a message costs rank 0 does not depend on who has sent it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "bench/coordinator.hpp"

#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include <mpi.h>

namespace {

using namespace farandole::bench;

struct Job {
  int ranks;
  int tensors;
  int rounds;
};

/// As TensorFlow names the gradients of a ResNet.
Request request_of(int rank, int tensor) {
  const std::string place = "block" + std::to_string(tensor % 4) + "_unit_" + std::to_string(tensor);
  const std::string name =
      "HorovodAllreduce_gradients_resnet_v1_101_" + place + "_conv2_FusedBatchNorm_grad_tuple_control_dependency_1_0";
  return {rank, 0, 6, 0, rank % 8, name, {3, 3, 256, 256}};
}

/// Of this process alone: others on the machine do not count.
double processor_microseconds() {
  return 1e6 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double microseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::micro>(Clock::now() - from).count();
}

struct Summary {
  double median;
  double least;
  double most;
};

Summary summary(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back()};
}

void print(const char* what, const Summary& time) {
  std::printf("%-9s %8.3f us  (%.3f to %.3f)\n", what, time.median, time.least, time.most);
}

/// Requests are read rank by rank, counted, and answered.
double negotiate(const Job& job, const std::vector<Bytes>& lists) {
  Coordinator coordinator(job.ranks);
  const double begin = processor_microseconds();
  std::vector<std::vector<Request>> read;
  for (const Bytes& list : lists) read.push_back(read_list(list.data()));
  std::vector<std::string> ready;
  for (const std::vector<Request>& requests : read) {
    for (const Request& request : requests) {
      if (coordinator.count(request)) ready.push_back(request.name);
    }
  }
  std::vector<Response> responses;
  for (const std::string& name : ready) responses.push_back(coordinator.respond(name));
  read.clear();
  return processor_microseconds() - begin;
}

std::vector<Bytes> lists_of(const Job& job, int tensors) {
  std::vector<Bytes> lists;
  for (int rank = 0; rank < job.ranks; ++rank) {
    std::vector<Request> requests;
    for (int tensor = 0; tensor < tensors; ++tensor) requests.push_back(request_of(rank, tensor));
    lists.push_back(list_of(requests));
  }
  return lists;
}

constexpr int tag = 1;

/// One message for each request: rank 1 sends what all others would.
double receive(const Job& job) {
  Coordinator coordinator(job.ranks - 1);
  const auto begin = Clock::now();
  int ready = 0;
  for (int left = (job.ranks - 1) * job.tensors; left > 0; --left) {
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    int length = 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    Bytes bytes(static_cast<std::size_t>(length));
    MPI_Recv(bytes.data(), length, MPI_BYTE, status.MPI_SOURCE, tag, MPI_COMM_WORLD, &status);
    const std::string text(bytes.data(), bytes.size());
    Request request = read_request(text.data());
    request.rank %= job.ranks - 1;
    if (coordinator.count(request)) {
      coordinator.respond(request.name);
      ++ready;
    }
  }
  const double time = microseconds(begin);
  if (ready != job.tensors) std::abort();
  return time;
}

void send(const Job& job) {
  for (int rank = 1; rank < job.ranks; ++rank) {
    for (int tensor = 0; tensor < job.tensors; ++tensor) {
      Bytes bytes;
      put_request(bytes, request_of(rank, tensor));
      MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    }
  }
}

/// A response names the device of every rank.
double respond_to_all(const Job& job, int messages) {
  const Bytes response(static_cast<std::size_t>(128 + 4 * job.ranks));
  const auto begin = Clock::now();
  for (int i = 0; i < messages; ++i) {
    MPI_Send(response.data(), static_cast<int>(response.size()), MPI_BYTE, 1, tag, MPI_COMM_WORLD);
  }
  return microseconds(begin);
}

void drain(const Job& job, int messages) {
  Bytes response(static_cast<std::size_t>(128 + 4 * job.ranks));
  for (int i = 0; i < messages; ++i) {
    MPI_Recv(response.data(), static_cast<int>(response.size()), MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

void measure_reading(const Job& job) {
  std::vector<double> requests;
  std::vector<double> lists;
  const auto full = lists_of(job, job.tensors);
  const auto empty = lists_of(job, 0);
  for (int round = 0; round < job.rounds; ++round) {
    requests.push_back(negotiate(job, full) / (job.ranks * job.tensors));
    lists.push_back(negotiate(job, empty) / job.ranks);
  }
  print("request", summary(requests));
  print("list", summary(lists));
}

void measure_messages(const Job& job, int rank) {
  constexpr int messages = 4096;
  std::vector<double> received;
  std::vector<double> sent;
  for (int round = 0; round < job.rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) received.push_back(receive(job) / ((job.ranks - 1) * job.tensors));
    if (rank == 1) send(job);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) sent.push_back(respond_to_all(job, messages) / messages);
    if (rank == 1) drain(job, messages);
  }
  if (rank == 0) print("received", summary(received));
  if (rank == 0) print("sent", summary(sent));
}

int number(int argc, char** argv, int index, int otherwise) {
  return argc > index ? std::max(2, std::atoi(argv[index])) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Job job{number(argc, argv, 1, 512), number(argc, argv, 2, 314), number(argc, argv, 3, 15)};
  if (rank == 0) {
    std::printf("%d ranks, %d tensors, %d rounds\n", job.ranks, job.tensors, job.rounds);
    measure_reading(job);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (size > 1) measure_messages(job, rank);
  MPI_Finalize();
}
