// farandole collective: a simulated nccl-tests table.
#include <iostream>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "calibration/published.hpp"
#include "collective/algorithms/exchanges.hpp"
#include "collective/files/read_schedule.hpp"
#include "collective_bands.hpp"
#include "cost_options.hpp"
#include "load_options.hpp"
#include "output_options.hpp"
#include "page_options.hpp"
#include "report/pages.hpp"
#include "report/reports.hpp"
#include "scenario/collective_run.hpp"
#include "server_options.hpp"
#include "simulate/collective_clock.hpp"

namespace farandole {
namespace {

const std::string smallest = "8";
const std::string largest = "128M";

struct CollectiveArguments {
  std::string least;
  std::string most;
  std::string factor = "2";
  std::string operation = "allreduce";
  std::string algorithm;  // empty: the topology's library, or the first that the operation has
  std::string topology;
  std::string ranks;
  std::string root = "0";
  std::string segments = "0";
  std::string placement = "by_slot";
  std::string contributions;
  std::string devices_per_process = "1";
  std::string type = "float";
  bool in_place = false;
  std::string condition = "{}";
  ServerOptions servers;
  std::string fidelity = "flow";
  CostOptions cost;
  LoadOptions loads;
  bool no_fold = false;
  OutputOptions output;
  PageOptions pages;
};

/// The smallest and the largest.
std::pair<Bytes, Bytes> first_and_last_size(const CollectiveArguments& arguments) {
  if (arguments.least.empty() && arguments.most.empty() && !arguments.servers.model.empty()) {
    const Bytes all = arguments.servers.bytes_of_model();
    return {all, all};
  }
  if (arguments.operation == name(Operation::barrier)) {
    return {size_option("-b", smallest), size_option("-b", smallest)};
  }
  const std::string& first = arguments.least.empty() ? smallest : arguments.least;
  const Bytes least = size_option("-b", first);
  const Bytes most = size_option("-e", arguments.most.empty() ? largest : arguments.most);
  if (most < least) refuse_option("-e", "at least the " + first + " of -b", arguments.most);
  return {least, most};
}

Algorithm algorithm(const CollectiveArguments& arguments) {
  const Operation* operation = find_operation(arguments.operation);
  if (operation == nullptr) {
    refuse_option("--op", "an operation", arguments.operation, suggestion(arguments.operation, operation_names()));
  }
  if (arguments.algorithm.empty()) return *find_algorithm(*operation, algorithm_names(*operation).front());
  if (is_algorithm_file(arguments.algorithm)) {
    arguments.servers.require_unused();
    if (!arguments.contributions.empty()) {
      refuse_option("--contributions", "none for an algorithm from a file", arguments.contributions);
    }
    Algorithm own = algorithm_from_file(arguments.algorithm);
    if (own.operation != *operation)
      refuse_option("--op", name(own.operation) + ", as the file says", arguments.operation);
    return own;
  }
  const auto found = find_algorithm_or_library(*operation, arguments.algorithm);
  if (!found) {
    refuse_option("--algorithm", "an algorithm or a library for " + arguments.operation, arguments.algorithm,
                  hint_for_algorithm(*operation, arguments.algorithm));
  }
  return *found;
}

/// A word, or an object as in a scenario.
PlacementRule placement_rule(const std::string& text) {
  if (text.starts_with('{')) return read_placement_rule(Document::parse(text, "--placement").root());
  const OptionValue word("--placement", text);
  return read_placement_rule(word.value());
}

CollectiveRequest request(const CollectiveArguments& arguments) {
  const auto [least, most] = first_and_last_size(arguments);
  const int factor = whole_number("-f", arguments.factor, least == most ? 1 : 2);
  const int ranks = whole_number("--ranks", arguments.ranks, 1);
  const int root = whole_number("--root", arguments.root, 0);
  if (root >= ranks) refuse_option("--root", "a rank below the " + arguments.ranks + " of --ranks", arguments.root);
  const Algorithm chosen = algorithm(arguments);
  return {chosen,
          size_range(least, most, factor),
          parse_fidelities(arguments.fidelity),
          ranks,
          root,
          whole_number("--segments", arguments.segments, 0, most_segments),
          placement_rule(arguments.placement),
          arguments.no_fold ? FoldingPolicy::never : FoldingPolicy::where_exact,
          contributions(arguments.contributions, chosen, ranks),
          arguments.servers.request(chosen, ranks),
          arguments.cost.most(),
          {},
          {},
          arguments.cost.solver(),
          arguments.in_place,
          whole_number("--devices-per-process", arguments.devices_per_process, 1, ranks),
          arguments.type};
}

/// Algorithms move bytes, whatever they are, and whoever drives their devices.
void refuse_of_libraries_alone(const CollectiveArguments& arguments, const CollectiveRequest& request,
                               int devices_per_node) {
  if (request.devices_per_process > devices_per_node)
    refuse_option("--devices-per-process", fmt::format("at most the {} devices of a node", devices_per_node),
                  arguments.devices_per_process);
  if (!number_types().contains(arguments.type)) {
    std::vector<std::string> known;
    for (const auto& [type, bytes] : number_types()) known.push_back(type);
    refuse_option("--type", "a type of nccl-tests", arguments.type, suggestion(arguments.type, known));
  }
  const Library* library = request.library.library;
  if (library != nullptr && library->needs != DeviceStack::none) return;
  if (arguments.in_place) refuse_option("--in-place", "NCCL or RCCL as the --algorithm", request.algorithm.name);
  if (request.devices_per_process > 1)
    refuse_option("--devices-per-process", "NCCL or RCCL as the --algorithm", request.algorithm.name);
}

/// What was typed, as far as results depend on it.
std::string typed_collective(const CollectiveArguments& arguments) {
  std::string line = "farandole collective --topology " + shell_word(arguments.topology) + " --ranks " +
                     arguments.ranks + " --op " + shell_word(arguments.operation);
  const auto add = [&](const char* option, const std::string& value, const std::string& otherwise) {
    if (value != otherwise) line += std::string(" ") + option + " " + shell_word(value);
  };
  add("--algorithm", arguments.algorithm, "");
  add("-b", arguments.least, "");
  add("-e", arguments.most, "");
  add("-f", arguments.factor, "2");
  add("--root", arguments.root, "0");
  add("--segments", arguments.segments, "0");
  add("--placement", arguments.placement, "by_slot");
  add("--contributions", arguments.contributions, "");
  add("--devices-per-process", arguments.devices_per_process, "1");
  add("--type", arguments.type, "float");
  if (arguments.in_place) line += " --in-place";
  add("--fidelity", arguments.fidelity, "flow");
  add("--network", arguments.cost.network, "");
  return line + arguments.servers.typed();
}

Page page(const CollectiveArguments& arguments, const CollectiveRequest& request, const Topology& topology,
          const Settings& settings, std::vector<CollectivePoint> points) {
  CollectiveStory story{{"collective", settings}, topology.name, typed_collective(arguments), {}, {}, {}};
  const OptionValue ranks("--ranks", arguments.ranks);
  story.topology_svg = arguments.loads.picture(request, topology, ranks.value(), points);
  story.points = std::move(points);
  story.trust = {true, validate_published_collectives_on(topology.name, Catalogue())};
  return collective_page(story);
}

/// Before anything runs.
void check_files(const CollectiveArguments& arguments, const Catalogue& catalogue) {
  Targets targets;
  for (const auto& [file, text] : catalogue.texts()) targets.reads("the topology", file);
  if (is_algorithm_file(arguments.algorithm)) targets.reads("the algorithm", arguments.algorithm);
  targets.reads("the model", arguments.servers.model);
  arguments.output.add_to(targets);
  arguments.pages.add_to(targets);
  targets.writes("--draw", arguments.loads.drawing);
  targets.check();
}

void add_bands(std::vector<CollectivePoint>& points, const CollectiveRequest& request, const Topology& topology,
               const Catalogue& catalogue, const Value& ranks) {
  const CollectiveBands bands(topology, catalogue);
  const Placement placement = place(request.placement, request.ranks, {}, layout_of(topology), ranks);
  std::set<int> nodes;
  for (const int device : placement.device_of_rank) nodes.insert(device / topology.devices_per_node);
  MeasuredTime row;
  row.algorithm = request.algorithm.name;
  row.ranks = request.ranks;
  row.nodes = static_cast<int>(nodes.size());
  row.devices_per_process = request.devices_per_process;
  for (CollectivePoint& point : points) {
    row.operation = point.operation;
    row.bytes = point.bytes;
    const auto band = bands.of(row);
    if (band) point.band = Band{point.time.si() * band->least, point.time.si() * band->most};
  }
}

void simulate_collective(const CollectiveArguments& arguments) {
  const Format format = arguments.output.chosen_format();
  (void)arguments.loads.count();  // refused before anything runs
  arguments.pages.check();
  CollectiveRequest wanted = request(arguments);
  const OptionValue topology_option("--topology", arguments.topology);
  const OptionValue ranks_option("--ranks", arguments.ranks);
  const Catalogue catalogue;
  Topology topology = catalogue.topology(arguments.topology, topology_option.value());
  topology.condition.add(read_condition(Document::parse(arguments.condition, "--condition").root()));
  if (arguments.algorithm.empty()) {
    choose_by_default(wanted, topology, topology_option.value());
  } else if (is_library(wanted.algorithm)) {
    const OptionValue algorithm_option("--algorithm", arguments.algorithm);
    const Device device = catalogue.device(topology.device, topology_option.value());
    wanted.library = use_library(wanted.algorithm, topology.transport, device, algorithm_option.value());
  }
  refuse_of_libraries_alone(arguments, wanted, topology.devices_per_node);
  check_files(arguments, catalogue);
  Provenance provenance;
  auto points = arguments.cost.within(
      "farandole", [&] { return run_collective(wanted, topology, ranks_option.value(), &provenance); });
  add_bands(points, wanted, topology, catalogue, ranks_option.value());
  Settings settings = collective_settings(wanted, topology);
  if (wanted.algorithm.operation == Operation::barrier && !(arguments.least + arguments.most).empty())
    std::cerr << "note: a barrier carries no data: sizes are not used\n";
  if (provenance.rounded_up > 0) {
    settings["chunks"] = describe_rounding_up(provenance.rounded_up);
    std::cerr << "note: " << settings["chunks"] << "\n";
  }
  if (provenance.used_builtin_solver) {
    settings["network"] = describe_own_network();
    std::cerr << "note: " << settings["network"] << "\n";
  }
  if (const auto note = note_on_nics(wanted, topology, ranks_option.value())) {
    settings["note"] = *note;
    std::cerr << "note: " << *note << "\n";
  }
  arguments.loads.show(wanted, topology, ranks_option.value(), points);
  arguments.output.write([&](std::ostream& out) {
    const auto write = wanted.fidelities.size() > 1 ? write_collective_comparison : write_collective;
    const Heading heading{"collective", settings, {}, {}, arguments.output.settings};
    write(out, format, heading, points);
  });
  if (arguments.pages.are_wanted()) {
    arguments.pages.write(page(arguments, wanted, topology, settings, std::move(points)));
  }
}

void add_sizes(CLI::App& command, CollectiveArguments& arguments) {
  command.add_option("-b,--minbytes", arguments.least, "smallest size; K, M, G are powers of 1024")
      ->type_name("SIZE")
      ->default_str(smallest);
  command.add_option("-e,--maxbytes", arguments.most, "largest size")->type_name("SIZE")->default_str(largest);
  command.add_option("-f,--stepfactor", arguments.factor, "factor from size to size")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--contributions", arguments.contributions,
                  "relative sizes of the ranks' contributions, where they differ: 1,2,0.5,...")
      ->type_name("LIST");
}

/// How nccl-tests would run it.
void add_run_of_library(CLI::App& command, CollectiveArguments& arguments) {
  command
      .add_option("--devices-per-process", arguments.devices_per_process,
                  "devices that one process drives (-g of nccl-tests), of NCCL and RCCL")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--type", arguments.type,
                  "of the numbers: float, half, bfloat16, int8, ...; switches add up none of one byte")
      ->type_name("TYPE")
      ->capture_default_str();
  command.add_flag("--in-place", arguments.in_place,
                   "the result lies where the data did, of NCCL and RCCL (nccl-tests prints both)");
}

}  // namespace

