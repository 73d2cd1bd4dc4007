// Checks a document against one of our JSON Schemas (valijson), so that editors and the program agree.
//
// The typed readers are the law and give the better messages; the schema is for editors, for `farandole check`, and
// for tests that hold the two together.
#pragma once

#include <filesystem>

#include "config/document.hpp"

namespace farandole { inline namespace config {

/// Throws InputError for the first violation, with its file, line and pointer.
void check_schema(const Document& document, const std::filesystem::path& schema_file);

}}  // namespace farandole::config
