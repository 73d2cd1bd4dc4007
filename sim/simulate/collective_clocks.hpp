// The clocks of a run, one per operation, made when first asked for.
//
// Called by the composition root, which knows the algorithms, and handed to the event loop. A clock that holds a
// network gives it back while another works, since only one exists at a time (simulate/fluid_network.hpp); what it
// remembers stays.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "collective/operation.hpp"
#include "simulate/collective_clock.hpp"

namespace farandole {

class CollectiveClocks {
 public:
  using Make = std::function<std::unique_ptr<CollectiveClock>(Operation)>;
  explicit CollectiveClocks(Make make) : make_(std::move(make)) {}

  CollectiveClock& of(Operation operation) {
    auto& clock = clocks_[operation];
    if (last_ != nullptr && last_ != clock.get()) last_->rest();
    if (clock == nullptr) clock = make_(operation);
    last_ = clock.get();
    return *clock;
  }

 private:
  Make make_;
  std::map<Operation, std::unique_ptr<CollectiveClock>> clocks_;
  CollectiveClock* last_ = nullptr;
};

}  // namespace farandole
