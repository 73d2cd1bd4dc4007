// The seam between a collective and the memory its data lies in: the host's, or a device's.
//
// Every endpoint has one. What is asked for happens in the order of asking, together with the endpoint's messages; on a
// device it may happen later than the call returns, but for `download` and `time`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "collective/schedule.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace backend {

/// Floats somewhere; freed with the last copy of this.
struct Room {
  std::shared_ptr<float> data;
  std::size_t size = 0;
  [[nodiscard]] std::span<float> span() const { return {data.get(), size}; }
};

class DataPlace {
 public:
  virtual ~DataPlace() = default;

  /// All zero.
  virtual Room allocate(std::size_t floats) = 0;
  virtual void upload(std::span<const float> from_host, std::span<float> to) = 0;
  virtual void download(std::span<const float> from, std::span<float> to_host) = 0;
  /// Ranges that do not overlap, of the same length.
  virtual void copy(std::span<const float> from, std::span<float> to) = 0;
  virtual void add(std::span<const float> summands, std::span<float> sums) = 0;
  /// What `act` takes here, from its begin until all is done that it asked for.
  virtual Seconds time(const std::function<void()>& act) = 0;
};

/// The memory of the host.
class HostPlace final : public DataPlace {
 public:
  Room allocate(std::size_t floats) override;
  void upload(std::span<const float> from_host, std::span<float> to) override { copy(from_host, to); }
  void download(std::span<const float> from, std::span<float> to_host) override { copy(from, to_host); }
  void copy(std::span<const float> from, std::span<float> to) override { std::ranges::copy(from, to.begin()); }
  void add(std::span<const float> summands, std::span<float> sums) override;
  Seconds time(const std::function<void()>& act) override;
};

// Numbers to measure with, whose sums are exact in floats, and the check that a collective did what it promises.
//
// Rank r's element i is 1 + (i + 7 r) mod 13: small whole numbers, different on all ranks. What an operation promises
// is in collective/specification.hpp; the layout says which chunks a rank contributes to and is promised.

/// Rank r's element i.
float test_number(int rank, std::int64_t element);

/// What the rank's buffer holds before: `size` elements as the operation counts bytes, of an alltoall `ranks` times as
/// many; where the rank contributes nothing, zeros if the operation adds up and impossible numbers if it moves.
std::vector<float> test_data(const Schedule& layout, int rank, std::int64_t size);

/// How many promised elements are wrong.
std::int64_t count_wrong(const Schedule& layout, int rank, std::int64_t size, const std::vector<float>& data);

/// One chunk per rank, or as few as the operation allows: how a library, which has no schedule, lays out its data.
Schedule plain_layout(Operation operation, int ranks, int root);

}}  // namespace farandole::backend
