// Bold, faint and red on a terminal, and nowhere else: what goes into a file or a pipe is text alone.
//
// The program asks for styles once, for its standard output; tables and headings ask the stream they write to. Without
// styles a text is written as it is. NO_COLOR (no-color.org) and a terminal without styles (TERM=dumb) are respected.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

namespace farandole { inline namespace report {

/// As ECMA-48 numbers them, "select graphic rendition".
enum class Style { bold = 1, faint = 2, red = 31 };

/// Whether standard output is a terminal that shows styles, and the user has nothing against them.
bool terminal_takes_styles();

void use_styles(std::ostream& out);

/// The text as this stream shows it in that style.
std::string styled(std::ostream& out, Style style, std::string_view text);

}}  // namespace farandole::report
