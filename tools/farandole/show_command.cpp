// farandole show: what there is to choose from, and what is inside.
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "collective/algorithms/exchanges.hpp"
#include "command.hpp"
#include "report/record.hpp"
#include "report/table.hpp"
#include "show.hpp"

namespace farandole {
namespace {

struct ShowArguments {
  std::string kind;
  std::string name;
  std::string operation = "allreduce";
  std::string ranks = "4";
  std::string root = "0";
  std::string ranks_per_node = "1";
  std::string segments = "0";
  std::string servers = "0";
  std::string format = "table";
};

constexpr const char* format_choices =
    "table or json; svg or html of an algorithm or topology; dot or simgrid of a topology";

struct Showing {
  const char* kind;
  bool needs_name;
  Shown (*show)(const ShowRequest&);
};

constexpr std::array showings{
    Showing{"models", false, show_models},         Showing{"topologies", false, show_topologies},
    Showing{"algorithms", false, show_algorithms}, Showing{"strategies", false, show_strategies},
    Showing{"offers", false, show_offers},         Showing{"model", true, show_model},
    Showing{"topology", true, show_topology},      Showing{"algorithm", true, show_algorithm},
    Showing{"strategy", true, show_strategy},      Showing{"offer", true, show_offer},
    Showing{"constants", true, show_constants},
};

const Showing& find_showing(const ShowArguments& arguments) {
  std::vector<std::string> known;
  for (const Showing& showing : showings) {
    if (arguments.kind == showing.kind) return showing;
    known.emplace_back(showing.kind);
  }
  refuse_option("show", "a kind", arguments.kind, suggestion(arguments.kind, known));
}

ShowRequest request_of(const ShowArguments& arguments) {
  return {arguments.name,
          arguments.operation,
          whole_number("--ranks", arguments.ranks, 1),
          whole_number("--root", arguments.root, 0),
          whole_number("--ranks-per-node", arguments.ranks_per_node, 1),
          whole_number("--segments", arguments.segments, 0, most_segments),
          whole_number("--servers", arguments.servers, 0)};
}

void write_shown(const ShowArguments& arguments) {
  const bool is_picture = arguments.format == "svg" || arguments.format == "html";
  const bool is_file = arguments.format == "dot" || arguments.format == "simgrid";
  if (arguments.format != "table" && arguments.format != "json" && !is_picture && !is_file) {
    refuse_option("--format", format_choices, arguments.format);
  }
  const Showing& showing = find_showing(arguments);
  if (showing.needs_name == arguments.name.empty()) {
    refuse_option(fmt::format("show {}", arguments.kind), showing.needs_name ? "a name" : "no name",
                  arguments.name.empty() ? "nothing" : arguments.name);
  }
  const Shown shown = showing.show(request_of(arguments));
  if (is_file) {
    if (!shown.files.contains(arguments.format))
      refuse_option("--format", "dot and simgrid for a topology alone", arguments.format);
    shown.files.at(arguments.format)(std::cout);
  } else if (is_picture) {
    if (!shown.draw) refuse_option("--format", "table or json, where there is no picture", arguments.format);
    shown.draw(std::cout, arguments.format == "html");
  } else if (arguments.format == "json") {
    std::cout << json_text({{arguments.kind, shown.json}}, 2) << "\n";
  } else {
    std::cout << printable_lines(shown.text);
  }
}

}  // namespace

void add_show(CLI::App& app) {
  auto arguments = std::make_shared<ShowArguments>();
  CLI::App* command =
      app.add_subcommand("show", "List models, topologies, algorithms, strategies and offers, or look into one");
  command
      ->add_option("kind", arguments->kind,
                   "models, topologies, algorithms, strategies, offers; model, topology, algorithm, strategy, offer; "
                   "constants of a library, topology or device")
      ->type_name("KIND")
      ->required();
  command
      ->add_option("name", arguments->name,
                   "the model, topology (name or file), algorithm (name or file), strategy or offer; of constants, "
                   "which library, topology or device (name or file)")
      ->type_name("NAME");
  command->add_option("--op", arguments->operation, "the operation of an algorithm")
      ->type_name("OP")
      ->capture_default_str();
  command->add_option("--ranks", arguments->ranks, "how many ranks an algorithm is shown with")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--root", arguments->root, "the root of an algorithm that has one")
      ->type_name("RANK")
      ->capture_default_str();
  command->add_option("--ranks-per-node", arguments->ranks_per_node, "how many ranks of an algorithm share a node")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--segments", arguments->segments, "segments of a pipelined algorithm; 0: as it sees fit")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--servers", arguments->servers, "parameter servers among the ranks; 0: as the algorithm sees fit")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--format", arguments->format, format_choices)->type_name("FORMAT")->capture_default_str();
  command->footer("Example:\n  farandole show algorithm ring --op allreduce --ranks 4");
  command->callback([arguments] { write_shown(*arguments); });
}

}  // namespace farandole
