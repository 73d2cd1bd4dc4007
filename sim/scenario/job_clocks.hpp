// How the collectives of a scenario's job are timed: by clocks where they meet nobody, as carriages where they do.
//
// Called by scenario/stage.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "engine/company.hpp"
#include "engine/task.hpp"
#include "scenario/scenario.hpp"

namespace farandole {

/// The schedule of an operation for ranks placed like that; a ring where a library chooses one by size. `hierarchical`:
/// by that algorithm, not by the one the operation has.
Schedule build_schedule(const Scenario& scenario, const Placement& placement, Operation operation,
                        bool hierarchical = false);

/// Made when they are first asked for. A clock that holds a network gives it back while another works, since SimGrid
/// has only one at a time (simulate/fluid_network.hpp); what it remembers stays.
class JobClocks {
 public:
  /// `scenario` must outlive it.
  JobClocks(const Scenario& scenario, Placement placement);
  JobClocks(const JobClocks&) = delete;
  JobClocks& operator=(const JobClocks&) = delete;
  ~JobClocks();

  CollectiveClock& clock_of(Operation operation, bool hierarchical = false);
  const Carriage& carriage_of(const Collective& collective);

 private:
  [[nodiscard]] bool is_by_library(Operation operation, bool hierarchical) const;
  [[nodiscard]] LibraryJob library_job(Operation operation) const;
  std::unique_ptr<CollectiveClock> make_clock(Operation operation, bool hierarchical) const;
  Carriage& keep(const std::string& key, const std::function<RoutedSchedule()>& route);

  const Scenario& scenario_;
  Placement placement_;
  Platform platform_;
  std::map<std::pair<Operation, bool>, std::unique_ptr<CollectiveClock>> clocks_;
  CollectiveClock* last_ = nullptr;
  std::map<Operation, LibraryPlanner> planners_;
  std::map<std::string, Carriage> carriages_;
};

}  // namespace farandole
