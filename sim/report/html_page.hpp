// Writes a page as one HTML file that needs nothing else: style, scripts and D3 are in it.
//
// Called by the command line for `--html`. Light and dark, on a phone and in print; every number stands in a table
// beside its chart. Errors: std::runtime_error where the program was built without D3 (page/assets.hpp).
#pragma once

#include <iosfwd>

#include "report/page.hpp"

namespace farandole {

void write_html(std::ostream& out, const Page& page);

/// Throws as write_html would, before the work is done that a page is to show.
void require_page_parts();

}  // namespace farandole
