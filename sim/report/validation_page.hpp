// The points of `farandole validate` as a page: predicted against measured, errors by size, and every row.
//
// Called by the command line for `--html` and `--markdown`.
#pragma once

#include <span>
#include <string>

#include "report/heading.hpp"
#include "report/page.hpp"
#include "timeline/validation.hpp"

namespace farandole {

Page validation_page(const Heading& heading, const std::string& command, std::span<const ValidationPoint> points);

}  // namespace farandole
