// What rank 0 of Horovod does for one request of one rank while it negotiates, and for one message of MPI: the loop of
// its coordinator, rebuilt from what the sources describe (horovod/common/operations.cc up to 0.17, then controller.cc
// and mpi_controller.cc), with none of their code.
//
//   mpirun -n 2 build/release/tests/coordinator_bench [RANKS [TENSORS [ROUNDS]]]
//   mpirun -n 2 --mca btl tcp,self build/release/tests/coordinator_bench      the same over TCP
//
// Four numbers, medians over the rounds with the least and the most:
//   request    from 0.13.3: read from a list that a rank has sent, counted under the tensor's name, and compared with
//   the
//              other ranks' when the last one is there
//   list       a list without requests is read, too
//   received   before 0.13.3: one message per request is waited for (probe), received and counted likewise
//   sent       one message to one rank
//
// Rank 1 stands for all the others: what a message costs rank 0 does not hang on who has sent it. A request is a table
// of offsets as FlatBuffers lay it out: rank, type, operation, root, device, name and a shape of four numbers.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include <mpi.h>

namespace {

using Bytes = std::vector<char>;
using Clock = std::chrono::steady_clock;

struct Request {
  std::int32_t rank = 0;
  std::int32_t kind = 0;
  std::int32_t type = 0;
  std::int32_t root = 0;
  std::int32_t device = 0;
  std::string name;
  std::vector<std::int64_t> shape;
};

template <class T>
void put(Bytes& bytes, T value) {
  const char* begin = reinterpret_cast<const char*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

template <class T>
T get(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// A table: where its fields are, then the fields.
void put_request(Bytes& bytes, const Request& request) {
  const std::size_t begin = bytes.size();
  for (std::uint16_t field = 0; field < 5; ++field)
    put<std::uint16_t>(bytes, static_cast<std::uint16_t>(14 + 4 * field));
  put<std::uint16_t>(bytes, 34);
  put<std::uint16_t>(bytes, static_cast<std::uint16_t>(38 + request.name.size()));
  for (const std::int32_t number : {request.rank, request.kind, request.type, request.root, request.device}) {
    put(bytes, number);
  }
  put(bytes, static_cast<std::uint32_t>(request.name.size()));
  bytes.insert(bytes.end(), request.name.begin(), request.name.end());
  put(bytes, static_cast<std::uint32_t>(request.shape.size()));
  for (const std::int64_t length : request.shape) put(bytes, length);
  while ((bytes.size() - begin) % 8 != 0) bytes.push_back(0);
}

Request read_request(const char* table) {
  const auto field = [table](int index) { return table + get<std::uint16_t>(table + 2 * index); };
  Request request;
  request.rank = get<std::int32_t>(field(0));
  request.kind = get<std::int32_t>(field(1));
  request.type = get<std::int32_t>(field(2));
  request.root = get<std::int32_t>(field(3));
  request.device = get<std::int32_t>(field(4));
  const char* name = field(5);
  request.name.assign(name + 4, get<std::uint32_t>(name));
  const char* shape = field(6);
  const auto dimensions = get<std::uint32_t>(shape);
  for (std::uint32_t i = 0; i < dimensions; ++i) request.shape.push_back(get<std::int64_t>(shape + 4 + 8 * i));
  return request;
}

/// A list: how many, where each begins, and they.
Bytes list_of(const std::vector<Request>& requests) {
  Bytes bytes;
  put(bytes, static_cast<std::uint32_t>(requests.size()));
  bytes.resize(4 + 4 * requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto begin = static_cast<std::uint32_t>(bytes.size());
    std::memcpy(bytes.data() + 4 + 4 * i, &begin, sizeof begin);
    put_request(bytes, requests[i]);
  }
  return bytes;
}

std::vector<Request> read_list(const char* list) {
  std::vector<Request> requests;
  const auto count = get<std::uint32_t>(list);
  for (std::uint32_t i = 0; i < count; ++i)
    requests.push_back(read_request(list + get<std::uint32_t>(list + 4 + 4 * i)));
  return requests;
}

struct Response {
  std::string name;
  std::vector<std::int32_t> devices;
  std::string error;
};

class Coordinator {
 public:
  explicit Coordinator(int ranks) : ranks_(ranks) {}

  /// Whether all ranks have announced it.
  bool count(const Request& request) {
    auto found = table_.find(request.name);
    if (found == table_.end()) {
      std::vector<Request> requests;
      requests.reserve(static_cast<std::size_t>(ranks_));
      found = table_.emplace(request.name, std::make_tuple(std::move(requests), Clock::now())).first;
    }
    auto& requests = std::get<0>(found->second);
    requests.push_back(request);
    return static_cast<int>(requests.size()) == ranks_;
  }

  Response respond(const std::string& name) {
    const auto found = table_.find(name);
    const std::vector<Request>& requests = std::get<0>(found->second);
    Response response{name, std::vector<std::int32_t>(requests.size()), {}};
    const auto agree = [&](const std::function<bool(const Request&, const Request&)>& same) {
      for (std::size_t i = 1; i < requests.size(); ++i) {
        if (!same(requests.front(), requests[i])) response.error = "mismatch";
      }
    };
    agree([](const Request& a, const Request& b) { return a.type == b.type; });
    agree([](const Request& a, const Request& b) { return a.kind == b.kind; });
    agree([](const Request& a, const Request& b) { return a.shape == b.shape; });
    agree([](const Request& a, const Request& b) { return (a.device < 0) == (b.device < 0); });
    for (const Request& request : requests) response.devices[static_cast<std::size_t>(request.rank)] = request.device;
    table_.erase(found);
    return response;
  }

 private:
  int ranks_;
  std::unordered_map<std::string, std::tuple<std::vector<Request>, Clock::time_point>> table_;
};

struct Job {
  int ranks;
  int tensors;
  int rounds;
};

/// As TensorFlow names the gradients of a ResNet.
Request request_of(int rank, int tensor) {
  const std::string place = "block" + std::to_string(tensor % 4) + "_unit_" + std::to_string(tensor);
  return {
      rank,
      0,
      6,
      0,
      rank % 8,
      "HorovodAllreduce_gradients_resnet_v1_101_" + place + "_conv2_FusedBatchNorm_grad_tuple_control_dependency_1_0",
      {3, 3, 256, 256}};
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
