// --html and --markdown: a result as a page for people.
#pragma once

#include <string>

#include "command.hpp"
#include "report/page.hpp"

namespace farandole {

struct PageOptions {
  std::string html;
  std::string markdown;

  void add_to(CLI::App& command);
  [[nodiscard]] bool are_wanted() const { return !html.empty() || !markdown.empty(); }
  /// Refuses, before anything runs, a page that this program cannot write.
  void check() const;
  void write(const Page& page) const;
};

/// A word of a command line as a shell would need it.
std::string shell_word(const std::string& text);

}  // namespace farandole
