#include <map>
#include <utility>

#include "simulate/library/library.hpp"
#include "simulate/uncontended.hpp"

namespace farandole { inline namespace simulate {
namespace {

class Choosing final : public LibraryClock {
 public:
  Choosing(LibraryPlanner planner, Fidelity fidelity, ClockOptions options, bool contention)
      : planner_(std::move(planner)), fidelity_(fidelity), options_(options), contention_(contention) {}

  [[nodiscard]] LibraryChoice choice(Bytes size) const override { return planner_.plan(size).choice; }

  RankTimes finish(Bytes size, const RankTimes& start) override {
    folded_ = false;
    rounded_up_ = 0;
    left_simgrid_ = false;
    if (start.size() == 1 || size == Bytes(0)) return start;
    const LibraryPlan plan = planner_.plan(size);
    CollectiveClock& clock = clock_of(plan);
    const std::vector<int>& order = plan.order.empty() ? planner_.order : plan.order;
    RankTimes end = in_ranks(clock.finish(size, in_order(start + plan.launch.si(), order)), order);
    folded_ = clock.folded();
    rounded_up_ = clock.rounded_up();
    left_simgrid_ = clock.left_simgrid();
    return end;
  }
  [[nodiscard]] bool folded() const override { return folded_; }
  [[nodiscard]] double rounded_up() const override { return rounded_up_; }
  [[nodiscard]] bool left_simgrid() const override { return left_simgrid_; }
  [[nodiscard]] bool has_launch() const override { return true; }
  void rest() override {
    if (last_ != nullptr) last_->rest();
  }

 private:
  CollectiveClock& clock_of(const LibraryPlan& plan) {
    auto& clock = clocks_[plan.key];
    if (last_ != nullptr && last_ != clock.get()) last_->rest();  // only one may use SimGrid
    if (clock == nullptr) clock = make_collective_clock(fidelity_, route_of(plan), options_);
    last_ = clock.get();
    return *clock;
  }

  [[nodiscard]] RoutedSchedule route_of(const LibraryPlan& plan) const {
    RoutedSchedule routed = plan.route();
    auto alone = contention_ ? std::nullopt : uncontended(routed);
    return alone ? std::move(*alone) : std::move(routed);
  }

  [[nodiscard]] static RankTimes in_order(const RankTimes& of_ranks, const std::vector<int>& order) {
    if (order.empty()) return of_ranks;
    return of_ranks(order);
  }
  [[nodiscard]] static RankTimes in_ranks(const RankTimes& of_places, const std::vector<int>& order) {
    if (order.empty()) return of_places;
    RankTimes of_ranks(of_places.size());
    of_ranks(order) = of_places;
    return of_ranks;
  }

  LibraryPlanner planner_;
  Fidelity fidelity_;
  ClockOptions options_;
  bool contention_;
  std::map<std::string, std::unique_ptr<CollectiveClock>> clocks_;
  CollectiveClock* last_ = nullptr;
  bool folded_ = false;
  double rounded_up_ = 0;
  bool left_simgrid_ = false;
};

}  // namespace

std::unique_ptr<LibraryClock> make_library_clock(const Library& library, const LibraryJob& job, Fidelity fidelity,
                                                 ClockOptions options) {
  return std::make_unique<Choosing>(library.planner(job), fidelity, options, job.contention);
}

}}  // namespace farandole::simulate
