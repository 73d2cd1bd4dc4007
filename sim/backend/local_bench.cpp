#include <algorithm>
#include <array>

#include "backend/bench.hpp"

namespace farandole { inline namespace backend {
namespace {

struct LocalRow {
  LocalOperation operation;
  const char* name;
};
constexpr std::array local_rows{LocalRow{LocalOperation::add, "add"}, LocalRow{LocalOperation::copy, "copy"}};

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
    double sum = 0;
    for (const double of_a_rank : endpoint_.allgather_scalar(static_cast<double>(own))) sum += of_a_rank;
    return static_cast<std::int64_t>(sum);
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

MeasuredPoint measure_local(Session& session, const LocalRequest& request, Bytes size) {
  const std::int64_t floats = floats_in(size);
  Work work(request, static_cast<std::size_t>(floats), session.endpoint());
  for (int i = 0; i < request.warmup; ++i) work.repeat();
  MeasuredPoint point;
  for (int i = 0; i < request.repetitions; ++i) point.repetitions.push_back(work.repeat());
  point.wrong = work.wrong();
  CollectivePoint& collective = point.collective;
  collective.bytes = Bytes(static_cast<double>(floats * static_cast<std::int64_t>(sizeof(float))));
  collective.time = median(point.repetitions);
  if (collective.time > Seconds(0)) collective.algorithm_bandwidth = collective.bytes / collective.time;
  collective.bus_bandwidth = collective.algorithm_bandwidth;
  return point;
}

}  // namespace

std::string name(LocalOperation operation) {
  return std::ranges::find(local_rows, operation, &LocalRow::operation)->name;
}

std::optional<LocalOperation> find_local_operation(const std::string& name) {
  const auto found = std::ranges::find(local_rows, name, &LocalRow::name);
  return found == local_rows.end() ? std::nullopt : std::optional(found->operation);
}

std::vector<MeasuredPoint> bench(Session& session, const std::string& backend, const LocalRequest& request) {
  std::vector<MeasuredPoint> points;
  for (const Bytes size : request.sizes) {
    MeasuredPoint& point = points.emplace_back(measure_local(session, request, size));
    point.collective.operation = name(request.operation);
    point.collective.ranks = session.endpoint().ranks();
    point.nodes = session.nodes();
    point.backend = backend;
  }
  return points;
}

}}  // namespace farandole::backend
