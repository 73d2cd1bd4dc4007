#include "simulate/recurrence.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace farandole { inline namespace simulate {
namespace {

/// The rings that the phase consists of, as one over all ranks or one within every node; empty if it is anything else.
std::vector<Ring> rings_of(const Phase& phase, Eigen::Index ranks) {
  if (phase.peer_step != 0 || phase.fan != 1 || phase.window != 0) return {};
  std::vector<Eigen::Index> sends(static_cast<std::size_t>(ranks), -1);
  std::vector<bool> receives(sends.size(), false);
  for (std::size_t position = 0; position < phase.transfers.size(); ++position) {
    const auto [from, to] = std::pair(phase.transfers[position].from, phase.transfers[position].to);
    if (sends[static_cast<std::size_t>(from)] >= 0 || receives[static_cast<std::size_t>(to)]) return {};
    sends[static_cast<std::size_t>(from)] = static_cast<Eigen::Index>(position);
    receives[static_cast<std::size_t>(to)] = true;
  }
  std::vector<Ring> rings;
  for (const Transfer& first : phase.transfers) {
    if (sends[static_cast<std::size_t>(first.from)] < 0) continue;  // in a ring already
    Ring ring;
    int rank = first.from;
    while (sends[static_cast<std::size_t>(rank)] >= 0) {
      ring.ranks.push_back(rank);
      ring.transfers.push_back(std::exchange(sends[static_cast<std::size_t>(rank)], -1));
      rank = phase.transfers[static_cast<std::size_t>(ring.transfers.back())].to;
    }
    if (rank != first.from) return {};  // a chain
    rings.push_back(std::move(ring));
  }
  return rings;
}

/// Whether all of a ring's transfers wait for their receivers; nothing where some do and some do not.
std::optional<bool> all_wait(const TransferCosts& costs) {
  if (costs.waits.size() == 0 || !costs.waits.any()) return false;
  return costs.waits.all() ? std::optional(true) : std::nullopt;
}

bool are_equal(const Eigen::ArrayXd& values) {
  return values.size() == 0 || (values == values[0]).all();
}

/// What a rank's own message out and the one in cost its processor in a round.
double any_rank_kept_busy(const TransferCosts& costs) {
  return costs.are_occupied() ? costs.send[0] + costs.receive[0] : 0;
}

/// Something that is at its receiver, to be reduced there or to keep its processor.
struct Arrival {
  int rank;
  double moment;
  double work;
  double receive = 0;
  double behind = 0;
};

/// Every rank takes what has arrived one by one, in the order in which it came; after what it has posted,
/// `posted(rank)`.
template <class Posting>
void receive(std::vector<Arrival> arrivals, Posting posted, RankTimes& next) {
  std::ranges::sort(arrivals, {}, [](const Arrival& a) { return std::pair(a.rank, a.moment); });
  int rank = -1;
  double busy = 0;
  for (const Arrival& arrival : arrivals) {
    if (arrival.rank != rank) busy = posted(arrival.rank);
    rank = arrival.rank;
    busy = std::max(busy + arrival.receive, arrival.moment) + arrival.behind + arrival.work;
    next[rank] = std::max(next[rank], busy);
  }
}

}  // namespace

TransferCosts TransferCosts::of(Eigen::Index transfers, bool are_occupied) {
  const auto zero = [&] { return Eigen::ArrayXd(Eigen::ArrayXd::Zero(transfers)); };
  TransferCosts costs{zero(), zero(), {}};
  costs.waits.resize(transfers);
  if (are_occupied) costs.send = costs.receive = costs.behind = costs.alone = zero();
  return costs;
}

TransferCosts TransferCosts::some(const std::vector<Eigen::Index>& transfers) const {
  TransferCosts costs{sending(transfers), reducing(transfers), {}};
  if (waits.size() > 0) costs.waits = waits(transfers);
  if (!are_occupied()) return costs;
  costs.send = send(transfers);
  costs.receive = receive(transfers);
  costs.behind = behind(transfers);
  costs.alone = alone(transfers);
  return costs;
}

