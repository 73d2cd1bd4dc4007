// The program's commands as a Python function: the same options, the same results, its errors as exceptions.
//
// The package around it, farandole/__init__.py, turns keywords into options and results into dicts. What a command
// prints on standard output is returned; what it says on standard error goes to Python's.
#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "farandole/command.hpp"
#include "report/heading.hpp"

namespace farandole { namespace {

/// Catches what goes to a stream for as long as it lives.
class Caught {
 public:
  explicit Caught(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Caught() { stream_.rdbuf(before_); }
  Caught(const Caught&) = delete;
  Caught& operator=(const Caught&) = delete;

  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::ostream& stream_;
  std::streambuf* before_;
};

void add_commands(CLI::App& app) {
  add_run(app);
  add_network(app);
  add_tune(app);
  add_place(app);
  add_diagnose(app);
  add_cost(app);
  add_compare(app);
  add_collective(app);
  add_show(app);
  add_check(app);
  add_calibrate(app);
  add_validate(app);
  add_import(app);
  app.require_subcommand(1);
}

/// What `farandole ARGUMENTS...` prints on its two streams.
std::pair<std::string, std::string> command(std::vector<std::string> arguments) {
  CLI::App app("", "farandole");
  add_commands(app);
  const Caught out(std::cout);
  const Caught err(std::cerr);
  std::ranges::reverse(arguments);  // as CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    throw InputError(std::string("farandole: ") + error.what());
  }
  return {out.text(), err.text()};
}

}}  // namespace farandole

PYBIND11_MODULE(_program, module) {
  module.doc() = "The commands of farandole in this process.";
  module.attr("version") = std::string(farandole::version());
  pybind11::register_exception<farandole::InputError>(module, "InputError", PyExc_ValueError).attr("__module__") =
      "farandole";
  pybind11::register_exception<farandole::OutOfTolerance>(module, "OutOfTolerance", PyExc_RuntimeError)
      .attr("__module__") = "farandole";
  module.def("command", &farandole::command, pybind11::arg("arguments"),
             "Carries out a command line without the program's name; returns its standard output and its messages.");
}
