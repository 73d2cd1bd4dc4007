#include "backend/bench.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "backend/data_place.hpp"
#include "backend/host_description.hpp"
#include "backend/interpreter.hpp"
#include "collective/bus_factor.hpp"
#include "collective/chunk_sizes.hpp"
#include "config/error.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace backend {
namespace {

/// Segments, where a parameter server cuts its shards into keys of a fixed size.
int segments_of(const BenchRequest& request, const Shape& shape, Bytes size) {
  if (request.segments > 0 || request.key == Bytes(0)) return request.segments;
  return keys_in(size / request.build(shape).servers, request.key);
}

Schedule layout_of(const BenchRequest& request, const Session& session, int ranks, Bytes size) {
  if (!request.build) return plain_layout(request.operation, ranks, request.root);
  Shape shape(ranks, request.root);
  shape.ranks_per_node = session.ranks_per_node();
  shape.servers = request.servers;
  shape.segments = segments_of(request, shape, size);
  return request.build(shape);
}

CollectiveRun run_of(const BenchRequest& request, Session& session, const Schedule& layout, std::int64_t floats) {
  if (!request.build) return session.library(layout, floats);
  Endpoint& endpoint = session.endpoint();
  return [interpreter = Interpreter(program_of(layout, endpoint.rank(), floats), endpoint)](
             std::span<const float> /*in*/, std::span<float> out) mutable { interpreter.run(out); };
}

std::int64_t over_all_ranks(Endpoint& endpoint, std::int64_t own) {
  double sum = 0;
  for (const double of_a_rank : endpoint.allgather_scalar(static_cast<double>(own))) sum += of_a_rank;
  return static_cast<std::int64_t>(sum);
}

class Measurement {
 public:
  Measurement(const Schedule& layout, std::int64_t floats, Endpoint& endpoint)
      : layout_(layout), floats_(floats), endpoint_(endpoint) {
    const std::vector<float> data = test_data(layout, endpoint.rank(), floats);
    in_ = endpoint.place().allocate(data.size());
    out_ = endpoint.place().allocate(data.size());
    endpoint.place().upload(data, in_.span());
  }

  Seconds repeat(const CollectiveRun& run) {
    endpoint_.place().copy(in_.span(), out_.span());
    endpoint_.allgather_scalar(0);
    const Seconds own = endpoint_.place().time([&] { run(in_.span(), out_.span()); });
    return Seconds(std::ranges::max(endpoint_.allgather_scalar(own.si())));
  }

  /// Over all ranks.
  [[nodiscard]] std::int64_t wrong() const {
    std::vector<float> result(out_.size);
    endpoint_.place().download(out_.span(), result);
    return over_all_ranks(endpoint_, count_wrong(layout_, endpoint_.rank(), floats_, result));
  }

 private:
  const Schedule& layout_;
  std::int64_t floats_;
  Endpoint& endpoint_;
  Room in_;
  Room out_;
};

/// Warm-up and repetitions; one point of `floats`, whose bandwidth on the bus is `factor` times that of the algorithm.
template <class Request, class Repeat>
MeasuredPoint measured(const Request& request, std::int64_t floats, double factor, const Repeat& repeat) {
  for (int i = 0; i < request.warmup; ++i) repeat();
  MeasuredPoint point;
  const ProcessorLoad load;
  for (int i = 0; i < request.repetitions; ++i) point.repetitions.push_back(repeat());
  point.processors_busy = load.share();
  CollectivePoint& collective = point.collective;
  collective.bytes = Bytes(static_cast<double>(floats * static_cast<std::int64_t>(sizeof(float))));
  collective.time = median(point.repetitions);
  if (collective.time > Seconds(0)) collective.algorithm_bandwidth = collective.bytes / collective.time;
  collective.bus_bandwidth = collective.algorithm_bandwidth * factor;
  return point;
}

MeasuredPoint measure_collective(Session& session, const BenchRequest& request, Bytes size) {
  Endpoint& endpoint = session.endpoint();
  const std::int64_t floats = floats_in(size);
  const Schedule layout = layout_of(request, session, endpoint.ranks(), size);
  const CollectiveRun run = run_of(request, session, layout, floats);
  Measurement measurement(layout, floats, endpoint);
  const double factor = bus_factor(layout, 1.0 / std::max(layout.servers, 1));
  MeasuredPoint point = measured(request, floats, factor, [&] { return measurement.repeat(run); });
  point.collective.operation = name(request.operation);
  point.collective.algorithm = request.algorithm;
  point.collective.ranks = layout.ranks;
  point.collective.root = layout.root;
  point.collective.servers = layout.servers;
  point.wrong = measurement.wrong();
  return point;
}

/// So many at each size, with what all of them share.
template <class Request>
std::vector<MeasuredPoint> bench_sizes(Session& session, const std::string& backend, const Request& request, int nodes,
                                       MeasuredPoint (*measure)(Session&, const Request&, Bytes)) {
  std::vector<MeasuredPoint> points;
  for (const Bytes size : request.sizes) {
    MeasuredPoint& point = points.emplace_back(measure(session, request, size));
    point.backend = backend;
    point.nodes = nodes;
  }
  return points;
}

template <class Operation>
struct NamedOperation {
  Operation operation;
  const char* name;
};

template <class Operation, std::size_t n>
std::optional<Operation> operation_named(const std::array<NamedOperation<Operation>, n>& rows,
                                         const std::string& name) {
  const auto found = std::ranges::find(rows, name, &NamedOperation<Operation>::name);
  return found == rows.end() ? std::nullopt : std::optional(found->operation);
}

}  // namespace

