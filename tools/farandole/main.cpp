// farandole: the command line.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "command.hpp"
#include "cost_options.hpp"
#include "json_help.hpp"
#include "report/heading.hpp"
#include "report/output_file.hpp"
#include "report/table.hpp"

namespace farandole { namespace {

constexpr const char* footer =
    "Example:\n"
    "  farandole run scenarios/horovod-512-roce25.json\n"
    "\n"
    "Exit status: 0 done, 1 the program failed, 2 bad input, 3 outside the tolerance.";

/// The nearest subcommand, for `farandole rnu`.
std::string suggest_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == argv[1]) return {};
    known.push_back(command->get_name());
  }
  return suggestion(argv[1], known);
}

/// What is wrong with a command line, in the parser's words; of an option that nobody knows, the option and the nearest
/// one, for `--fidelty flow`, not what follows it, nor what is missing where `--topolgy` was meant to be that.
std::string parse_message(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const auto chosen = app.get_subcommands();
  const auto is = [&](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  if (chosen.empty() || !(is(CLI::ExitCodes::ExtrasError) || is(CLI::ExitCodes::RequiredError))) return error.what();
  std::vector<std::string> known;
  for (const CLI::Option* option : chosen.front()->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (int i = 2; i < argc; ++i) {
    const std::string written = std::string(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (written.starts_with("--") && std::ranges::find(known, written) == known.end())
      return written + ": no such option of farandole " + chosen.front()->get_name() + suggestion(written, known);
  }
  return error.what();
}

/// --help, --version: without a flush of its own, so that `finish` learns why it cannot be written.
int print_asked_for(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream text;
  const int status = app.exit(error, text, std::cerr);
  std::cout << text.str();
  return status;
}

int parse_and_run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return exit_done;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return print_asked_for(app, error);
    std::cerr << "farandole: " << InputError(parse_message(app, error, argc, argv)).what()
              << suggest_command(app, argc, argv) << "\n"
              << "Try 'farandole --help' or 'farandole COMMAND --help'.\n";
    return exit_bad_input;
  } catch (const InputError& error) {
    std::cerr << error.what() << "\n";
    return exit_bad_input;
  } catch (const OutOfTolerance& error) {
    std::cerr << "farandole: " << error.what() << "\n";
    return exit_out_of_tolerance;
  } catch (const std::bad_alloc&) {
    std::cerr << "farandole: there is not as much memory as this takes\n";
    return exit_failed;
  } catch (const std::exception& error) {
    std::cerr << "farandole: " << error.what() << "\n";
    return exit_failed;
  }
}

/// What was printed has arrived, or the program has failed, whatever it did before.
int finish(int status) {
  if (std::cout) errno = 0;  // else it is why what is longer than a buffer could not be written
  std::cout.flush();
  const bool arrived = std::fflush(stdout) == 0 && std::cout;  // tries again what a stream in error has kept
  if (arrived || (status != exit_done && status != exit_out_of_tolerance)) return status;
  std::cerr << "farandole: " << OutputError("standard output", errno).what() << "\n";
  return exit_failed;
}

/// A closed one would be the next file that is opened, a journal, and messages would go into it. Reading and writing
/// fail as before.
void keep_standard_streams() {
  for (const auto& [stream, mode] : {std::pair(0, O_WRONLY), std::pair(1, O_RDONLY), std::pair(2, O_WRONLY)}) {
    if (::fcntl(stream, F_GETFD) == -1) static_cast<void>(::open("/dev/null", mode));
  }
}

}}  // namespace farandole

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // What one iteration gives back the next one takes again: arrays of ranks, of hundreds of kilobytes each.
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
#endif
  farandole::keep_standard_streams();
  farandole::ends_beyond_budget = true;
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit on files (ulimit -f) fails then, and is said to
  if (farandole::terminal_takes_styles()) farandole::use_styles(std::cout);
  CLI::App app(
      "Farandole simulates distributed data-parallel training: how well a model will train on a cluster, and why.",
      "farandole");
  app.set_version_flag("--version", std::string(farandole::version()));
  const auto print_json = [&app] {
    std::cout << farandole::json_help(app);
    throw CLI::Success();
  };
  app.add_flag_callback("--json-help", print_json, "Print all commands and options as JSON and exit");
  app.require_subcommand(1);
  app.footer(farandole::footer);
  farandole::add_new(app);
  farandole::add_run(app);
  farandole::add_explore(app);
  farandole::add_network(app);
  farandole::add_tune(app);
  farandole::add_place(app);
  farandole::add_diagnose(app);
  farandole::add_cost(app);
  farandole::add_compare(app);
  farandole::add_merge(app);
  farandole::add_collective(app);
  farandole::add_bench(app);
  farandole::add_show(app);
  farandole::add_check(app);
  farandole::add_doctor(app);
  farandole::add_calibrate(app);
  farandole::add_validate(app);
  farandole::add_import(app);
  return farandole::finish(farandole::parse_and_run(app, argc, argv));
}