void add_collective(CLI::App& app) {
  auto arguments = std::make_shared<CollectiveArguments>();
  CLI::App* command =
      app.add_subcommand("collective", "Simulate a collective over a range of sizes: an nccl-tests table");
  add_sizes(*command, *arguments);
  command->add_option("--op", arguments->operation, "the operation")->type_name("OP")->capture_default_str();
  command
      ->add_option("--algorithm", arguments->algorithm,
                   "the algorithm, the file of one, or a library that picks; the topology's own library unless given, "
                   "or the operation's first where it has none")
      ->type_name("NAME");
  command->add_option("--topology", arguments->topology, "a file, or a name in topologies/")
      ->type_name("T")
      ->required();
  command->add_option("--ranks", arguments->ranks, "how many ranks")->type_name("N")->required();
  command
      ->add_option("--placement", arguments->placement,
                   "by_slot, by_node, contiguous, random, by_group, or an object as in a scenario")
      ->type_name("RULE")
      ->capture_default_str();
  command->add_option("--root", arguments->root, "the root of an operation that has one")
      ->type_name("RANK")
      ->capture_default_str();
  command->add_option("--segments", arguments->segments, "segments of a pipelined algorithm; 0: as it sees fit")
      ->type_name("N")
      ->capture_default_str();
  add_run_of_library(*command, *arguments);
  command
      ->add_option("--condition", arguments->condition,
                   "the state of the topology's links, an object as in a topology file")
      ->type_name("JSON")
      ->capture_default_str();
  arguments->servers.add_to(*command);
  arguments->cost.add_network_to(*command);
  arguments->cost.add_budget_to(*command);
  arguments->loads.add_to(*command, "size", "the largest size");
  command->add_option("--fidelity", arguments->fidelity, fidelity_choices)->type_name("LEVEL")->capture_default_str();
  command->add_flag("--no-fold", arguments->no_fold,
                    "simulate every rank, even where one can stand for many (slower, the same to rounding)");
  arguments->output.add_to(*command);
  arguments->pages.add_to(*command);
  command->footer(
      "Example:\n"
      "  farandole collective -b 1K -e 128M -f 4 --op allreduce --algorithm ring --topology ethernet-25g --ranks 16\n"
      "  farandole collective --op parameter_server --algorithm dedicated --servers 2 --model vgg16 --sharding by_size "
      "--topology ethernet-25g --ranks 10");
  command->callback([arguments] { simulate_collective(*arguments); });
}

}  // namespace farandole
