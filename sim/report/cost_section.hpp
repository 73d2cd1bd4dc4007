// What runs cost, for their page: which way is cheapest, over years, and what the cost is sensitive to.
//
// Used by training_page.cpp and answer.cpp. Costs are compared in the currency of the first that has one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/page.hpp"
#include "report/series.hpp"

namespace farandole {

/// "Cheapest is 8 p4d on the spot market, 26 USD a run; dearest ...", at the price of the time used; then what is
/// charged at least, and where a price breaks even. Empty where nothing costs anything.
std::vector<std::string> cost_sentences(std::span<const TrainingPoint> points, const Series& series);

/// Nothing where no point has a cost. `data` receives what the charts draw.
std::optional<PageSection> cost_section(std::span<const TrainingPoint> points, const Series& series, Record& data);

}  // namespace farandole
