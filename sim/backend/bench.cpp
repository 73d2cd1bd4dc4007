#include "backend/bench.hpp"

#include <algorithm>
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
    double sum = 0;
    const auto own = count_wrong(layout_, endpoint_.rank(), floats_, result);
    for (const double of_a_rank : endpoint_.allgather_scalar(static_cast<double>(own))) sum += of_a_rank;
    return static_cast<std::int64_t>(sum);
  }

 private:
  const Schedule& layout_;
  std::int64_t floats_;
  Endpoint& endpoint_;
  Room in_;
  Room out_;
};

CollectivePoint point_of(const BenchRequest& request, const Schedule& layout, Bytes size, Seconds time) {
  CollectivePoint point;
  point.operation = name(request.operation);
  point.algorithm = request.algorithm;
  point.ranks = layout.ranks;
  point.bytes = size;
  point.time = time;
  if (time > Seconds(0)) point.algorithm_bandwidth = size / time;
  point.bus_bandwidth = point.algorithm_bandwidth * bus_factor(layout, 1.0 / std::max(layout.servers, 1));
  point.root = layout.root;
  point.servers = layout.servers;
  return point;
}

MeasuredPoint measure_collective(Session& session, const std::string& backend, const BenchRequest& request,
                                 Bytes size) {
  Endpoint& endpoint = session.endpoint();
  const std::int64_t floats = floats_in(size);
  const Schedule layout = layout_of(request, session, endpoint.ranks(), size);
  const CollectiveRun run = run_of(request, session, layout, floats);
  Measurement measurement(layout, floats, endpoint);
  for (int i = 0; i < request.warmup; ++i) measurement.repeat(run);
  MeasuredPoint point;
  const ProcessorLoad load;
  for (int i = 0; i < request.repetitions; ++i) point.repetitions.push_back(measurement.repeat(run));
  point.processors_busy = load.share();
  const Bytes measured(static_cast<double>(floats * static_cast<std::int64_t>(sizeof(float))));
  point.collective = point_of(request, layout, measured, median(point.repetitions));
  point.backend = backend;
  point.nodes = session.nodes();
  point.wrong = measurement.wrong();
  return point;
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
  std::vector<MeasuredPoint> points;
  for (const Bytes size : request.sizes) points.push_back(measure_collective(session, backend, request, size));
  return points;
}

}}  // namespace farandole::backend
