#include "page_options.hpp"

#include <filesystem>

#include "report/output_file.hpp"
#include "report/pages.hpp"

namespace farandole {

void PageOptions::add_to(CLI::App& command) {
  command.add_option("--html", html, "write a page: one HTML file with pictures and tables, to be opened offline")
      ->type_name("FILE");
  command.add_option("--markdown", markdown, "write the same texts and tables as Markdown")->type_name("FILE");
}

void PageOptions::check() const {
  if (!html.empty()) require_page_parts();
}

void PageOptions::write(const Page& page) const {
  if (!html.empty()) write_file(html, [&](std::ostream& out) { write_html(out, page); });
  if (!markdown.empty()) write_file(markdown, [&](std::ostream& out) { write_markdown(out, page); });
}

std::string PageOptions::explored() const {
  return html.empty() ? "" : std::filesystem::path(html).replace_extension(".explore.html").string();
}

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-./=:,+@%") == std::string::npos;
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string given(const std::string& option, const std::vector<std::string>& values) {
  std::string line;
  for (const std::string& value : values) {
    if (value.empty()) continue;
    if (!option.empty()) line += " " + option;
    line += " " + shell_word(value);
  }
  return line;
}

}  // namespace farandole
