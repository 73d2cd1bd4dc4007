// Measures a collective over a range of sizes: the loop behind `farandole bench`, on any session.
//
// Every rank calls it with the same request. A repetition: the buffers are filled anew, all ranks meet, the clock runs
// while the collective does; its time is that of the slowest rank. The data is checked after the last one. Points hold
// the median of the repetitions, and all of them. Sizes are rounded down to whole floats, at most 2^31 - 1 of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "collective/algorithms.hpp"
#include "timeline/measured.hpp"

namespace farandole { inline namespace backend {

/// What stands for the library's own collective in place of an algorithm's name.
inline constexpr const char* library_algorithm = "library";

struct BenchRequest {
  Operation operation = Operation::allreduce;
  std::string algorithm;
  std::function<Schedule(const Shape&)> build;  // empty: the library's own
  Bytes key{};                                  // Algorithm::key
  std::vector<Bytes> sizes;
  int warmup = 5;
  int repetitions = 20;
  int root = 0;
  int segments = 0;
  int servers = 0;
};

/// The middle one; of an even number, the mean of the two in the middle. At least one.
Seconds median(std::vector<Seconds> times);

/// Whole floats of a size; InputError where MPI could not count them.
std::int64_t floats_in(Bytes size);

/// The rows of the catalogue for the operation, and the library's where it has one; or the one row of that name.
std::vector<BenchRequest> bench_requests(Operation operation, const std::string& algorithm, const BenchRequest& like);

/// Throws InputError where a size is too large; std::invalid_argument where the algorithm cannot have so many servers.
std::vector<MeasuredPoint> bench(Session& session, const std::string& backend, const BenchRequest& request);

// Measures what one rank does alone with its data: the rates of adding and of copying.
//
//   add   one array added to another: two are read, one is written
//   copy  one array copied to another place
// They are the gamma of a calibration: 1 / bandwidth of `add` is what a reduction costs per byte
// (`transport.reduce_rate` of a topology). All ranks work at the same time, as in a collective; a repetition's time is
// that of the slowest. `bytes` is one array, bandwidth is bytes / time. Called by `farandole bench`.

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

// Measures messages between two ranks: what a calibration begins with.
//
//   pingpong  one message there and one back; its time is half of that
//   exchange  one message each way at the same time
// Called by `farandole bench` beside the collectives of backend/bench.hpp, and reported in the same way: `bytes` is one
// message, bandwidth is bytes / time. All other ranks wait meanwhile.

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

}}  // namespace farandole::backend
