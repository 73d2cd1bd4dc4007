// Measures messages between two ranks: what a calibration begins with.
//
//   pingpong  one message there and one back; its time is half of that
//   exchange  one message each way at the same time
// Called by `farandole bench` beside the collectives of backend/bench.hpp, and reported in the same way: `bytes` is one
// message, bandwidth is bytes / time. All other ranks wait meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "timeline/measured.hpp"

namespace farandole {

enum class PairOperation : std::uint8_t { pingpong, exchange };

std::string name(PairOperation operation);
std::optional<PairOperation> find_pair_operation(const std::string& name);

struct PairRequest {
  PairOperation operation = PairOperation::pingpong;
  std::vector<Bytes> sizes;
  int peer = 1;  // of rank 0
  int warmup = 5;
  int repetitions = 20;
};

/// Every rank calls it with the same request; at least two ranks, `peer` one of them and not rank 0.
std::vector<MeasuredPoint> bench(Session& session, const std::string& backend, const PairRequest& request);

}  // namespace farandole
