// Launch lines read word by word: what options mean to a launcher, and which launchers there are.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"

namespace farandole { inline namespace platform { namespace launch {

// What a launcher's options mean here: one table per launcher, one row per meaning.
//
// Read by launch_line.cpp, which finds the row of each option, collects its arguments and lets the row act on a
// Reading. Rows that act on nothing are there because the number of arguments must be known to find the program.

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

// What options of launch lines do to a Reading: the third column of the launchers' tables.

void ignore(Reading& reading, const Given& option);
/// For options that change what runs where in a way that cannot be followed here.
void refuse(Reading& reading, const Given& option);

void set_ranks(Reading& reading, const Given& option);
void set_ranks_per_node(Reading& reading, const Given& option);
void set_one_rank_per_node(Reading& reading, const Given& option);  // -pernode
void set_by_node(Reading& reading, const Given& option);            // -bynode
void set_mapping(Reading& reading, const Given& option);            // --map-by slot | node | ppr:4:node
void add_hosts(Reading& reading, const Given& option);              // a:4,b:4

/// VAR=VALUE; VAR VALUE; or VAR alone, which exports what stands before the launcher.
void set_variable(Reading& reading, const Given& option);
/// The row's variable becomes the argument, 1, 0, or the argument's number of MiB in bytes.
void set_text(Reading& reading, const Given& option);
void set_on(Reading& reading, const Given& option);
void set_off(Reading& reading, const Given& option);
void set_gloo(Reading& reading, const Given& option);
void set_number(Reading& reading, const Given& option);
void set_mebibytes(Reading& reading, const Given& option);

// Walks through the words of a launch line: settings, the launcher, its options, the program.

/// Lets every option of the line act on `reading` and returns the launcher's name in the catalogue.
std::string read_line(std::string_view text, Reading& reading);

// Splits a pasted command into words as a shell would: quotes, backslashes, continued lines, comments.
//
// Two things a shell would not forgive are: blanks between a backslash and the end of its line (they come with copying
// from web pages) and a line break without a backslash (a blank here). Variables and wildcards stay as they are.

/// Fails at `where` when a quote is left open.
std::vector<std::string> split_words(std::string_view text, const Value& where);

}}}  // namespace farandole::platform::launch
