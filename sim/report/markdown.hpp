// Writes a page as Markdown: the answer and the tables, for an issue, a wiki or a paper's notes.
//
// Called by the command line for `--markdown`. GitHub's tables; what would mean something to Markdown is escaped.
#pragma once

#include <iosfwd>

#include "report/page.hpp"

namespace farandole {

void write_markdown(std::ostream& out, const Page& page);

}  // namespace farandole
