// farandole show: what there is to choose from, and what is inside.
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "show.hpp"

namespace farandole {
namespace {

struct ShowArguments {
  std::string kind;
  std::string name;
  std::string operation = "allreduce";
  std::string ranks = "4";
  std::string format = "table";
};

struct Showing {
  const char* kind;
  bool needs_name;
  Shown (*show)(const ShowRequest&);
};

constexpr std::array showings{
    Showing{"models", false, show_models},
    Showing{"topologies", false, show_topologies},
    Showing{"algorithms", false, show_algorithms},
    Showing{"strategies", false, show_strategies},
    Showing{"model", true, show_model},
    Showing{"topology", true, show_topology},
    Showing{"algorithm", true, show_algorithm},
    Showing{"strategy", true, show_strategy},
};

const Showing& find_showing(const ShowArguments& arguments) {
  std::vector<std::string> known;
  for (const Showing& showing : showings) {
    if (arguments.kind == showing.kind) return showing;
    known.emplace_back(showing.kind);
  }
  refuse_option("show", "a kind", arguments.kind, suggestion(arguments.kind, known));
}

void run(const ShowArguments& arguments) {
  if (arguments.format != "table" && arguments.format != "json") {
    refuse_option("--format", "table or json", arguments.format);
  }
  const Showing& showing = find_showing(arguments);
  if (showing.needs_name == arguments.name.empty()) {
    refuse_option(fmt::format("show {}", arguments.kind), showing.needs_name ? "a name" : "no name",
                  arguments.name.empty() ? "nothing" : arguments.name);
  }
  const ShowRequest request{arguments.name, arguments.operation, whole_number("--ranks", arguments.ranks, 1)};
  const Shown shown = showing.show(request);
  if (arguments.format == "json") {
    std::cout << nlohmann::ordered_json{{arguments.kind, shown.json}}.dump(2) << "\n";
  } else {
    std::cout << shown.text;
  }
}

}  // namespace

void add_show(CLI::App& app) {
  auto arguments = std::make_shared<ShowArguments>();
  CLI::App* command =
      app.add_subcommand("show", "List models, topologies, algorithms and strategies, or look into one");
  command
      ->add_option("kind", arguments->kind,
                   "models, topologies, algorithms, strategies; model, topology, algorithm, strategy")
      ->type_name("KIND")
      ->required();
  command->add_option("name", arguments->name, "which model, topology (name or file), algorithm or strategy")
      ->type_name("NAME");
  command->add_option("--op", arguments->operation, "the operation of an algorithm")
      ->type_name("OP")
      ->capture_default_str();
  command->add_option("--ranks", arguments->ranks, "how many ranks an algorithm is shown with")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--format", arguments->format, "table or json")->type_name("FORMAT")->capture_default_str();
  command->footer("Example:\n  farandole show algorithm ring --op allreduce --ranks 4");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace farandole