Repeats::Repeats(RankTimes& moments, const Schedule& schedule, const Phase& phase)
    : moments_(moments), schedule_(schedule), phase_(phase), is_pipeline_(phase.window != 0), next_(moments) {
  if (is_pipeline_) before_ = moments_;
}

void Repeats::take_part(const Transfer& transfer) {
  taking_.push_back(transfer.from);
  taking_.push_back(transfer.to);
}

/// Ranks that do not take part enter the next repeat when they entered this one.
void Repeats::enter_next() {
  if (is_pipeline_) {
    for (const int rank : took_) before_[rank] = moments_[rank];
    for (const int rank : taking_) before_[rank] = moments_[rank];
  }
  for (const int rank : taking_) moments_[rank] = next_[rank];
  taking_.swap(took_);
  taking_.clear();
  ++repeat_;
}

void Repeats::send_in_turn(const TransferCosts& costs, std::span<const std::size_t> transfers) {
  std::vector<Arrival> arrivals;
  if (!sends_) sends_.emplace(moments_.size());
  for_each_transfer(schedule_, phase_, repeat_, transfers, [&](const Transfer& transfer, std::size_t place) {
    take_part(transfer);
    const auto i = static_cast<Eigen::Index>(place);
    const bool waits = costs.waits.size() > 0 && costs.waits[i];
    const auto ready = [&](double sent) { return waits ? std::max(sent, posted(transfer.to)) : sent; };
    double done = moments_[transfer.from];
    if (costs.sending[i] > 0 || costs.send[i] > 0) {
      const double turn = moments_[transfer.from] + sends_->before(transfer.from, costs.send[i]);
      done = std::max(ready(moments_[transfer.from]) + costs.sending[i], ready(turn) + costs.alone[i]);
    }
    next_[transfer.from] = std::max(next_[transfer.from], done);
    arrivals.push_back(
        {transfer.to, std::max(done, moments_[transfer.to]), costs.reducing[i], costs.receive[i], costs.behind[i]});
  });
  const auto posted_all = [&](int rank) { return moments_[rank] + sends_->of(rank); };
  for (const int rank : taking_) next_[rank] = std::max(next_[rank], posted_all(rank));
  receive(std::move(arrivals), posted_all, next_);
  for (const int rank : taking_) sends_->clear(rank);
}

void Repeats::send(const TransferCosts& costs, std::span<const std::size_t> transfers) {
  std::vector<Arrival> to_reduce;
  for_each_transfer(schedule_, phase_, repeat_, transfers, [&](const Transfer& transfer, std::size_t place) {
    take_part(transfer);
    const auto i = static_cast<Eigen::Index>(place);
    double start = moments_[transfer.from];
    if (costs.waits.size() > 0 && costs.waits[i]) start = std::max(start, posted(transfer.to));
    const double done = start + costs.sending[i];
    next_[transfer.from] = std::max(next_[transfer.from], done);
    if (costs.reducing[i] > 0) {
      to_reduce.push_back({transfer.to, std::max(done, moments_[transfer.to]), costs.reducing[i]});
    } else {
      next_[transfer.to] = std::max(next_[transfer.to], done);
    }
  });
  const auto is_never_busy = [](int) { return -INFINITY; };  // by messages
  receive(std::move(to_reduce), is_never_busy, next_);
}

void Repeats::carry_once(const TransferCosts& costs, std::span<const std::size_t> transfers) {
  costs.are_occupied() ? send_in_turn(costs, transfers) : send(costs, transfers);
  enter_next();
}

KnownPhase::KnownPhase(const Schedule& schedule, const Phase& phase, TransferCosts costs)
    : schedule_(schedule), phase_(phase), costs_(std::move(costs)) {
  if (phase.repeats <= 1 && schedule.ranks > 2) return;
  for (const Ring& ring : rings_of(phase, schedule.ranks)) {
    std::optional<Track> track = track_of(ring);
    if (!track) {
      tracks_.clear();
      return;
    }
    tracks_.push_back(std::move(*track));
  }
  if (!tracks_.empty()) costs_ = {};
}

