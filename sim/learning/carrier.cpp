#include "learning/carrier.hpp"

#include <algorithm>
#include <utility>

#include "collective/chunk_sizes.hpp"

namespace farandole { inline namespace learning {

const Schedule& Carrier::schedule_of(Operation operation) {
  const auto found = schedules_.find(operation);
  if (found != schedules_.end()) return found->second;
  return schedules_.emplace(operation, build_(operation)).first->second;
}

double messages_in(const Schedule& schedule) {
  double sum = 0;
  for (const Phase& phase : schedule.phases) {
    sum += static_cast<double>(transfers_per_round(phase)) * active_repeats(phase);
  }
  return sum;
}

namespace {

/// Of two groups that meet, the lower one's vector is a.
struct Products {
  double ab = 0;
  double aa = 0;
  double bb = 0;

  /// Of the one whose square that is.
  [[nodiscard]] double factor_of(double square) const {
    constexpr double nothing = 1e-8;
    return square < nothing ? 1 : 1 - ab / (2 * square);
  }
};

class Adasum {
  [[nodiscard]] auto part(int rank, Chunk chunk) {
    const auto begin = static_cast<Eigen::Index>(sizes_.before(chunk).si());
    const auto end = static_cast<Eigen::Index>(sizes_.before(chunk + 1).si());
    return vectors_[static_cast<std::size_t>(rank)].segment(begin, end - begin);
  }

 public:
  Adasum(const Schedule& schedule, int ranks_per_group, std::vector<Vector>& vectors)
      : schedule_(schedule), sizes_(Bytes(static_cast<double>(vectors.front().size())), schedule), vectors_(vectors) {
    for (int rank = 0; rank < schedule.ranks; ++rank) group_.push_back(rank / ranks_per_group);
  }

  void round(const Phase& phase, int repeat) {
    std::vector<Arrival> arrivals;
    apply_round(
        schedule_, phase, repeat, [&](int rank, Chunk chunk) { return std::pair(rank, Vector(part(rank, chunk))); },
        [&](int rank, Chunk chunk, const std::pair<int, Vector>& sent, Action action) {
          arrivals.push_back({sent.first, rank, chunk, sent.second, action});
        });
    const auto products = products_of(arrivals);
    for (const Arrival& arrival : arrivals) take(arrival, products);
    merge(arrivals);
  }

 private:
  struct Arrival {
    int from;
    int to;
    Chunk chunk;
    Vector value;
    Action action;
  };
  using Meeting = std::pair<int, int>;  // of groups, the lower first

  [[nodiscard]] int group(int rank) const { return group_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Meeting meeting(const Arrival& arrival) const {
    return std::minmax({group(arrival.from), group(arrival.to)});
  }
  [[nodiscard]] bool combines(const Arrival& arrival) const {
    return arrival.action == Action::reduce && group(arrival.from) != group(arrival.to);
  }

  std::map<Meeting, Products> products_of(const std::vector<Arrival>& arrivals) {
    std::map<Meeting, Products> products;
    for (const Arrival& arrival : arrivals) {
      if (!combines(arrival)) continue;
      const Vector own = part(arrival.to, arrival.chunk);
      const bool own_is_a = group(arrival.to) < group(arrival.from);
      Products& sums = products[meeting(arrival)];
      sums.ab += own.dot(arrival.value);
      (own_is_a ? sums.aa : sums.bb) += own.squaredNorm();
      (own_is_a ? sums.bb : sums.aa) += arrival.value.squaredNorm();
    }
    return products;
  }

  void take(const Arrival& arrival, const std::map<Meeting, Products>& products) {
    auto own = part(arrival.to, arrival.chunk);
    if (arrival.action == Action::copy) {
      own = arrival.value;
    } else if (!combines(arrival)) {
      own += arrival.value;
    } else {
      const Products& sums = products.at(meeting(arrival));
      const bool own_is_a = group(arrival.to) < group(arrival.from);
      own *= sums.factor_of(own_is_a ? sums.aa : sums.bb);
      own += sums.factor_of(own_is_a ? sums.bb : sums.aa) * arrival.value;
    }
  }

  void merge(const std::vector<Arrival>& arrivals) {
    for (const Arrival& arrival : arrivals) {
      if (!combines(arrival)) continue;
      const auto [lower, upper] = meeting(arrival);
      std::ranges::replace(group_, upper, lower);
    }
  }

  const Schedule& schedule_;
  ChunkSizes sizes_;
  std::vector<Vector>& vectors_;
  std::vector<int> group_;  // of each rank
};

}  // namespace

void adasum(const Schedule& schedule, int ranks_per_group, std::vector<Vector>& vectors) {
  Adasum state(schedule, ranks_per_group, vectors);
  for (const Phase& phase : schedule.phases) {
    for (int repeat = 0; repeat < phase.repeats; ++repeat) state.round(phase, repeat);
  }
}

}}  // namespace farandole::learning
