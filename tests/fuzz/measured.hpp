// What targets of measured tables share: a table is what could have been measured.
#pragma once

#include <string>

#include "calibration/read_measurements.hpp"
#include "fuzz/fuzz.hpp"

namespace farandole::fuzz {

inline void require_measurable(const MeasuredTime& row) {
  require(row.time > Seconds(0) && row.time < Seconds::infinity(), "a time is positive and finite");
  require(row.bytes >= Bytes(0) && row.bytes < Bytes::infinity(), "a size is not negative and finite");
  require(row.ranks >= 1, "somebody took part");
  require(row.devices_per_process >= 1, "a process drives a device");
  require(row.nodes.value_or(1) >= 1, "ranks stand on nodes");
  require(!row.operation.empty() && row.place.line >= 1, "a row says what was run, and where that is written");
  require(!row.is_share, "sizes are those of all ranks");
  require(is_utf8(row_name(row)), "a row has a name");
}

inline bool is_read(const std::string& text, const FieldDefaults& defaults) {
  bool read = false;
  use_or_refuse([&] {
    const auto rows = read_measurements(MeasuredText{"fuzz.txt", text}, defaults);
    require(!rows.empty(), "a table that was read has a row");
    for (const MeasuredTime& row : rows) require_measurable(row);
    read = true;
  });
  return read;
}

/// With what the text leaves out said beside it, and where that is enough, without.
inline void read_table(const std::string& text) {
  if (is_read(text, {"allreduce", "ring", 2, 1})) is_read(text, {});
}

}  // namespace farandole::fuzz
