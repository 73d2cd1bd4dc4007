// Measures what one rank does alone with its data: the rates of adding and of copying.
//
//   add   one array added to another: two are read, one is written
//   copy  one array copied to another place
// They are the gamma of a calibration: 1 / bandwidth of `add` is what a reduction costs per byte
// (`transport.reduce_rate` of a topology). All ranks work at the same time, as in a collective; a repetition's time is
// that of the slowest. `bytes` is one array, bandwidth is bytes / time. Called by `farandole bench`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "timeline/measured.hpp"

namespace farandole {

enum class LocalOperation : std::uint8_t { add, copy };

std::string name(LocalOperation operation);
std::optional<LocalOperation> find_local_operation(const std::string& name);

struct LocalRequest {
  LocalOperation operation = LocalOperation::add;
  std::vector<Bytes> sizes;
  int warmup = 5;
  int repetitions = 20;
};

/// Every rank calls it with the same request.
std::vector<MeasuredPoint> bench(Session& session, const std::string& backend, const LocalRequest& request);

}  // namespace farandole
