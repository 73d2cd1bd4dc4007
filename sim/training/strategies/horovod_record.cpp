// What Horovod's own timeline shows of rank 0.
#include <algorithm>
#include <string>

#include "training/strategies/catalogue.hpp"
#include "training/strategies/horovod.hpp"

namespace farandole { inline namespace training {

/// One tick per rank, as in Horovod's own timeline; of very many ranks an even sample, to keep traces small.
void Horovod::record_announced(int gradient, const RankTimes& moments) const {
  constexpr int most_ticks = 64;
  if (timeline_ == nullptr) return;
  const int stride = (ranks_ + most_ticks - 1) / most_ticks;
  for (int rank = 0; rank < ranks_; rank += stride) {
    timeline_->instant(job_.gradients[static_cast<std::size_t>(gradient)].name, std::to_string(rank),
                       Seconds(moments[rank]));
  }
}

void Horovod::record_wait(const Response& response, double reached) const {
  if (timeline_ == nullptr) return;
  for (const int gradient : response.gradients) {
    const auto index = static_cast<std::size_t>(gradient);
    const std::string& name = job_.gradients[index].name;
    const double data = std::max(reached, ready_[index][0]);
    timeline_->span(name, "WAIT_FOR_DATA", Seconds(reached), Seconds(data));
    timeline_->span(name, "WAIT_FOR_OTHER_TENSOR_DATA", Seconds(data), Seconds(thread_moment_[0]));
  }
}

void Horovod::record_communication(const Flight& flight, const TaskTimes& times) const {
  if (timeline_ == nullptr) return;
  const Response& response = flight.response;
  const bool copies = flight.by_mpi || response.gradients.size() > 1;
  const std::string buffer = flight.by_mpi ? "HOST_BUFFER" : "FUSION_BUFFER";
  const std::string what = activity(flight.by_mpi ? "MPI" : settings_.library, flight.operation);
  for (const int gradient : response.gradients) {
    const std::string& name = job_.gradients[static_cast<std::size_t>(gradient)].name;
    timeline_->span(name, "QUEUE", response.enqueued, Seconds(times.begin[0]));
    if (copies) timeline_->span(name, "MEMCPY_IN_" + buffer, Seconds(times.begin[0]), Seconds(times.reducing[0]));
    timeline_->span(name, what, Seconds(times.reducing[0]), Seconds(times.reduced[0]));
    if (copies) timeline_->span(name, "MEMCPY_OUT_" + buffer, Seconds(times.reduced[0]), Seconds(times.end[0]));
  }
}

}}  // namespace farandole::training
