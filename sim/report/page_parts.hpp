// Sections that every kind of page ends with: how accurate comparable predictions were, and what it depends on.
#pragma once

#include <string>

#include "report/page.hpp"
#include "report/training_page.hpp"

namespace farandole { inline namespace report {

/// "Published runs on the same platforms are predicted within 2.2 % in the median, nine of ten within 10.2 %."; empty
/// where none counts.
std::string trust_sentence(const ValidationContext& trust);

/// The rows of published runs with their errors, as a chart and a table. `data` receives what the chart draws.
PageSection trust_section(const ValidationContext& trust, Record& data);

/// A row of what a chart "scatter" draws.
Record scatter_row(const ValidationPoint& point, const std::string& name);

/// Command, version and settings, as they were in force; `scenario` may be empty.
PageSection inputs_section(const Heading& heading, const std::string& command, const std::string& scenario);

/// The picture of the platform, and its busiest links; `text` says what the colours are.
PageSection network_section(const std::string& platform, const std::string& text, const std::string& svg,
                            const std::vector<LinkUse>& busiest);

/// Every key of every point, for the page's scripts and to be downloaded.
void add_points(const std::vector<Record>& points, Page& page);

/// "12.3 %", sorted by the number.
Cell percent_cell(double share, int decimals = 1);

/// "1,234.5", sorted by the number.
Cell number_cell(double number, int decimals = 1);

}}  // namespace farandole::report