/// Nothing where the ring is left to going through its rounds one by one.
std::optional<KnownPhase::Track> KnownPhase::track_of(const Ring& ring) const {
  TransferCosts own = costs_.some(ring.transfers);
  const std::optional<bool> wait = all_wait(own);
  if (!wait || (own.are_occupied() && (own.behind > 0).any())) return std::nullopt;
  Track track{ring.ranks, std::move(own), *wait, -1, false};
  const TransferCosts& costs = track.costs;
  const bool alike =
      are_equal(costs.sending) && are_equal(costs.reducing) && are_equal(costs.send) && are_equal(costs.receive);
  if (!alike) return track;
  track.round = std::max(costs.sending[0], any_rank_kept_busy(costs)) + costs.reducing[0];
  const bool moves_on =
      any_rank_kept_busy(costs) <= costs.sending[0];  // or a late start would be slow to get to the others
  track.ends_at_once =
      moves_on && phase_.repeats >= std::ssize(track.ranks) - 1 && (*wait || (costs.reducing == 0).all());
  if (track.ends_at_once) track.costs = {};
  return track;
}

bool KnownPhase::is_barrier() const {
  return tracks_.size() == 1 && tracks_[0].ends_at_once && std::ssize(tracks_[0].ranks) == schedule_.ranks;
}

void KnownPhase::carry(const Track& track, RankTimes& moments) const {
  RankTimes carried = moments(track.ranks);
  // Costs are the same everywhere and ranks start together, or every start comes once around: all end together.
  if (track.round >= 0 && (track.ends_at_once || are_equal(carried))) {
    carried.setConstant(carried.maxCoeff() + phase_.repeats * track.round);
  } else {
    carried = track.waits ? carry_waiting_ring(carried, track.costs, phase_.repeats)
                          : carry_ring(carried, track.costs, phase_.repeats);
  }
  moments(track.ranks) = carried;
}

KnownPhase::KnownPhase(const Schedule& schedule, const Phase& phase, const ChunkSizes& sizes, const Cost& cost)
    : schedule_(schedule), phase_(phase) {
  const std::vector<Transfer>& transfers = phase.transfers;
  std::vector<std::size_t> order = every_transfer(phase);
  const auto carried = [&](std::size_t t) {
    return std::tuple(transfers[t].start, transfers[t].chunk, transfers[t].count);
  };
  std::ranges::stable_sort(order, {}, carried);
  std::map<Bytes, int> lengths;
  for (const std::size_t t : order) {
    const Transfer& own = transfers[t];
    const bool is_alike = !runs_.empty() && carried(order[runs_.back().first]) == carried(t);
    if (!is_alike) runs_.emplace_back(sent_.size(), own.start);
    sent_.emplace_back(own.from, own.to);
    for (int repeat = 0; !is_alike && repeat < phase.window; ++repeat) {
      const Bytes bytes = sizes.of(schedule, phase, in_repeat(schedule, phase, own, own.start + repeat));
      const int length = lengths.try_emplace(bytes, static_cast<int>(lengths.size())).first->second;
      lengths_.push_back(cost(t, bytes).second ? ~length : length);
    }
  }
  sending_.resize(lengths.size() * order.size());
  for (const auto& [bytes, length] : lengths) {
    double* const sending = sending_.data() + static_cast<std::size_t>(length) * order.size();
    for (std::size_t i = 0; i < order.size(); ++i) sending[i] = cost(order[i], bytes).first;
  }
  for (std::size_t repeat = 0, first = 0, last = 0; std::cmp_less(repeat, phase.repeats); ++repeat) {
    while (last < runs_.size() && std::cmp_less_equal(runs_[last].second, repeat)) ++last;
    while (first < last && runs_[first].second + phase.window <= static_cast<int>(repeat)) ++first;
    under_way_.emplace_back(first, last);
  }
  runs_.emplace_back(sent_.size(), phase.repeats);
}

