// The seam between a collective and the memory its data lies in: the host's, or a device's.
//
// Every endpoint has one. What is asked for happens in the order of asking, together with the endpoint's messages; on a
// device it may happen later than the call returns, but for `download` and `time`.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "units/quantity.hpp"

namespace farandole {

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
  void copy(std::span<const float> from, std::span<float> to) override;
  void add(std::span<const float> summands, std::span<float> sums) override;
  Seconds time(const std::function<void()>& act) override;
};

}  // namespace farandole
