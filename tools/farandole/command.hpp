// A command of `farandole`: adds its options to the parser; runs when it was chosen and parsed.
#pragma once

#include <iostream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "config/document.hpp"
#include "units/quantity.hpp"

namespace farandole {

/// Exit statuses scripts rely on.
enum ExitStatus : int { exit_done = 0, exit_failed = 1, exit_bad_input = 2, exit_out_of_tolerance = 3 };

/// The result is written, and further off than was asked for: exit status 3.
class OutOfTolerance : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Says it while all ranks of a parallel run are still there: the launcher ends the others once one has ended with an
/// error, and with them what they had not said yet. Nothing is said a second time.
inline void say_before_leaving(const InputError& error) {
  std::cerr << error.what() << std::endl;
  std::cerr.setstate(std::ios::failbit);
}

/// What the command line says is bad input too: "farandole: --ranks: expected ..., got ...".
[[noreturn]] inline void refuse_option(const std::string& option, const std::string& expected, const std::string& got,
                                       const std::string& hint = {}) {
  throw InputError("farandole: " + option + ": expected " + expected + ", got " + quoted(got) + hint);
}

/// An option's text as a Value, so that the rooms below can blame it as they blame a value of a file.
class OptionValue {
 public:
  OptionValue(const std::string& option, const std::string& text)
      : node_{text, 0, std::make_shared<const std::string>("farandole")}, value_(node_, option) {}
  [[nodiscard]] const Value& value() const { return value_; }

 private:
  Node node_;
  Value value_;
};

/// What KEY=VALUE names, as a JSON pointer: a key with dots is written as for Hydra, torchtitan and OmegaConf,
/// strategy.kind for /strategy/kind; one with a slash is a pointer.
std::string pointer_of(const std::string& assignment);

/// Carries out `--set KEY=VALUE`.
void set_value(Document& document, const std::string& assignment);

/// A scenario's file and what is set in it.
struct ScenarioArguments {
  std::string file;
  std::vector<std::string> settings;  // by --set and behind the file, in the order in which they were typed

  void add_to(CLI::App& command, const std::string& file_help);
  [[nodiscard]] Document read() const;
};

int whole_number(const std::string& option, const std::string& text, int least,
                 int most = std::numeric_limits<int>::max());

/// Above zero.
BytesPerSecond rate_option(const std::string& option, const std::string& text);

/// As nccl-tests reads it (units/format.hpp).
Bytes size_option(const std::string& option, const std::string& text);

/// What a file says of itself; empty where it says nothing.
std::string document_summary(const Document& document);

/// Each adds one subcommand whose callback does the work; errors are exceptions.
void add_run(CLI::App& app);
void add_explore(CLI::App& app);
void add_merge(CLI::App& app);
void add_collective(CLI::App& app);
void add_bench(CLI::App& app);
void add_show(CLI::App& app);
void add_check(CLI::App& app);
void add_doctor(CLI::App& app);
void add_calibrate(CLI::App& app);
void add_validate(CLI::App& app);
void add_import(CLI::App& app);
void add_new(CLI::App& app);
void add_network(CLI::App& app);
void add_tune(CLI::App& app);
void add_place(CLI::App& app);
void add_diagnose(CLI::App& app);
void add_cost(CLI::App& app);
void add_compare(CLI::App& app);

}  // namespace farandole