/// Moments change only once a repeat has been looked at: its transfers read the state before it, and what a receiver
/// has posted is read before the repeat ahead of it.
void KnownPhase::carry_pipeline(RankTimes& moments) const {
  const auto window = static_cast<std::size_t>(phase_.window);
  std::vector<double> done(sent_.size());
  std::vector<double> posted(sent_.size());
  const auto for_each_sent = [&](std::size_t repeat, auto visit) {
    const auto [first, last] = under_way_[repeat];
    for (std::size_t i = runs_[first].first; i < runs_[last].first; ++i) visit(i, sent_[i]);
  };
  const auto post = [&](std::size_t i, const std::pair<int, int>& sent) { posted[i] = moments[sent.second]; };
  for_each_sent(0, post);
  for (std::size_t repeat = 0; repeat < under_way_.size(); ++repeat) {
    for (std::size_t run = under_way_[repeat].first; run < under_way_[repeat].second; ++run) {
      const auto [first, start] = runs_[run];
      const int length = lengths_[(run * window) + repeat - static_cast<std::size_t>(start)];
      const double* const sending =
          sending_.data() + static_cast<std::size_t>(std::max(length, ~length)) * sent_.size();
      for (std::size_t i = first; i < runs_[run + 1].first; ++i) {
        const double begin = moments[sent_[i].first];
        done[i] = (length < 0 ? std::max(begin, posted[i]) : begin) + sending[i];
      }
    }
    if (repeat + 1 < under_way_.size()) for_each_sent(repeat + 1, post);
    for_each_sent(repeat, [&](std::size_t i, const std::pair<int, int>& sent) {
      moments[sent.first] = std::max(moments[sent.first], done[i]);
      moments[sent.second] = std::max(moments[sent.second], done[i]);
    });
  }
}

bool is_shift(const Schedule& schedule, const Phase& phase) {
  const auto ranks = static_cast<std::size_t>(schedule.ranks);
  if (phase.peer_step == 0 || phase.fan != 1 || phase.window != 0 || phase.transfers.size() != ranks) return false;
  std::vector<bool> sends(ranks, false);
  std::vector<bool> receives(ranks, false);
  for (const Transfer& transfer : phase.transfers) {
    if (transfer.start != 0) return false;
    sends[static_cast<std::size_t>(transfer.from)] = receives[static_cast<std::size_t>(transfer.to)] = true;
  }
  return std::ranges::count(sends, true) == std::ssize(sends) && sends == receives;
}

KnownPhase::KnownPhase(const Schedule& schedule, const Phase& phase, std::vector<TransferCosts> of_repeats)
    : schedule_(schedule), phase_(phase), of_repeats_(std::move(of_repeats)) {}

/// As Repeats would: of one transfer that a rank receives the order does not matter.
void KnownPhase::carry_shift(RankTimes& moments) const {
  RankTimes begun(moments.size());
  for (int repeat = 0; repeat < phase_.repeats; ++repeat) {
    const TransferCosts& costs = of_repeats_[static_cast<std::size_t>(repeat)];
    const std::int64_t step = std::int64_t{repeat} * phase_.peer_step % schedule_.ranks + schedule_.ranks;
    begun = moments;
    for (std::size_t t = 0; t < phase_.transfers.size(); ++t) {
      const auto i = static_cast<Eigen::Index>(t);
      const auto from = static_cast<Eigen::Index>(phase_.transfers[t].from);
      const auto to = static_cast<Eigen::Index>((phase_.transfers[t].to + step) % schedule_.ranks);
      const double done = (costs.waits[i] ? std::max(begun[from], begun[to]) : begun[from]) + costs.sending[i];
      moments[from] = std::max(moments[from], done);
      moments[to] = std::max(moments[to], std::max(done, begun[to]) + costs.reducing[i]);
    }
  }
}

void KnownPhase::carry(RankTimes& moments) const {
  if (!of_repeats_.empty()) return carry_shift(moments);
  if (!runs_.empty()) return carry_pipeline(moments);
  for (const Track& track : tracks_) carry(track, moments);
  if (!tracks_.empty()) return;
  Repeats repeats(moments, schedule_, phase_);
  const std::vector<std::size_t> all = every_transfer(phase_);
  for (int repeat = 0; repeat < phase_.repeats; ++repeat) repeats.carry_once(costs_, all);
}

}}  // namespace farandole::simulate
