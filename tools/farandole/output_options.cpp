#include "output_options.hpp"

#include <iostream>

namespace farandole {

void OutputOptions::add_to(CLI::App& command) {
  add_file_to(command, "table, json or csv");
  add_settings_to(command);
}

void OutputOptions::add_file_to(CLI::App& command, const char* formats) {
  command.add_option("--format", format, formats)->type_name("FORMAT")->capture_default_str();
  command.add_option("--output", file, "write the result to this file instead of the terminal")->type_name("FILE");
}

void OutputOptions::add_settings_to(CLI::App& command) {
  command.add_flag("--settings", settings, "list every setting that was in force below a table, as json always does");
}

Format OutputOptions::chosen_format() const {
  const auto chosen = parse_format(format);
  if (!chosen) refuse_option("--format", "table, json or csv", format, suggestion(format, format_names()));
  return *chosen;
}

void OutputOptions::write(const Writer& writer) const {
  write_output(file.empty() ? std::nullopt : std::optional<std::filesystem::path>(file), std::cout, writer);
}

std::vector<Fidelity> parse_fidelities(const std::string& text) {
  if (text.empty()) return {};
  std::vector<Fidelity> all;
  std::vector<std::string> known{"all"};
  for (const FidelityRow& row : fidelities()) {
    if (row.name == text) return {row.fidelity};
    all.push_back(row.fidelity);
    known.push_back(row.name);
  }
  if (text == "all") return all;
  refuse_option("--fidelity", fidelity_choices, text, suggestion(text, known));
}

}  // namespace farandole
