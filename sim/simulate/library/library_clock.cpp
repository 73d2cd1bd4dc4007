#include <map>
#include <utility>

#include "simulate/library/library.hpp"

namespace farandole { inline namespace simulate {

Seconds launching(int devices_per_process) {
  // What a host takes to launch NCCL's kernel on one of the devices that a process drives. It launches one after the
  // other, and a collective is done when the last one that joined it is: on a DGX A100 one of 8 bytes takes 13.8, 16.9,
  // 20.8, 25.2, 29.5 and 33.7 us on 3 to 8 devices of one process (github.com/NVIDIA/nccl-tests, issue 123), which is
  // what its ring waits (3.6 + 2 (n - 1) .47 us) and 2.8 us a device, each within 5 %.
  constexpr Seconds launch_of_a_device = Seconds(2.8e-6);
  return devices_per_process > 1 ? devices_per_process * launch_of_a_device : Seconds(0);
}

namespace {

class Choosing final : public LibraryClock {
 public:
  Choosing(LibraryPlanner planner, Fidelity fidelity, ClockOptions options, bool contention)
      : planner_(std::move(planner)), fidelity_(fidelity), options_(options), contention_(contention) {}

  [[nodiscard]] LibraryChoice choice(Bytes size) const override { return planner_.plan(size).choice; }

  Answer answer(Bytes size, const RankTimes& start) override {
    if (start.size() == 1 || size == Bytes(0)) return {start, {}};
    const LibraryPlan plan = planner_.plan(size);
    CollectiveClock& clock = clock_of(plan);
    const std::vector<int>& order = plan.order.empty() ? planner_.order : plan.order;
    const auto together = [&](const RankTimes& moments) {
      return plan.adds_in_switches ? all_at(static_cast<int>(moments.size()), latest(moments)) : moments;
    };
    Answer answer = clock.answer(size, in_order(together(start) + plan.launch.si(), order));
    answer.ends = in_ranks(together(answer.ends), order);
    return answer;
  }
  [[nodiscard]] bool has_launch() const override { return true; }
  void release_network() override {
    if (last_ != nullptr) last_->release_network();
  }

 private:
  CollectiveClock& clock_of(const LibraryPlan& plan) {
    auto& clock = clocks_[plan.key];
    if (last_ != nullptr && last_ != clock.get()) last_->release_network();  // only one may use SimGrid
    if (clock == nullptr) clock = make_collective_clock(fidelity_, route_of(plan), options_);
    last_ = clock.get();
    return *clock;
  }

  [[nodiscard]] RoutedSchedule route_of(const LibraryPlan& plan) const {
    RoutedSchedule routed = plan.route();
    auto alone = contention_ ? std::nullopt : uncontended(routed);
    return alone ? std::move(*alone) : std::move(routed);
  }

  LibraryPlanner planner_;
  Fidelity fidelity_;
  ClockOptions options_;
  bool contention_;
  std::map<std::string, std::unique_ptr<CollectiveClock>> clocks_;
  CollectiveClock* last_ = nullptr;
};

}  // namespace

std::unique_ptr<LibraryClock> make_library_clock(const Library& library, const LibraryJob& job, Fidelity fidelity,
                                                 ClockOptions options) {
  return std::make_unique<Choosing>(library.planner(job), fidelity, options, job.contention);
}

}}  // namespace farandole::simulate
