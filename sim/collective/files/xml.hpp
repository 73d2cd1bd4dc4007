// The little of XML that MSCCL's and SimGrid's files use: elements with attributes, nested. Comments, a declaration and
// a doctype that only names one are skipped.
//
// Text between elements, entities and doctypes with something in them are refused, with file and line (InputError).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.hpp"

namespace farandole { inline namespace collective {

struct XmlElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::vector<XmlElement> children;
  Place place;

  /// Throws InputError where the attribute is not there, or not a whole number that an int holds.
  [[nodiscard]] const std::string& text(const std::string& attribute) const;
  [[nodiscard]] int number(const std::string& attribute) const;
  [[nodiscard]] int number(const std::string& attribute, int fallback) const;
};

XmlElement parse_xml(std::string_view text, const std::string& source);

}}  // namespace farandole::collective
