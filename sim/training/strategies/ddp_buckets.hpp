// Which gradients DistributedDataParallel puts into one bucket.
//
// Called by the strategy "ddp". Gradients fill one bucket after the other, in the order of the backward pass or in that
// in which parameters are registered; a bucket closes with the gradient that brings it to its limit.
#pragma once

#include <vector>

#include "training/strategies/bucketed.hpp"

namespace farandole {

/// Indices of gradients; every gradient stands in exactly one bucket. Only the last bucket may be below its limit.
std::vector<std::vector<int>> ddp_buckets(const Job& job, Bytes first_bucket, Bytes bucket_cap);

/// As find_unused_parameters has them: filled from the first parameter registered on, the opposite of backward order,
/// and sent in the opposite order. Only the first to go may be below its limit, and the last has that of
/// `first_bucket`.
std::vector<std::vector<int>> registered_buckets(const Job& job, Bytes first_bucket, Bytes bucket_cap);

/// As DDP sends them where nobody set anything, from the second iteration on.
std::vector<Bucket> usual_ddp_buckets(const StrategySite& site);

}  // namespace farandole
