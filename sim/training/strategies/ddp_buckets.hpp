// Which gradients DistributedDataParallel puts into one bucket.
//
// Called by the strategy "ddp". Gradients in backward order fill one bucket after the other; a bucket closes with the
// gradient that brings it to its limit.
#pragma once

#include <vector>

#include "training/job.hpp"

namespace farandole {

/// Indices of gradients; every gradient stands in exactly one bucket. Only the last bucket may be below its limit.
std::vector<std::vector<int>> ddp_buckets(const Job& job, Bytes first_bucket, Bytes bucket_cap);

}  // namespace farandole
