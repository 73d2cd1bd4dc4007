// A measured point as a JSON object; both JSON forms of our own are made of them.
#pragma once

#include "calibration/measured_time.hpp"
#include "config/document.hpp"

namespace farandole {

/// Reads {op, algorithm, ranks, bytes, seconds, servers?, nodes?} and the laboratory's spellings of the same; keys that
/// mean nothing here are left alone. Fails at the key that is missing or wrong.
MeasuredTime read_point(const Value& value, const std::string& family);

}  // namespace farandole
