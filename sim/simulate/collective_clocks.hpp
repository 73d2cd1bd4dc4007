// The clocks of a run, one per operation and algorithm, made when first asked for.
//
// Called by the composition root, which knows the algorithms, and handed to the event loop. A clock that holds a
// network gives it back while another works, since only one exists at a time (simulate/fluid_network.hpp); what it
// remembers stays.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "collective/operation.hpp"
#include "simulate/collective_clock.hpp"

namespace farandole {

class CollectiveClocks {
 public:
  /// `hierarchical`: by that algorithm, not by the one the operation has.
  using Make = std::function<std::unique_ptr<CollectiveClock>(Operation, bool hierarchical)>;
  explicit CollectiveClocks(Make make) : make_(std::move(make)) {}

  CollectiveClock& of(Operation operation, bool hierarchical = false) {
    auto& clock = clocks_[{operation, hierarchical}];
    if (last_ != nullptr && last_ != clock.get()) last_->rest();
    if (clock == nullptr) clock = make_(operation, hierarchical);
    last_ = clock.get();
    return *clock;
  }

 private:
  Make make_;
  std::map<std::pair<Operation, bool>, std::unique_ptr<CollectiveClock>> clocks_;
  CollectiveClock* last_ = nullptr;
};

}  // namespace farandole
