// NCCL's own collectives, on data laid out as backend/test_data.hpp lays it out.
#pragma once

#include "backend/backend.hpp"
#include "backend/nccl/endpoint.hpp"

namespace farandole {

/// `size` in elements, as the operation counts bytes. Empty for an operation that NCCL does not have. The endpoint must
/// outlive it.
CollectiveRun nccl_collective(const NcclEndpoint& endpoint, const Schedule& layout, std::int64_t size);

}  // namespace farandole
