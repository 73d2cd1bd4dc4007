// --html and --markdown: a result as a page for people.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "report/page.hpp"
#include "targets.hpp"

namespace farandole {

struct PageOptions {
  std::string html;
  std::string markdown;

  void add_to(CLI::App& command);
  [[nodiscard]] bool are_wanted() const { return !html.empty() || !markdown.empty(); }
  /// Refuses, before anything runs, a page that this program cannot write.
  void check() const;
  void write(const Page& page) const;
  /// Where a page to explore is kept beside this one: "page.explore.html" of "page.html"; empty without one.
  [[nodiscard]] std::string explored() const;
  void add_to(Targets& targets) const {
    targets.writes("--html", html);
    targets.writes("--markdown", markdown);
  }
};

/// A word of a command line as a shell would need it.
std::string shell_word(const std::string& text);

/// An option with each of its values, as they are typed: " --set a=1 --set b=2"; empty values are left out, and an
/// option without a name is none.
std::string given(const std::string& option, const std::vector<std::string>& values);

}  // namespace farandole
