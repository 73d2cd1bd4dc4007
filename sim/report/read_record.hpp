// A result point back from its record: the inverse of to_record (report/record.hpp).
//
// Called by study/ for points that were written down by another process. Numbers come back exactly: JSON holds the
// shortest text that gives the same double.
#pragma once

#include "report/record.hpp"

namespace farandole {

/// std::logic_error where the record is not one that to_record gives.
TrainingPoint training_point(const Record& record);

}  // namespace farandole
