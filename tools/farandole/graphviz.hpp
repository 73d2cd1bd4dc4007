// Draws a Graphviz text as SVG with Graphviz's own program.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace farandole {

/// Runs `dot -Tsvg` on what `write` writes. Throws std::runtime_error that says what to install where there is no
/// `dot`, and another exception where it was killed.
void draw_with_graphviz(std::ostream& out, const std::function<void(std::ostream&)>& write);

/// The same as text; empty, and said so on stderr, where there is no `dot`.
std::string drawn_or_empty(const std::function<void(std::ostream&)>& write);

}  // namespace farandole
