// The seam between a schedule and what carries its messages: one rank's way to the others.
//
// The interpreter (backend/interpreter.hpp) knows nothing else. Data lies in the endpoint's place (data_place.hpp).
// Messages between two ranks arrive in the order they were sent. Sends and receives are started and then waited for
// together; data stays where it is until then. Every rank calls `allgather_scalar` the same number of times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/data_place.hpp"

namespace farandole { inline namespace backend {

/// Up to there a float holds every whole number, so that one may travel as data.
inline constexpr std::int64_t most_exact_float = 1 << 24;

class Endpoint {
 public:
  virtual ~Endpoint() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;

  /// Where the data is that it sends and receives.
  virtual DataPlace& place() = 0;
  virtual void send(std::span<const float> data, int to) = 0;
  virtual void receive(std::span<float> data, int from) = 0;
  /// Until all that was started is done, for whatever is asked of the endpoint or its place next.
  virtual void wait() = 0;
  /// Whether all that was started is done; never waits.
  virtual bool is_done() = 0;
  /// Lets time pass until something may have come or gone, at the latest so long.
  virtual void idle(Seconds at_most) = 0;

  /// The numbers that all ranks gave, in order of rank; nobody leaves before everybody has come.
  virtual std::vector<double> allgather_scalar(double number) = 0;
};

}}  // namespace farandole::backend
