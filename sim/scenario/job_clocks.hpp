// How the collectives of a scenario's job are timed: by clocks where they meet nobody, as carriages where they do.
//
// Called by scenario/stage.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/company.hpp"
#include "engine/representatives.hpp"
#include "scenario/scenario.hpp"

namespace farandole { inline namespace scenario {

/// The schedule of an operation for ranks placed like that; a ring where a library chooses one by size. `hierarchical`:
/// by that algorithm, not by the one the operation has.
Schedule build_schedule(const Scenario& scenario, const Placement& placement, Operation operation,
                        bool hierarchical = false);

/// The ranks of every group of that kind. Of nodes and of what is at the same place on them only where ranks fill one
/// after the other, and all alike.
std::vector<std::vector<int>> members_of(const Scenario& scenario, Group group, const Placement& placement);

/// Who meets whom where ranks of a sharded job may stand for others; empty where each stands for itself.
std::optional<Representatives::Meetings> meetings_of(const Scenario& scenario, int ranks);

/// Of those ranks alone.
Placement placement_of(const Platform& platform, const Placement& all, const std::vector<int>& members);

/// Groups that go the same kind of way: over nodes with the same links, leaving nodes and switches as often. Each
/// class, and the classes, in the order of their first groups.
std::vector<std::vector<std::size_t>> classes_of_groups(const Platform& platform, const std::vector<Placement>& groups);

/// Made when they are first asked for. A clock that holds a network gives it back while another works, since SimGrid
/// has only one at a time (simulate/fluid_network.hpp); what it remembers stays.
///
/// Of a collective in groups one group is timed for all that go the same kind of way (classes_of_groups): the one whose
/// busiest link is busiest, with this share of every link that it has of what all groups send there. That is exact
/// where groups are alike. Of more than 64 groups the first of each kind is timed, and only those are counted beside it
/// that have ranks on its nodes: the fabric beyond is taken as wide enough for all.
class JobClocks {
 public:
  JobClocks(const Scenario& scenario, Placement placement);
  JobClocks(const JobClocks&) = delete;
  JobClocks& operator=(const JobClocks&) = delete;
  ~JobClocks();

  CollectiveClock& clock_of(const Collective& collective);
  /// Of the first group of that kind, without a clock.
  RoutedSchedule routed_of(Operation operation, Group group, Bytes size);
  /// Gives back the network that any of its clocks, or of its parts, holds.
  void release_network();
  /// Those of a stage of a pipeline (twice its number), or between two.
  JobClocks& part(int from, int to, const std::function<std::unique_ptr<JobClocks>()>& make);
  const std::vector<GroupCarriage>& carriages_of(const Collective& collective);

 private:
  struct Key {
    Operation operation;
    bool hierarchical;
    Group group;
    auto operator<=>(const Key&) const = default;
  };
  [[nodiscard]] bool is_by_library(const Key& key) const;
  [[nodiscard]] const Library& library_of(const Key& key) const;
  [[nodiscard]] LibraryJob library_job(const Key& key, const Placement& placement) const;
  std::unique_ptr<CollectiveClock> make_clock(const Key& key);
  const std::vector<double>& shares_of(const Key& key, std::size_t group, const RoutedSchedule& routed, Bytes size);
  const std::vector<double>& sent_beside(const Key& key, std::size_t group, const Schedule& schedule, Bytes size);
  std::vector<Seconds> busiest_links(const Key& key, Bytes size);
  /// For each group the one that is timed for it.
  const std::vector<std::size_t>& alike_of(const Key& key, Bytes size);
  RoutedSchedule route(const Key& key, std::size_t group, Bytes size);
  const LibraryPlanner& planner_of(const Key& key, std::size_t group);
  /// What its groups send beside one: in its links' shares, or as flows of theirs.
  enum class Sisters : std::uint8_t { counted, elsewhere };
  const Carriage& carriage_of(const Key& key, std::size_t group, Bytes size, Sisters sisters);
  Carriage& find_carriage(const Key& key, std::size_t group, Bytes size, Sisters sisters);

  const Scenario scenario_;
  Platform platform_;
  std::optional<Platform> hosts_;  // the same for MPI between its hosts
  std::map<Group, std::vector<std::vector<int>>> members_;
  std::map<Group, std::vector<Placement>> placements_;
  std::map<Key, std::unique_ptr<CollectiveClock>> clocks_;
  CollectiveClock* last_ = nullptr;
  std::map<std::pair<Key, std::size_t>, LibraryPlanner> planners_;
  /// By schedule and the number of its chunks.
  std::map<std::tuple<Key, std::size_t, std::string, int>, std::vector<double>> shares_;
  std::map<std::tuple<Key, std::size_t, std::string, int>, std::vector<double>> sent_;
  std::map<Key, std::vector<std::size_t>> alike_;
  std::map<std::tuple<Key, std::size_t, std::string, Sisters>, Carriage> carriages_;
  /// What was planned for a size: planning lays out a whole schedule.
  struct Planned {
    Carriage* carriage = nullptr;  // of several sizes
    Seconds launch;
  };
  std::map<std::tuple<Key, std::size_t, Bytes, Sisters>, Planned> planned_;
  std::map<std::pair<Key, Bytes>, std::vector<GroupCarriage>> groups_;
  std::map<std::pair<int, int>, std::unique_ptr<JobClocks>> parts_;
  JobClocks* last_part_ = nullptr;
};

}}  // namespace farandole::scenario