Seconds median(std::vector<Seconds> times) {
  std::ranges::sort(times);
  const std::size_t half = times.size() / 2;
  return times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
}

std::int64_t floats_in(Bytes size) {
  const double floats = std::floor(size.si() / sizeof(float));
  if (floats > std::numeric_limits<int>::max()) {
    throw InputError("farandole: -e: expected less than 8 GiB, got " + format(size));
  }
  return static_cast<std::int64_t>(floats);
}

std::vector<BenchRequest> bench_requests(Operation operation, const std::string& algorithm, const BenchRequest& like) {
  std::vector<BenchRequest> requests;
  const auto add = [&](const std::string& name) -> BenchRequest& {
    BenchRequest& request = requests.emplace_back(like);
    request.operation = operation;
    request.algorithm = name;
    return request;
  };
  const bool wants_all = algorithm == "all";
  for (const Algorithm& row : algorithms()) {
    if (row.operation != operation || (!wants_all && row.name != algorithm)) continue;
    BenchRequest& request = add(row.name);
    request.build = row.build;
    request.key = row.key;
  }
  const bool has_library = operation != Operation::parameter_server;
  if (has_library && (wants_all || algorithm == library_algorithm)) add(library_algorithm);
  return requests;
}

std::vector<MeasuredPoint> bench(Session& session, const std::string& backend, const BenchRequest& request) {
  return bench_sizes(session, backend, request, session.nodes(), measure_collective);
}

namespace {

constexpr std::array local_operations{NamedOperation{LocalOperation::add, "add"},
                                      NamedOperation{LocalOperation::copy, "copy"}};

constexpr float each_element = 1;

/// Sums are small whole numbers, exact in floats.
class Work {
 public:
  Work(const LocalRequest& request, std::size_t floats, Endpoint& endpoint)
      : request_(request),
        endpoint_(endpoint),
        from_(endpoint.place().allocate(floats)),
        to_(endpoint.place().allocate(floats)) {
    endpoint.place().upload(std::vector<float>(floats, each_element), from_.span());
  }

  Seconds repeat() {
    ++done_;
    endpoint_.allgather_scalar(0);
    const Seconds own = endpoint_.place().time([this] { act(); });
    return Seconds(std::ranges::max(endpoint_.allgather_scalar(own.si())));
  }

  /// Over all ranks.
  [[nodiscard]] std::int64_t wrong() const {
    const float expected =
        request_.operation == LocalOperation::add ? each_element * static_cast<float>(done_) : each_element;
    std::vector<float> result(to_.size);
    endpoint_.place().download(to_.span(), result);
    const auto own = std::ranges::count_if(result, [&](float number) { return number != expected; });
    return over_all_ranks(endpoint_, own);
  }

 private:
  void act() {
    DataPlace& place = endpoint_.place();
    if (request_.operation == LocalOperation::add) return place.add(from_.span(), to_.span());
    place.copy(from_.span(), to_.span());
  }

  const LocalRequest& request_;
  Endpoint& endpoint_;
  Room from_;
  Room to_;
  int done_ = 0;
};

/// All of its processors are busy with it.
MeasuredPoint measure_local(Session& session, const LocalRequest& request, Bytes size) {
  const std::int64_t floats = floats_in(size);
  Work work(request, static_cast<std::size_t>(floats), session.endpoint());
  MeasuredPoint point = measured(request, floats, 1, [&] { return work.repeat(); });
  point.processors_busy.reset();
  point.wrong = work.wrong();
  point.collective.operation = name(request.operation);
  point.collective.ranks = session.endpoint().ranks();
  return point;
}

}  // namespace

