// Measures a collective over a range of sizes: the loop behind `farandole bench`, on any session.
//
// Every rank calls it with the same request. A repetition: the buffers are filled anew, all ranks meet, the clock runs
// while the collective does; its time is that of the slowest rank. The data is checked after the last one. Points hold
// the median of the repetitions, and all of them. Sizes are rounded down to whole floats, at most 2^31 - 1 of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "collective/algorithms.hpp"
#include "timeline/measured.hpp"

namespace farandole {

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

}  // namespace farandole
