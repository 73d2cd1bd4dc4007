// Where published tables of collectives should lie, by what other tables were missed by.
//
// Called by `farandole validate --published`, which predicts a table without what was fitted to it: what is then still
// known of its machine is other operations, other numbers of ranks, other releases, or nothing but datasheets. A band
// is conformal, as that of a calibration (calibration/spread.hpp): the 10th and 90th percentile of measured / predicted
// of other tables' rows of about that size, each table counting the same. It is of tables of which as much was known
// where there are three of these, else of all others; the table itself never counts.
#pragma once

#include <cstdint>
#include <vector>

#include "calibration/measured_time.hpp"
#include "platform/topology.hpp"
#include "timeline/validation.hpp"

namespace farandole { inline namespace calibration {

/// The nearest that was measured on the machine besides.
enum class KnownBesides : std::uint8_t { nothing, release, ranks, operation };

/// Of a table that `library` is taken to have carried out, on a topology without what was fitted to it.
KnownBesides known_besides(const MeasuredTime& row, const std::string& library, const Topology& topology);

struct JudgedTable {
  KnownBesides known = KnownBesides::nothing;
  std::vector<ValidationPoint> points;
};

/// Into the points of every table, where enough is known. Rows that do not count say nothing.
void add_bands(std::vector<JudgedTable>& tables);

}}  // namespace farandole::calibration
