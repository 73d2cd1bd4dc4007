// The CSV of `nsys stats --report cuda_gpu_trace --format csv` as work of devices.
//
// Called by trace_reader.cpp. Columns are found by their names; that of times says its unit. Lines before the header
// (nsys says what it does) are passed over.
#pragma once

#include <string>
#include <vector>

#include "trace_reader.hpp"

namespace farandole {

bool is_nsys_table(const std::string& text);

/// One for each device. InputError with file and line.
std::vector<DeviceTrace> read_nsys_table(const std::string& text, const std::string& file);

}  // namespace farandole
