#include <algorithm>
#include <array>

#include "backend/bench.hpp"
#include "backend/host_description.hpp"

namespace farandole { inline namespace backend {
namespace {

struct PairRow {
  PairOperation operation;
  const char* name;
};
constexpr std::array pair_rows{PairRow{PairOperation::pingpong, "pingpong"},
                               PairRow{PairOperation::exchange, "exchange"}};

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
    double sum = 0;
    for (const double of_a_rank : endpoint_.allgather_scalar(static_cast<double>(own))) sum += of_a_rank;
    return static_cast<std::int64_t>(sum);
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
  for (int i = 0; i < request.warmup; ++i) pair.repeat();
  MeasuredPoint point;
  const ProcessorLoad load;
  for (int i = 0; i < request.repetitions; ++i) point.repetitions.push_back(pair.repeat());
  point.processors_busy = load.share();
  point.wrong = pair.wrong();
  CollectivePoint& collective = point.collective;
  collective.bytes = Bytes(static_cast<double>(floats * static_cast<std::int64_t>(sizeof(float))));
  collective.time = median(point.repetitions);
  if (collective.time > Seconds(0)) collective.algorithm_bandwidth = collective.bytes / collective.time;
  collective.bus_bandwidth = collective.algorithm_bandwidth;
  return point;
}

}  // namespace

std::string name(PairOperation operation) {
  return std::ranges::find(pair_rows, operation, &PairRow::operation)->name;
}

std::optional<PairOperation> find_pair_operation(const std::string& name) {
  const auto found = std::ranges::find(pair_rows, name, &PairRow::name);
  return found == pair_rows.end() ? std::nullopt : std::optional(found->operation);
}

std::vector<MeasuredPoint> bench(Session& session, const std::string& backend, const PairRequest& request) {
  const std::vector<int> nodes = session.node_of_ranks();
  std::vector<MeasuredPoint> points;
  for (const Bytes size : request.sizes) {
    MeasuredPoint& point = points.emplace_back(measure_pair(session, request, size));
    point.collective.operation = name(request.operation);
    point.collective.ranks = 2;
    point.nodes = nodes.front() == nodes[static_cast<std::size_t>(request.peer)] ? 1 : 2;
    point.backend = backend;
  }
  return points;
}

}}  // namespace farandole::backend
