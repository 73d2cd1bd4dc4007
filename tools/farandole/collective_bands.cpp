#include "collective_bands.hpp"

#include <filesystem>
#include <string>

#include "calibration/fit.hpp"
#include "calibration/library_fit.hpp"
#include "calibration/published_bands.hpp"
#include "config/section.hpp"
#include "simulate/library/library.hpp"
#include "timeline/validation.hpp"

namespace farandole {

CollectiveBands::CollectiveBands(const Topology& topology, const Catalogue& catalogue) : topology_(topology) {
  if (topology.file.extension() == ".json") calibrated_ = spread_in(Document::read(topology.file));
  const std::filesystem::path file = catalogue.root() / "topologies" / "errors" / "collectives.json";
  if (std::filesystem::exists(file)) tables_ = Document::read(file);
}

std::optional<TimeBand> CollectiveBands::of(const MeasuredTime& row) const {
  if (calibrated_) {
    if (const auto band = calibrated_->band_of(row)) return band;
  }
  const Library* library = library_of(row, topology_);
  if (!tables_ || library == nullptr || row.ranks < 2) return std::nullopt;
  const std::string place = row.nodes.value_or(1) > 1 ? "/several nodes" : "/one node";
  const std::string known = is_measured_besides(row, library->name, topology_) ? "/measured/" : "/cold/";
  const std::string ends = place + known + std::to_string(size_class_of(row.bytes));
  return TimeBand{read<double>(*tables_->find(ends + "/0")), read<double>(*tables_->find(ends + "/1"))};
}

}  // namespace farandole