std::string name(LocalOperation operation) {
  return std::ranges::find(local_operations, operation, &NamedOperation<LocalOperation>::operation)->name;
}

std::optional<LocalOperation> find_local_operation(const std::string& name) {
  return operation_named(local_operations, name);
}

std::vector<MeasuredPoint> bench(Session& session, const std::string& backend, const LocalRequest& request) {
  return bench_sizes(session, backend, request, session.nodes(), measure_local);
}

namespace {

constexpr std::array pair_operations{NamedOperation{PairOperation::pingpong, "pingpong"},
                                     NamedOperation{PairOperation::exchange, "exchange"}};

/// One rank's part; ranks that are in no pair have none.
class Pair {
 public:
  Pair(const PairRequest& request, std::size_t floats, Endpoint& endpoint)
      : request_(request),
        endpoint_(endpoint),
        nothing_(endpoint.place().allocate(floats)),
        out_(endpoint.place().allocate(floats)),
        in_(endpoint.place().allocate(floats)) {
    std::vector<float> numbers(floats);
    for (std::size_t i = 0; i < floats; ++i) numbers[i] = number(endpoint.rank(), i);
    endpoint.place().upload(numbers, out_.span());
  }

  Seconds repeat() {
    endpoint_.place().copy(nothing_.span(), in_.span());
    endpoint_.allgather_scalar(0);
    return share_of_rank_0(endpoint_.place().time([this] {
      if (takes_part()) act();
    }));
  }

  /// Over all ranks.
  [[nodiscard]] std::int64_t wrong() const {
    std::int64_t own = 0;
    std::vector<float> came(in_.size);
    endpoint_.place().download(in_.span(), came);
    for (std::size_t i = 0; takes_part() && i < came.size(); ++i) own += came[i] == number(other(), i) ? 0 : 1;
    return over_all_ranks(endpoint_, own);
  }

 private:
  static float number(int rank, std::size_t element) { return static_cast<float>(1 + rank + element % 13); }
  [[nodiscard]] bool takes_part() const { return endpoint_.rank() == 0 || endpoint_.rank() == request_.peer; }
  [[nodiscard]] int other() const { return endpoint_.rank() == 0 ? request_.peer : 0; }

  void act() {
    if (request_.operation == PairOperation::exchange) {
      endpoint_.receive(in_.span(), other());
      send_and_wait();
    } else if (endpoint_.rank() == 0) {
      send_and_wait();
      receive_and_wait();
    } else {
      receive_and_wait();
      send_and_wait();
    }
  }
  void send_and_wait() {
    endpoint_.send(out_.span(), other());
    endpoint_.wait();
  }
  void receive_and_wait() {
    endpoint_.receive(in_.span(), other());
    endpoint_.wait();
  }

  /// Both directions of an exchange must be over; of a round trip, half is one way.
  Seconds share_of_rank_0(Seconds time) {
    const std::vector<double> all = endpoint_.allgather_scalar(time.si());
    if (request_.operation == PairOperation::pingpong) return Seconds(all.front() / 2);
    return Seconds(std::ranges::max(all));
  }

  const PairRequest& request_;
  Endpoint& endpoint_;
  Room nothing_;
  Room out_;
  Room in_;
};

MeasuredPoint measure_pair(Session& session, const PairRequest& request, Bytes size) {
  const std::int64_t floats = floats_in(size);
  Pair pair(request, static_cast<std::size_t>(floats), session.endpoint());
  MeasuredPoint point = measured(request, floats, 1, [&] { return pair.repeat(); });
  point.wrong = pair.wrong();
  point.collective.operation = name(request.operation);
  point.collective.ranks = 2;
  return point;
}

}  // namespace

std::string name(PairOperation operation) {
  return std::ranges::find(pair_operations, operation, &NamedOperation<PairOperation>::operation)->name;
}

std::optional<PairOperation> find_pair_operation(const std::string& name) {
  return operation_named(pair_operations, name);
}

std::vector<MeasuredPoint> bench(Session& session, const std::string& backend, const PairRequest& request) {
  const std::vector<int> nodes = session.node_of_ranks();
  const int used = nodes.front() == nodes[static_cast<std::size_t>(request.peer)] ? 1 : 2;
  return bench_sizes(session, backend, request, used, measure_pair);
}

}}  // namespace farandole::backend
