// Text for HTML.
//
// Used by everything in this room that writes HTML or SVG.
#pragma once

#include <string>
#include <string_view>

#include "report/record.hpp"

namespace farandole { inline namespace report {

/// Text between tags or in a quoted attribute.
std::string escaped(std::string_view text);

/// `record` for a script element: JSON without "<", so that no text in it can end the element.
std::string script_json(const Record& record);

/// A script that a Content-Security-Policy allows, by the SHA-256 of its text in 64 hexadecimal digits:
/// "'sha256-" and base64.
std::string script_source(std::string_view digest);

// Names from outside within the files that others read: Graphviz, XML, and the SVG that Graphviz draws.
//
// Used by the writers of topologies and pages. A name comes back from a file as it was
// (platform/topologies/read_dot.cpp, collective/files/xml.cpp), and does nothing on its way: it is no attribute, no
// link and no script.

/// As a quoted string of the DOT language: "a \"b\" \\ c", with its quotation marks.
std::string dot_string(std::string_view text);

/// Within the quotation marks of a label of Graphviz, to which a control character is nothing to show.
std::string dot_label(std::string_view text);

/// Within the quotation marks of an attribute of XML 1.0; control characters by their number.
std::string xml_attribute(std::string_view text);

/// The picture without what could act in a page: elements that do not draw (links, scripts, foreign objects, whatever
/// is not known) are left out, what they hold is kept or, of scripts and styles, left out too; of attributes none that
/// is a handler or points elsewhere stays.
std::string harmless_svg(std::string_view document);

}}  // namespace farandole::report
