// Launch lines read word by word: what options mean to a launcher, and which launchers there are.
#pragma once

#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/document.hpp"
#include "config/text.hpp"

namespace farandole { inline namespace platform { namespace launch {

// What a launcher's options mean here: one table per launcher, one row per meaning.
//
// Read by launch_line.cpp, which finds the row of each option, collects its arguments and lets the row act on a
// Reading. Rows that act on nothing are there because the number of arguments must be known to find the program.

struct WrittenHost {
  std::string name;
  std::optional<int> slots;
};

/// What the options read so far have said; of a whole script, what it sets and what its #SBATCH lines ask for.
struct Reading {
  const Value& where;
  const TextReader& read_file;  // of configurations and host files; may be empty
  std::optional<int> ranks = std::nullopt;
  std::optional<int> ranks_per_node = std::nullopt;
  std::optional<int> nodes = std::nullopt;
  std::optional<int> devices = std::nullopt;  // of a node
  std::optional<int> listed = std::nullopt;   // nodes that are named
  bool by_node = false;
  std::vector<WrittenHost> hosts = {};
  std::map<std::string, std::string> environment = {};
  std::vector<std::string> ignored = {};
  /// Options that say what is trained, and how; without dashes the name of a file that was read for it.
  std::vector<std::pair<std::string, std::string>> job = {};
  std::map<std::string, std::string> variables = {};  // of the shell
  std::size_t expanded = 0;                           // characters that variables have become
};

/// An option as it stands in the line.
struct Given {
  std::string name;  // "-np"; empty for a setting before the launcher
  std::vector<std::string> arguments;
  std::string_view variable;               // of its row
  [[nodiscard]] std::string text() const;  // "-np 16"
};

struct Option {
  std::string_view names;  // without dashes, separated by blanks; one and two dashes are alike, and "_" is "-"
  int arguments;           // two may also be written as one NAME=VALUE; optional: one, only as OPTION=VALUE
  void (*act)(Reading&, const Given&);
  std::string_view variable = {};  // the HOROVOD_* variable it sets
};
constexpr int optional = -1;

struct Launcher {
  std::string_view name;
  std::string_view programs;  // what it is called, separated by blanks; of modules of Python, as `python -m` has them
  std::span<const Option> options;
  std::string_view counts;  // the option that says how many ranks
  /// Works out what was not said from the rest, and from what the script asked for.
  void (*settle)(Reading&, const Reading& script);
  bool attached = false;  // "-n128" is "-n 128"
};

/// The catalogue of launchers.
std::span<const Launcher> launchers();
const Launcher& srun();

/// Whether `name` is one of `names`, a list separated by blanks.
bool is_among(std::string_view names, std::string_view name);

// What options of launch lines do to a Reading: the third column of the launchers' tables.

void ignore(Reading& reading, const Given& option);
/// For options that change what runs where in a way that cannot be followed here.
void refuse(Reading& reading, const Given& option);
/// For options that say what is trained, and how: kept, with what they say.
void keep(Reading& reading, const Given& option);
void pass(Reading& reading, const Given& option);  // over what says how the program is to be started

void set_ranks(Reading& reading, const Given& option);
void set_ranks_per_node(Reading& reading, const Given& option);  // a number, or "gpu": as many as devices; -pernode
void set_nodes(Reading& reading, const Given& option);           // 4, 1:4, 1-4: the most
void set_devices(Reading& reading, const Given& option);         // 8, h100:8, gpu:h100:8
void set_mapping(Reading& reading, const Given& option);         // --map-by slot | node | ppr:4:node, -bynode
void add_hosts(Reading& reading, const Given& option);           // a:4,b:4
void add_included(Reading& reading, const Given& option);        // a@b:0,1
void list_nodes(Reading& reading, const Given& option);          // node[01-04,7],b

/// VAR=VALUE; VAR VALUE; or VAR alone, which exports what stands before the launcher.
void set_variable(Reading& reading, const Given& option);
/// The row's variable becomes the argument, 1 or, of "--no-...", 0 without one, or its number of MiB in bytes.
void set_text(Reading& reading, const Given& option);
void set_gloo(Reading& reading, const Given& option);
void set_number(Reading& reading, const Given& option);
void set_mebibytes(Reading& reading, const Given& option);

void settle_mpi(Reading& reading, const Reading& script);
void settle_slurm(Reading& reading, const Reading& script);
void settle_torchrun(Reading& reading, const Reading& script);
void settle_accelerate(Reading& reading, const Reading& script);
void settle_deepspeed(Reading& reading, const Reading& script);

// Walks through the words of a launch line: settings, the launcher, its options, the program.

/// Lets every option of the line act on a Reading; of a launcher that starts another, `srun torchrun ...`, the
/// second's.
std::pair<const Launcher*, Reading> read_line(std::string_view text, const Value& where, const TextReader& read_file);

/// What an #SBATCH line says, word by word, for all of a script.
void read_allocation(std::span<const std::string> words, Reading& script);

// Splits what was pasted into words as a shell would: quotes, backslashes, continued lines, comments, variables that it
// sets, arithmetic, arrays.
//
// What a shell would not forgive is forgiven: blanks and comments between a backslash and the end of its line, comments
// among continued lines, and a line break without a backslash before an option. Variables whose value is not known,
// what commands would print, and wildcards stay as they are.

/// The words of each command, with "\n" or ";" behind it. Fails where a quote is left open.
std::vector<std::string> split_words(std::string_view text, Reading& script, int depth = 0);
/// NAME=VALUE
bool is_setting(std::string_view word);
/// The number that a text is.
template <class T>
std::optional<T> whole(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}
/// What stands before `end`, or all: takes both.
std::string_view take_until(std::string_view& text, char end);

}}}  // namespace farandole::platform::launch
