// Options that every command with a result takes: its format and where it goes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "report/heading.hpp"
#include "report/output_file.hpp"
#include "simulate/fidelity.hpp"
#include "targets.hpp"

namespace farandole {

struct OutputOptions {
  std::string format = "table";
  std::string file;
  bool settings = false;  // all of them below a table

  void add_to(CLI::App& command);
  /// Without --settings, for what prints none. `formats`: for the help.
  void add_file_to(CLI::App& command, const char* formats);
  void add_settings_to(CLI::App& command);
  /// Refuses an unknown format.
  [[nodiscard]] Format chosen_format() const;
  void write(const Writer& writer) const;
  void add_to(Targets& targets) const { targets.writes("--output", file); }
};

/// "flow", or "all"; refuses anything else. Empty text gives an empty list.
std::vector<Fidelity> parse_fidelities(const std::string& text);

/// What `--fidelity` takes, for help texts.
inline constexpr const char* fidelity_choices = "analytic, flow, message or all";

}  // namespace farandole
