// What a launcher's options mean here: one table per launcher, one row per meaning.
//
// Read by launch_line.cpp, which finds the row of each option, collects its arguments and lets the row act on a
// Reading. Rows that act on nothing are there because the number of arguments must be known to find the program.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"

namespace farandole::launch {

struct WrittenHost {
  std::string name;
  std::optional<int> slots;
};

/// What the options read so far have said.
struct Reading {
  const Value& where;
  std::optional<int> ranks = std::nullopt;
  std::optional<int> ranks_per_node = std::nullopt;
  bool by_node = false;
  std::vector<WrittenHost> hosts = {};
  std::map<std::string, std::string> environment = {};
  std::vector<std::string> ignored = {};
};

/// An option as it stands in the line.
struct Given {
  std::string name;  // "-np"; empty for a setting before the launcher
  std::vector<std::string> arguments;
  std::string_view variable;               // of its row
  [[nodiscard]] std::string text() const;  // "-np 16"
};

struct Option {
  std::string_view names;  // without dashes, separated by blanks; one and two dashes are alike
  int arguments;           // two may also be written as one NAME=VALUE
  void (*act)(Reading&, const Given&);
  std::string_view variable = {};  // the HOROVOD_* variable it sets
};

struct Launcher {
  std::string_view name;
  std::string_view programs;  // what it is called, separated by blanks
  std::span<const Option> options;
  bool attached_numbers = false;  // "-n128" is "-n 128"
};

std::span<const Option> horovodrun_options();
std::span<const Option> mpirun_options();
std::span<const Option> aprun_options();
/// The catalogue of launchers.
std::span<const Launcher> launchers();

/// Whether `name` is one of `names`, a list separated by blanks.
bool is_among(std::string_view names, std::string_view name);

}  // namespace farandole::launch
