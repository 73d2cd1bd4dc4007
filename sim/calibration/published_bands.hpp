// Where published tables of collectives should lie, by what other tables were missed by.
//
// Called by `farandole validate --published`, which predicts a table without what was fitted to it: known of its
// machine are then other operations, numbers of ranks and releases, or datasheets. A band is conformal
// (calibration/spread.hpp): the 10th and 90th percentile of measured / predicted of other tables' rows of about that
// size, inside a node or over several as its own, each table counting the same; of those of which as much was known
// where there are three.
#pragma once

#include <vector>

#include "calibration/measured_time.hpp"
#include "platform/topology.hpp"
#include "timeline/validation.hpp"

namespace farandole { inline namespace calibration {

/// Whether a topology without what was fitted to a row's table has measurements that `library` is timed by there.
bool is_measured_besides(const MeasuredTime& row, const std::string& library, const Topology& topology);

struct JudgedTable {
  bool measured_besides = false;
  std::vector<ValidationPoint> points;
};

/// Into the points of every table, where enough is known. Rows that do not count say nothing.
void add_bands(std::vector<JudgedTable>& tables);

}}  // namespace farandole::calibration
