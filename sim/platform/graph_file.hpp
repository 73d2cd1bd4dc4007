// A Graphviz or SimGrid file taken for a whole topology: every host a node, nothing added to its links.
//
// Called by scenario/catalogue.hpp where a topology is named by such a file. The document that stands for it is of the
// kind "graph", so that values can be put into it as into any other: a device (it has none), a transport, a NIC.
#pragma once

#include <filesystem>

#include "config/document.hpp"
#include "config/text.hpp"

namespace farandole { inline namespace platform {

/// Whether the file's name ends in .dot, .gv or .xml.
bool is_graph_file(const std::filesystem::path& file);

/// Throws InputError where the file is not what its name says.
Document topology_of_graph_file(const std::filesystem::path& file, const TextReader& read_file = read_text);

}}  // namespace farandole::platform
