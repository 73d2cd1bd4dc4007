// The record of a job's cost, and back.
//
// Called by report/record.hpp and report/read_record.hpp for points that have one. Money is in the record's "currency",
// prices per hour, energies in joules, power in watts, times in seconds.
#pragma once

#include "report/record.hpp"
#include "timeline/job_cost.hpp"

namespace farandole {

Record to_record(const JobCost& cost);
JobCost job_cost(const Record& record);

}  // namespace farandole
